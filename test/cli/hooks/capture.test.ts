import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { captureEnded, noteEnded } from "../../../src/cli/hooks/capture.ts";
import { writeHookState } from "../../../src/cli/hooks/hook-state.ts";

it("forgets a conversation that ended once its transcript is gone", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "memoryd-ended-"));
  try {
    writeHookState(dataDir, {
      paused: false,
      excluded: [],
      agents: { "claude-code": { context: true, capture: true } },
    });
    noteEnded(dataDir, { agent: "claude-code", path: join(dataDir, "gone.jsonl") });
    await captureEnded(dataDir);
    expect(readdirSync(join(dataDir, "ended"))).toEqual([]);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
