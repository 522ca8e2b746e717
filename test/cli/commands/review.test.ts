import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-review-"));
  server = await startTestDaemon(home);
  for (const [content, createdBy] of [
    ["Tea.", "cursor"],
    ["Cake\u001b[2J.", "claude-code"],
    ["Milk.", "cursor"],
    ["Salt.", undefined],
  ] as const) {
    await server.operations.addMemory({
      content,
      project: "kitchen",
      tags: ["t"],
      ...(createdBy && { createdBy }),
    });
  }
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

const review = (...words: string[]) =>
  runCliHere(["review", "--since", "2026-01-01", ...words], {
    home,
    env: { TZ: "UTC", MEMORYD_DATA_DIR: home },
  });
const id = (order: number) => `019aa5a0-6c1e-7c3a-9d0f-${String(order).padStart(12, "0")}`;

it("shows what was added by client and day, fit for a terminal", async () => {
  const { stdout, code } = await review();
  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      "(no name)",
      "  2026-11-21  1 note",
      `    ${id(4).slice(-8)}  Salt. #t · kitchen`,
      "cursor",
      "  2026-11-21  2 notes",
      `    ${id(3).slice(-8)}  Milk. #t · kitchen`,
      `    ${id(1).slice(-8)}  Tea. #t · kitchen`,
      "claude-code",
      "  2026-11-21  1 note",
      `    ${id(2).slice(-8)}  Cake\ufffd[2J. #t · kitchen`,
      "",
    ].join("\n"),
  );
});

it("shows facts among it", async () => {
  const statement = { subject: "Ada", predicate: "lives in", object: "Lon\u001b[2Jdon" };
  const { fact } = await server.operations.recordFact({
    ...statement,
    project: "kitchen",
    createdBy: "codex",
  });
  await server.operations.recordFact({ ...statement, object: "Paris", createdBy: "cursor" });
  expect((await review("--client", "codex")).stdout).toBe(
    [
      "codex",
      "  2026-11-21  1 fact",
      `    ${fact.id.slice(-8)}  fact Ada · lives in · Lon\ufffd[2Jdon · kitchen`,
      "",
    ].join("\n"),
  );
  expect((await review()).stdout).toMatch(/^cursor\n {2}2026-11-21 {2}2 notes, 1 fact$/m);
});

it("asks the daemon for one client, and looks back as far as it is told", async () => {
  await review("--client", "cursor");
  expect(server.lastInput("listMemories")).toMatchObject({ filter: { createdBy: "cursor" } });
  const later = await runCliHere(["review", "--since", "2027-01-01"], {
    home,
    env: { TZ: "UTC", MEMORYD_DATA_DIR: home },
  });
  expect(later.stdout).toBe("Nothing was added since 2027-01-01.\n");
  expect(await review("--since", "soon")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--since .*must be a time such as/),
  });
  expect(JSON.parse((await review("--json")).stdout)).toMatchObject({ entries: [{ id: id(4) }, {}, {}, {}] });
});
