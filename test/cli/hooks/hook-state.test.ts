import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noteOwed, owedTo, settleOwed } from "../../../src/cli/hooks/hook-state.ts";

describe("what a hook owes", () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "memoryd-owed-"));
  });
  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  it("is owed to its session until it is settled, thing by thing", () => {
    expect(owedTo(dataDir, "s")).toEqual({ context: false, ids: [] });
    noteOwed(dataDir, "s", { context: true });
    noteOwed(dataDir, "s", { ids: ["b", "a"] });
    noteOwed(dataDir, "s", { ids: ["a"] });
    noteOwed(dataDir, "s/../t", { ids: ["c"] });
    expect(owedTo(dataDir, "s")).toEqual({ context: true, ids: ["a", "b"] });
    settleOwed(dataDir, "s", { context: false, ids: ["a", "x"] });
    expect(owedTo(dataDir, "s")).toEqual({ context: true, ids: ["b"] });
    settleOwed(dataDir, "s", { context: true, ids: ["b"] });
    expect(owedTo(dataDir, "s")).toEqual({ context: false, ids: [] });
    expect(owedTo(dataDir, "s/../t")).toEqual({ context: false, ids: ["c"] });
  });

  it("is forgotten with a session that is over", () => {
    noteOwed(dataDir, "old", { context: true });
    const [name = ""] = readdirSync(join(dataDir, "owed"));
    const time = new Date(Date.now() - 8 * 24 * 60 * 60 * 1_000);
    utimesSync(join(dataDir, "owed", name), time, time);
    noteOwed(dataDir, "new", { context: true });
    expect(owedTo(dataDir, "old").context).toBe(false);
    expect(owedTo(dataDir, "new").context).toBe(true);
  });

  it("is all kept when several processes note it at once", async () => {
    const built = pathToFileURL(resolve(import.meta.dirname, "../../../dist/cli/hooks/hook-state.js")).href;
    const noteFifty = (name: string) =>
      promisify(execFile)(process.execPath, [
        "--input-type=module",
        "--eval",
        `import { noteOwed } from ${JSON.stringify(built)};
         for (let i = 0; i < 50; i += 1) noteOwed(${JSON.stringify(dataDir)}, "s", { ids: ["${name}" + i] });`,
      ]);
    await Promise.all(["a", "b", "c", "d"].map(noteFifty));
    expect(owedTo(dataDir, "s").ids).toHaveLength(200);
  });
});
