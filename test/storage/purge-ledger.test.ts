import { describe, expect, it } from "vitest";
import type { Change } from "../../src/core/rows.ts";
import { PurgeLedger } from "../../src/storage/purge-ledger.ts";
import { memoryRow } from "../support/memory-row.ts";

const gone = (table: Change["table"], id: string): Change => ({ table, id, row: null });
const memory = (id: string, version: number): Change => ({
  table: "memories",
  id,
  row: memoryRow({ id, version }),
});

describe("PurgeLedger", () => {
  it("counts what was deleted and replaced, with what belonged to it, from the oldest on", () => {
    const ledger = new PurgeLedger();
    ledger.note(5, [memory("new", 1)]);
    ledger.note(6, [gone("requests", "r"), gone("jobs", "j")]);
    expect(ledger.waiting).toBeUndefined();
    ledger.note(7, [gone("memories", "a"), gone("vectors", "a"), gone("edges", "a>b:next")]);
    ledger.note(8, [
      memory("b", 2),
      { table: "tokens", id: "b", row: { vectors: new Int8Array(), stamp: "" } },
    ]);
    ledger.note(9, [gone("facts", "f")]);
    expect(ledger.waiting).toEqual({
      items: 3,
      rows: { memories: 2, vectors: 1, edges: 1, tokens: 1, facts: 1 },
      since: 7,
    });
  });

  it("tells what is erased from what comes meanwhile", () => {
    const ledger = new PurgeLedger({ items: 1, rows: { memories: 1 }, since: 3 });
    expect(ledger.begin()).toMatchObject({ items: 1 });
    ledger.note(9, [gone("memories", "a")]);
    expect(ledger.waiting).toMatchObject({ items: 2, since: 3 });
    ledger.end("erased");
    expect(ledger.waiting).toMatchObject({ items: 1, since: 9 });
    ledger.begin();
    ledger.note(10, [gone("memories", "b")]);
    ledger.end("failed");
    expect(ledger.waiting).toMatchObject({ items: 2, since: 9 });
  });
});
