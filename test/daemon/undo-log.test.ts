import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { undoChanges } from "../../src/core/history/undo.ts";
import { bindOperations } from "../../src/core/operations.ts";
import { openUndoLog } from "../../src/daemon/undo-log.ts";
import { createDocumentWorld } from "../support/document-world.ts";

const QUIET = { info: () => {}, warn: () => {} };

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-undo-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const note = () => join(dataDir, "UNDO");

it("finishes at the next start an undo that a crash cut short, and nothing that came after", async () => {
  const world = createDocumentWorld();
  const all = bindOperations(world.ports);
  const since = world.now;
  for (let i = 0; i < 3; i += 1) await all.addMemory({ content: `invented ${i}`, createdBy: "agent" });
  const { undos } = openUndoLog(dataDir, QUIET);
  // The first memory is taken back, and then the process is gone: its note stays.
  await undos.begin({ client: "agent", since, dryRun: false, undoneBy: "ann" });
  const [first] = (await all.listMemories({ filter: {}, limit: 1, offset: 0 })).items;
  await all.deleteMemory({ id: first?.id ?? "", trash: true, deletedBy: "ann" });

  const again = openUndoLog(dataDir, QUIET);
  const finished = again.finish(undoChanges, world.ports);
  const later = all.addMemory({ content: "after the start", createdBy: "agent" });
  await Promise.all([finished, later]);
  const { items } = await all.listMemories({ filter: {}, limit: 10, offset: 0 });
  expect(items.map(({ content }) => content)).toEqual(["after the start"]);
  expect(existsSync(note())).toBe(false);
});

it("keeps the note while an undo runs, and no longer", async () => {
  const world = createDocumentWorld();
  const { undos } = openUndoLog(dataDir, QUIET);
  const all = bindOperations({ ...world.ports, undos });
  await all.addMemory({ content: "invented", createdBy: "agent" });
  let during = "";
  const commit = world.ports.store.commit.bind(world.ports.store);
  Object.assign(world.ports.store, {
    commit: (decide: Parameters<typeof commit>[0]) => {
      if (existsSync(note())) during = readFileSync(note(), "utf8");
      return commit(decide);
    },
  });
  const done = await all.undoChanges({ client: "agent", dryRun: false });
  expect(done).toMatchObject([{ kind: "added", done: true }]);
  expect(JSON.parse(during)).toMatchObject([{ client: "agent", since: expect.any(Number) as number }]);
  expect(existsSync(note())).toBe(false);
});

it("leaves a note alone that is none, and starts", async () => {
  writeFileSync(note(), '{"since": "x"');
  await openUndoLog(dataDir, QUIET).finish(undoChanges, createDocumentWorld().ports);
  expect(readFileSync(note(), "utf8")).toBe('{"since": "x"');
});
