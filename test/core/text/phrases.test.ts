import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Phrases } from "../../../src/core/text/phrases.ts";
import { times } from "../../support/stress.ts";

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const UNSPACED = /[\p{scx=Han}\p{scx=Thai}]/u;

/** As the definition says it: at every place, edges judged by the characters beside them. */
function standsIn(text: string, phrase: string): boolean {
  const isEdge = (place: number) => {
    const [before = "", after = ""] = [
      Array.from(text.slice(0, place)).at(-1),
      Array.from(text.slice(place))[0],
    ];
    if (UNSPACED.test(before) || UNSPACED.test(after)) return true;
    return !LETTER_OR_DIGIT.test(before) || !LETTER_OR_DIGIT.test(after);
  };
  for (let place = text.indexOf(phrase); place >= 0; place = text.indexOf(phrase, place + 1)) {
    if (isEdge(place) && isEdge(place + phrase.length)) return true;
  }
  return false;
}

describe("Phrases", () => {
  it.each([
    ["rome", true],
    ["in rome", true],
    ["ann in", true],
    ["rom", false],
    ["rome in", false],
    [", ann", true],
    ["ann in rome, ann in", true],
    ["ann in rome, ann in rome", false],
    ["京", true],
    ["都に", true],
    ["𝔸b", true],
    ["b", false],
  ])("%s", (phrase, expected) => {
    expect(new Phrases("ann in rome, ann in 京都に 𝔸b").has(phrase)).toBe(expected);
  });

  it("are the stretches between places where a word may begin or end", () => {
    const text = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom("a", "b", "1", " ", ".", "京", "😀", "𝔸"), maxLength });
    fc.assert(
      fc.property(text(24), text(5), fc.nat(24), fc.nat(24), (whole, other, from, to) => {
        const phrases = new Phrases(whole);
        for (const phrase of [other, Array.from(whole).slice(from, to).join("")].filter((p) => p !== "")) {
          expect([phrase, phrases.has(phrase)]).toEqual([phrase, standsIn(whole, phrase)]);
        }
      }),
      { numRuns: times(500) },
    );
  });

  it.each(["a", "a ", "京"])("of %j over and over are looked up in their own length", (unit) => {
    const phrases = new Phrases(unit.repeat(8_192));
    const exec = vi.spyOn(RegExp.prototype, "exec");
    expect(phrases.has(`${unit.repeat(256)}b`)).toBe(false);
    expect(phrases.has(unit.repeat(8_193))).toBe(false);
    expect(exec.mock.calls.length).toBeLessThanOrEqual(unit.length * 256 + 1);
    exec.mockRestore();
  });
});
