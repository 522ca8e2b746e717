import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Int8Rows } from "../../../src/core/recall/int8-kernel.ts";
import { SignRows } from "../../../src/core/recall/sign-rows.ts";

const DIMENSIONS = 256;
const row = fc.int8Array({ minLength: DIMENSIONS, maxLength: DIMENSIONS });

function rowsOf(vectors: readonly Int8Array[]): Int8Rows {
  const rows = new Int8Rows(DIMENSIONS);
  for (const vector of vectors) rows.set(rows.count, vector);
  return rows;
}

describe("SignRows", () => {
  it("answers the wanted rows whose bits differ least, so many at least", () => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        fc.array(row, { maxLength: 4 }),
        row,
        fc.integer({ min: 1, max: 20 }),
        (first, later, query, limit) => {
          const signs = new SignRows(rowsOf(first));
          // One is overwritten, others follow.
          const all = [...first, ...later];
          later.forEach((vector, i) => signs.set(first.length + i, vector));
          signs.set(0, (all[0] = query));
          const mean = Array.from({ length: DIMENSIONS }, (_, i) =>
            Math.round(first.reduce((sum, vector) => sum + (vector[i] ?? 0), 0) / first.length),
          );
          const bits = (vector: Int8Array) => mean.map((centre, i) => (vector[i] ?? 0) > centre);
          const ofQuery = bits(query);
          const differences = all.map((vector) => bits(vector).filter((bit, i) => bit !== ofQuery[i]).length);
          const isWanted = (one: number) => one % 3 !== 1;
          const wanted = [...all.keys()].filter(isWanted);
          const owners = Int32Array.from(all, (_, one) => (isWanted(one) || one % 2 === 0 ? one : -1));
          const nearest = signs.nearest(query, limit, owners, { has: isWanted });
          expect(
            signs.nearest(
              query,
              limit,
              owners.map((one) => (isWanted(one) ? one : -1)),
            ),
          ).toEqual(nearest);
          const most = Math.max(-1, ...nearest.map((one) => differences[one] ?? 0));
          expect(nearest).toEqual(wanted.filter((one) => (differences[one] ?? 0) <= most));
          expect(nearest.length).toBeGreaterThanOrEqual(Math.min(limit, wanted.length));
        },
      ),
    );
  });

  it("keeps its rows while it grows, and makes the bits of many at once", () => {
    const one = (i: number) => new Int8Array(DIMENSIONS).fill(i % 2 === 0 ? 50 : -50);
    const signs = new SignRows(rowsOf(Array.from({ length: 5_000 }, (_, i) => one(i))));
    for (let i = 5_000; i < 40_000; i += 1) signs.set(i, one(i));
    const nearest = signs.nearest(
      one(0),
      1,
      Int32Array.from({ length: 40_000 }, (_, i) => i),
    );
    expect([nearest.length, nearest[0], nearest.at(-1)]).toEqual([20_000, 0, 39_998]);
  });

  it.each([16, 4_096])("rejects %s dimensions", (dimensions) => {
    expect(() => new SignRows(new Int8Rows(dimensions))).toThrow(RangeError);
  });
});
