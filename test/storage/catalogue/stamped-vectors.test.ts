import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantise } from "../../../src/core/recall/int8-kernel.ts";
import { OrdinalScores } from "../../../src/storage/catalogue/column.ts";
import { VectorIndex } from "../../../src/storage/catalogue/stamped-vectors.ts";

const unit = (components: readonly number[]) => {
  const length = Math.hypot(...components) || 1;
  return Float32Array.from(components, (component) => component / length);
};
const axis = (i: number) => unit(Array.from({ length: 16 }, (_, j) => (i === j ? 1 : 0)));

function scored(index: VectorIndex, vector: Float32Array, ordinals: number): OrdinalScores {
  const best = new Float32Array(ordinals);
  index.score(vector, best);
  return new OrdinalScores(best, undefined);
}

describe("VectorIndex", () => {
  it("scores a memory by its best window", () => {
    const index = new VectorIndex(16);
    index.put(0, [quantise(axis(0)), quantise(axis(1))]);
    index.put(1, [quantise(unit([1, 1, ...Array.from({ length: 14 }, () => 0)]))]);
    const scores = scored(index, axis(1), 2);
    expect(scores.top(5)).toEqual([0, 1]);
    expect(scores.of(0)).toBeCloseTo(1, 3);
    expect(scores.of(1)).toBeCloseTo(Math.SQRT1_2, 2);
  });

  it("counts an opposite direction as nothing", () => {
    const index = new VectorIndex(16);
    index.put(0, [quantise(axis(0).map((component) => -component))]);
    expect(scored(index, axis(0), 1).top(5)).toEqual([]);
  });

  it("agrees with exact cosines after any puts and removals", () => {
    const vector = fc
      .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 16, maxLength: 16 })
      .map(unit);
    const step = fc.record({ ordinal: fc.nat(5), windows: fc.array(vector, { maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), vector, (steps, query) => {
        const index = new VectorIndex(16);
        const model = new Map<number, Float32Array[]>();
        for (const { ordinal, windows } of steps) {
          index.put(ordinal, windows.map(quantise));
          model.set(ordinal, windows);
        }
        const scores = scored(index, query, 6);
        for (let ordinal = 0; ordinal < 6; ordinal += 1) {
          const cosines = (model.get(ordinal) ?? []).map((window) =>
            window.reduce((sum, component, i) => sum + component * (query[i] ?? 0), 0),
          );
          expect(scores.of(ordinal)).toBeCloseTo(Math.max(0, ...cosines), 1);
        }
      }),
    );
  });
});
