import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldText } from "../../../src/core/facts/fact.ts";
import { compilePattern } from "../../../src/core/facts/find-facts.ts";
import { times } from "../../support/stress.ts";

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
      { numRuns: times(1_000) },
    );
  });

  it("matches what a regular expression does, in long pieces", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "😀"), minLength: 30, maxLength: 90 });
    fc.assert(
      fc.property(letters, fc.nat(40), fc.nat(90), fc.array(fc.nat(90)), (text, from, length, wild) => {
        const piece = Array.from(text)
          .slice(from, from + length)
          .map((c, i) => (wild.includes(i) ? "?" : c));
        const regExp = new RegExp(piece.join("").replaceAll("?", "."), "su");
        for (const other of [text, Array.from(text).toReversed().join("")]) {
          expect(matches(`*${piece.join("")}*`, other)).toBe(regExp.test(other));
        }
      }),
      { numRuns: times(300) },
    );
  });

  it("answers at once on what defeats backtracking", () => {
    const text = "a".repeat(8_192);
    expect(compilePattern(`${"*a".repeat(8)}*b`)(text)).toBe(false);
    expect(compilePattern(`${"*a?".repeat(60)}*b`)(text)).toBe(false);
    expect(compilePattern(`*${"a?".repeat(120)}b*`)(text)).toBe(false);
    expect(compilePattern("*".repeat(8))(text)).toBe(true);
  });

  it("finds long pieces", () => {
    const piece = `${"ab?".repeat(30)}😀`;
    const text = piece.replaceAll("?", "é");
    expect(matches(`*${piece}*`, `xab${text}y`)).toBe(true);
    expect(matches(`*${piece}*`, `xab${text.slice(0, -2)}y`)).toBe(false);
  });
});
