import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rows, LanceTable } from "../../../src/core/rows.ts";
import { fromRecordBatch, tableSchema, toRecordBatch } from "../../../src/storage/tables/arrow-columns.ts";
import { TABLE_NAMES, TABLE_SPECS, decodeQuantised } from "../../../src/storage/tables/specs.ts";
import { json, number, since } from "../../../src/storage/tables/columns.ts";
import { lanceCacheSizes, rowTable } from "../../../src/storage/tables/table-spec.ts";
import { anyId, anyRow, storedUnder } from "./sample-rows.ts";
import { times } from "../../support/stress.ts";

/** To Arrow and back, without a disk between. */
function roundTrip<T extends LanceTable>(table: T, rows: ReadonlyMap<string, Rows[T]>): Map<string, Rows[T]> {
  const spec = TABLE_SPECS[table];
  const entries = Array.from(rows, ([id, row]) => ({ id, row }));
  const back = new Map<string, Rows[T]>();
  spec.decode(fromRecordBatch(toRecordBatch(tableSchema(table), spec.encode(entries))), back);
  return back;
}

describe.each(TABLE_NAMES)("rows of %s", (table) => {
  it("come back exactly as they went in", () => {
    const rows = fc
      .uniqueArray(fc.tuple(anyId, anyRow[table] as fc.Arbitrary<Rows[typeof table]>), {
        selector: ([id]) => id,
        maxLength: 12,
      })
      .map((entries) => new Map(entries.map(([id, row]) => [id, storedUnder(table, id, row)])));
    fc.assert(
      fc.property(rows, (wanted) => {
        expect(roundTrip(table, wanted)).toEqual(wanted);
      }),
      { numRuns: times(30) },
    );
  });
});

describe("rows of vectors", () => {
  it("carry the quantised copy, which is as long as the windows", () => {
    const windows = [new Float32Array(384).fill(0.5), new Float32Array(384).fill(-0.25)];
    const columns = TABLE_SPECS.vectors.encode([{ id: "m", row: { userId: null, windows, stamp: "s" } }]);
    const { memoryIds, values, scales } = decodeQuantised(columns);
    expect(memoryIds).toEqual(["m", "m"]);
    expect((values[0] ?? 0) * (scales[0] ?? 0)).toBeCloseTo(0.5);
    expect((values[384] ?? 0) * (scales[1] ?? 0)).toBeCloseTo(-0.25);
  });

  it("refuse a vector of another length", () => {
    const row = { userId: null, windows: [new Float32Array(3)], stamp: "s" };
    expect(() => TABLE_SPECS.vectors.encode([{ id: "m", row }])).toThrow(TypeError);
  });
});

describe("a field that came later", () => {
  const table = rowTable("signals", { salience: number, lastSeenAt: since(number, 7) });
  const kept = since(json<readonly string[]>(), []);

  it("reads as its value for rows from before, in tables and records", () => {
    expect(table.missing).toEqual({ lastSeenAt: 7 });
    const rows = [{ salience: 1, lastSeenAt: 2 }, { salience: 3 }] as {
      salience: number;
      lastSeenAt: number;
    }[];
    const columns = table.encode(rows.map((row, i) => ({ id: `r${i}`, row })));
    const read = new Map<string, object>();
    table.decode(columns, read as never);
    expect([...read.values()]).toEqual([
      { salience: 1, lastSeenAt: 2 },
      { salience: 3, lastSeenAt: 7 },
    ]);
  });

  it("holds lists too", () => {
    const at = kept.decode(kept.encode([["a"], undefined as never, []]));
    expect([at(0), at(1), at(2)]).toEqual([["a"], [], []]);
  });
});

it("shares a budget among the caches of LanceDB, which have 2 MiB each at least", () => {
  expect(lanceCacheSizes()).toBeUndefined();
  expect(lanceCacheSizes(50e6)).toEqual({ index: 30e6, metadata: 20e6 });
  expect(lanceCacheSizes(1)).toEqual({ index: 2 * 1024 ** 2, metadata: 2 * 1024 ** 2 });
});
