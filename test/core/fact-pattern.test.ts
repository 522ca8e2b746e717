import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldText } from "../../src/core/fact.ts";
import { compilePattern } from "../../src/core/fact-pattern.ts";

const matches = (pattern: string, text: string) => compilePattern(pattern)(foldText(text.trim()));

describe("compilePattern", () => {
  it.each([
    ["par", "Paris", true],
    ["ARI", "Paris", true],
    ["x", "Paris", false],
    ["par*", "Paris", true],
    ["ari*", "Paris", false],
    ["*RIS", "Paris", true],
    ["p*s", "Paris", true],
    ["p?ris", "Paris", true],
    ["p?is", "Paris", false],
    ["?", "Paris", false],
    ["*", "", true],
    ["?*", "", false],
    ["a*a", "a", false],
    ["*ab*", "aab", true],
    ["*a?b", "a-b a+b", true],
    ["I ?? Rome", "I 😀❤ Rome", true],
    ["*?", "😀", true],
    ["??", "😀", false],
    ["strasse", "Hauptstraße", true],
    ["*STRASSE", "Hauptstraße", true],
    ["οδοσ", "ΟΔΟΣ", true],
    ["何？", "何？", true],
    ["何？", "何だ", false],
    ["cafe\u0301", "CAFÉ au lait", true],
  ])("%s on %s: %s", (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it("matches what a regular expression does", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "😀"), maxLength: 10 });
    const pattern = fc
      .string({ unit: fc.constantFrom("a", "b", "😀", "*", "?"), maxLength: 8 })
      .filter((p) => /[*?]/.test(p));
    fc.assert(
      fc.property(pattern, letters, (wild, text) => {
        const regExp = new RegExp(`^${wild.replaceAll("*", ".*").replaceAll("?", ".")}$`, "su");
        expect(matches(wild, text)).toBe(regExp.test(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it("answers at once on what defeats backtracking", () => {
    const text = "a".repeat(8_192);
    expect(compilePattern(`${"*a".repeat(8)}*b`)(text)).toBe(false);
    expect(compilePattern(`${"*a?".repeat(60)}*b`)(text)).toBe(false);
    expect(compilePattern(`*${"a?".repeat(120)}b*`)(text)).toBe(false);
  });
});
