import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FactSelection } from "../../../src/core/facts/fact-selection.ts";

/** Few different starts, so that ties are common; ids out of the order of ordinals. */
const facts = fc.array(fc.record({ start: fc.nat(5), isOpen: fc.boolean() }), { maxLength: 150 });
const idOf = (ordinal: number) => String((ordinal * 67) % 151).padStart(3, "0");

describe("FactSelection", () => {
  it("pages open facts first, then the newest start, then by id", () => {
    fc.assert(
      fc.property(facts, fc.nat(40), fc.nat(160), (found, limit, offset) => {
        const selection = new FactSelection();
        for (const [ordinal, { start, isOpen }] of found.entries())
          selection.add(ordinal, start, isOpen ? Infinity : start + 1);
        const sorted = [...found.entries()].sort(
          ([a, one], [b, other]) =>
            Number(other.isOpen) - Number(one.isOpen) ||
            other.start - one.start ||
            (idOf(a) < idOf(b) ? -1 : 1),
        );
        expect(selection.size).toBe(found.length);
        expect(selection.page({ limit, offset }, idOf)).toEqual(
          sorted.slice(offset, offset + limit).map(([ordinal]) => ordinal),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
