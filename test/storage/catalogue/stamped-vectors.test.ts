import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantise } from "../../../src/core/recall/int8-kernel.ts";
import { VectorIndex } from "../../../src/storage/catalogue/stamped-vectors.ts";

const unit = (components: readonly number[]) => {
  const length = Math.hypot(...components) || 1;
  return Float32Array.from(components, (component) => component / length);
};
const axis = (i: number, dimensions = 16) =>
  unit(Array.from({ length: dimensions }, (_, j) => (i === j ? 1 : 0)));
/** All windows are scanned, or their signs first. */
const WAYS = [
  { dimensions: 16, signedFrom: Infinity },
  { dimensions: 128, signedFrom: 0 },
  { dimensions: 128, signedFrom: 7 },
];

describe("VectorIndex", () => {
  it("scores a memory by its best window", () => {
    const index = new VectorIndex(16);
    index.put(0, [quantise(axis(0)), quantise(axis(1))]);
    index.put(1, [quantise(unit([1, 1, ...Array.from({ length: 14 }, () => 0)]))]);
    const scores = index.score(axis(1));
    expect(scores.top(5)).toEqual([0, 1]);
    expect(scores.of(0)).toBeCloseTo(1, 3);
    expect(scores.of(1)).toBeCloseTo(Math.SQRT1_2, 2);
  });

  it("counts an opposite direction as nothing", () => {
    const index = new VectorIndex(16);
    index.put(0, [quantise(axis(0).map((component) => -component))]);
    expect(index.score(axis(0)).top(5)).toEqual([]);
  });

  it.each(WAYS)("agrees with exact cosines after any puts and removals, %o", ({ dimensions, signedFrom }) => {
    const vector = fc
      .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions })
      .map(unit);
    const step = fc.record({ ordinal: fc.nat(5), windows: fc.array(vector, { maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), vector, (steps, query) => {
        const index = new VectorIndex(dimensions, signedFrom);
        const model = new Map<number, Float32Array[]>();
        for (const { ordinal, windows } of steps) {
          index.put(ordinal, windows.map(quantise));
          model.set(ordinal, windows);
        }
        const scores = index.score(query);
        for (let ordinal = 0; ordinal < 6; ordinal += 1) {
          const cosines = (model.get(ordinal) ?? []).map((window) =>
            window.reduce((sum, component, i) => sum + component * (query[i] ?? 0), 0),
          );
          expect(scores.of(ordinal)).toBeCloseTo(Math.max(0, ...cosines), 1);
        }
      }),
    );
  });

  it.each(WAYS)("answers the best as sorting everything would, newest first among equals, %o", (way) => {
    const { dimensions, signedFrom } = way;
    // Few directions, so that many memories are alike, and several windows of one are among the best.
    const direction = fc.integer({ min: 0, max: 3 });
    const memories = fc.array(fc.array(direction, { maxLength: 3 }), { maxLength: 60 });
    fc.assert(
      fc.property(memories, fc.integer({ min: 1, max: 12 }), fc.boolean(), (list, limit, isFiltered) => {
        const index = new VectorIndex(dimensions, signedFrom);
        list.forEach((windows, ordinal) => {
          index.put(
            ordinal,
            windows.map((i) => quantise(axis(i, dimensions))),
          );
        });
        const query = unit([1, 0.6, 0.3, ...Array.from({ length: dimensions - 3 }, () => 0)]);
        const scores = index.score(query);
        const has = (ordinal: number) => !isFiltered || ordinal % 3 === 0;
        const sorted = [...list.keys()]
          .filter((ordinal) => has(ordinal) && scores.of(ordinal) > 0)
          .sort((a, b) => scores.of(b) - scores.of(a) || b - a);
        const among = { size: list.length, has, list: () => [...list.keys()].filter(has) };
        expect(scores.top(limit, among)).toEqual(sorted.slice(0, limit));
        expect(index.score(query, among).top(limit)).toEqual(sorted.slice(0, limit));
      }),
    );
  });

  it("orders memories by their best windows, where the signs of others look more promising", () => {
    const index = new VectorIndex(128, 20_000);
    let seed = 1;
    // To the fifth, so that signs say little of the cosine.
    const direction = () =>
      unit(
        Array.from({ length: 128 }, () => {
          seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0;
          return (seed / 2 ** 31) ** 5;
        }),
      );
    for (let ordinal = 0; ordinal < 20; ordinal += 1)
      index.put(
        ordinal,
        Array.from({ length: 1_000 }, () => quantise(direction())),
      );
    const scores = index.score(direction());
    const best = scores.top(20);
    expect(best).toHaveLength(20);
    expect(best).toEqual(best.toSorted((a, b) => scores.of(b) - scores.of(a)));
  });
});
