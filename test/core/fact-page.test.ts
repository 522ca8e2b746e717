import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortedPage } from "../../src/core/fact-page.ts";

describe("sortedPage", () => {
  it("is the slice of the sorted list", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { maxLength: 200 }),
        fc.nat(12),
        fc.nat(60),
        (numbers, limit, offset) => {
          const sorted = numbers.toSorted((a, b) => a - b);
          expect(sortedPage([...numbers], { limit, offset }, (a, b) => a - b)).toEqual(
            sorted.slice(offset, offset + limit),
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});
