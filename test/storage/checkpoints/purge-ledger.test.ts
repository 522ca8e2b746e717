import { describe, expect, it } from "vitest";
import type { Change, VersionRow } from "../../../src/core/rows.ts";
import { runAtOnce } from "../../../src/core/at-once.ts";
import { PurgeLedger, unpurgedIn } from "../../../src/storage/checkpoints/purge-ledger.ts";
import { memoryRow } from "../../support/memory-row.ts";

const gone = (table: Change["table"], id: string): Change => ({ table, id, row: null });
const memory = (id: string, version: number): Change => ({
  table: "memories",
  id,
  row: memoryRow({ id, version }),
});

const note = (ledger: PurgeLedger, time: number, changes: readonly Change[]) =>
  ledger.note(runAtOnce(unpurgedIn(time, changes)));

describe("PurgeLedger", () => {
  it("counts what was deleted and replaced, with what belonged to it, from the oldest on", () => {
    const ledger = new PurgeLedger();
    note(ledger, 5, [memory("new", 1)]);
    note(ledger, 6, [gone("requests", "r"), gone("jobs", "j")]);
    expect(ledger.waiting).toBeUndefined();
    note(ledger, 7, [gone("memories", "a"), gone("vectors", "a"), gone("edges", "a>b:next")]);
    note(ledger, 8, [
      memory("b", 2),
      { table: "tokens", id: "b", row: { vectors: new Int8Array(), stamp: "" } },
    ]);
    note(ledger, 9, [gone("facts", "f")]);
    expect(ledger.waiting).toEqual({
      items: 3,
      rows: { memories: 2, vectors: 1, edges: 1, tokens: 1, facts: 1 },
      since: 7,
    });
  });

  it("counts a memory whose text stays in the trash only where its history goes", () => {
    const ledger = new PurgeLedger();
    const kept: Change = {
      table: "versions",
      id: "a@1",
      row: { memoryId: "a", document: null } as VersionRow,
    };
    note(ledger, 5, [kept, gone("memories", "a")]);
    expect(ledger.waiting).toBeUndefined();
    note(ledger, 6, [kept, gone("versions", "a@0"), gone("memories", "a"), gone("memories", "b")]);
    expect(ledger.waiting).toEqual({ items: 2, rows: { versions: 1, memories: 2 }, since: 6 });
  });

  it("tells what is erased from what comes meanwhile", () => {
    const ledger = new PurgeLedger({ items: 1, rows: { memories: 1 }, since: 3 });
    expect(ledger.begin()).toMatchObject({ items: 1 });
    note(ledger, 9, [gone("memories", "a")]);
    expect(ledger.waiting).toMatchObject({ items: 2, since: 3 });
    ledger.end("erased");
    expect(ledger.waiting).toMatchObject({ items: 1, since: 9 });
    ledger.begin();
    note(ledger, 10, [gone("memories", "b")]);
    ledger.end("failed");
    expect(ledger.waiting).toMatchObject({ items: 2, since: 9 });
  });
});
