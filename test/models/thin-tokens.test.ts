import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { thinTokens } from "../../src/models/onnx-embedder.ts";

const ids = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 });

describe("thinTokens", () => {
  it("keeps first uses before second ones, and of the last round evenly spread ones", () => {
    // First uses: 0, 1, 4, 6. Second uses: 2, 3, 5, 7, of which two have room.
    expect(thinTokens([7, 8, 7, 8, 9, 9, 5, 5], 6)).toEqual([0, 1, 3, 4, 6, 7]);
  });

  it("keeps exactly as many as there is room for, in order", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 0, max: 60 }), (pieceIds, max) => {
        const kept = thinTokens(pieceIds, max);
        expect(kept).toHaveLength(Math.min(max, pieceIds.length));
        expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
        for (const index of kept) expect(pieceIds[index]).toBeDefined();
      }),
    );
  });

  it("drops no piece altogether while there is room for all", () => {
    fc.assert(
      fc.property(ids, (pieceIds) => {
        const kinds = new Set(pieceIds);
        expect(new Set(thinTokens(pieceIds, kinds.size).map((index) => pieceIds[index]))).toEqual(kinds);
      }),
    );
  });
});
