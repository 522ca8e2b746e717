import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import wabt from "wabt";
import { INT8_KERNEL, Int8Rows, quantise, kernelBytes } from "../../../src/core/recall/int8-kernel.ts";

const int8 = (length: number) => fc.int8Array({ minLength: length, maxLength: length });

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

describe("the kernel", () => {
  it("is the compiled form of the source beside it", async () => {
    const toolkit = await wabt();
    const source = readFileSync(new URL("../../../src/core/recall/int8-kernel.wat", import.meta.url), "utf8");
    const { buffer } = toolkit.parseWat("int8-kernel.wat", source, { simd: true }).toBinary({});
    expect(kernelBytes(INT8_KERNEL)).toEqual(new Uint8Array(buffer));
  });
});

describe("Int8Rows", () => {
  it("answers the dot product with every row, in order", () => {
    const rows = new Int8Rows(16);
    rows.set(rows.count, new Int8Array(16).fill(2));
    rows.set(rows.count, new Int8Array(16).fill(-128));
    expect([...rows.dot(new Int8Array(16).fill(-128))]).toEqual([-4_096, 262_144]);
  });

  it("agrees with plain arithmetic, at the extremes too", () => {
    const many = fc.array(int8(48), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(many, int8(48), (vectors, query) => {
        const rows = new Int8Rows(48);
        for (const vector of vectors) rows.set(rows.count, vector);
        expect([...rows.dot(query)]).toEqual(vectors.map((vector) => dot(vector, query)));
      }),
    );
  });

  it("answers the largest product of each query with the rows of each list, at the extremes too", () => {
    const some = (max: number) => fc.array(int8(32), { maxLength: max });
    fc.assert(
      fc.property(fc.array(some(4), { maxLength: 6 }), some(9), (lists, queries) => {
        const rows = new Int8Rows(32);
        rows.load(lists.flat());
        const ends = lists.map((_, i) => lists.slice(0, i + 1).flat().length);
        const joined = Int8Array.from(queries.flatMap((query) => [...query]));
        expect([...rows.maxima(joined, ends)]).toEqual(
          lists.flatMap((list) =>
            queries.map((query) => Math.max(-(2 ** 31), ...list.map((row) => dot(row, query)))),
          ),
        );
      }),
    );
  });

  it("takes several rows laid end to end, and starts anew when others are loaded", () => {
    const rows = new Int8Rows(16);
    const two = new Int8Array(32).fill(1).fill(2, 16);
    rows.load([two, two]);
    expect([...rows.dot(new Int8Array(16).fill(1))]).toEqual([16, 32, 16, 32]);
    rows.load([undefined, new Int8Array(16).fill(3), new Int8Array(0), two]);
    expect([...rows.dot(new Int8Array(16).fill(-1))]).toEqual([-48, -16, -32]);
    rows.load([]);
    expect([rows.count, rows.dot(new Int8Array(16)).length]).toEqual([0, 0]);
  });

  it("keeps its rows while it grows, and overwrites one", () => {
    const rows = new Int8Rows(384);
    const row = (i: number) => new Int8Array(384).fill(i % 127);
    for (let i = 0; i < 40_000; i += 1) rows.set(rows.count, row(i));
    rows.set(7, row(100));
    const products = rows.dot(new Int8Array(384).fill(1));
    expect([products[0], products[7], products[39_999]]).toEqual([0, 38_400, 384 * (39_999 % 127)]);
  });

  it.each([0, -16, 20, Number.NaN])("rejects %s dimensions", (dimensions) => {
    expect(() => new Int8Rows(dimensions)).toThrow(RangeError);
  });

  it("rejects rows and queries of another length, and places that are not there", () => {
    const rows = new Int8Rows(16);
    expect(() => rows.set(rows.count, new Int8Array(24))).toThrow(RangeError);
    expect(() => rows.set(1, new Int8Array(16))).toThrow(RangeError);
    expect(() => rows.load([new Int8Array(24)])).toThrow(RangeError);
    expect(() => rows.dot(new Int8Array(32))).toThrow(RangeError);
  });
});

describe("quantise", () => {
  it("makes the largest component 127", () => {
    expect(quantise(Float32Array.of(0.5, -0.25, 0))).toEqual({
      values: Int8Array.of(127, -63, 0),
      scale: 0.5 / 127,
    });
  });

  it("takes a zero vector", () => {
    expect([...quantise(new Float32Array(16)).values]).toEqual(Array.from({ length: 16 }, () => 0));
  });

  it("is off by at most half a step", () => {
    const vector = fc.float32Array({ minLength: 16, maxLength: 16, noNaN: true, min: -1, max: 1 });
    fc.assert(
      fc.property(vector, (components) => {
        const { values, scale } = quantise(components);
        components.forEach((component, i) => {
          expect(Math.abs(component - (values[i] ?? 0) * scale)).toBeLessThanOrEqual(scale * 0.5001);
        });
      }),
    );
  });
});
