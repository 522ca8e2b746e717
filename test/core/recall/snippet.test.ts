import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { snippetOf } from "../../../src/core/recall/snippet.ts";

const LONE_SURROGATE = /\p{Surrogate}/u;
const TEXT =
  "We met in Oslo. It rained all day. Anna lost her red umbrella on the tram. Later we had soup. Then home.";

describe("snippetOf", () => {
  it("gives the sentence that says most of what is asked", () => {
    const weights = new Map([
      ["umbrella", 2],
      ["anna", 1],
      ["rain", 1],
    ]);
    expect(snippetOf(TEXT, 48, weights)).toBe("…Anna lost her red umbrella on the tram.…");
    expect(snippetOf(TEXT, 70, weights)).toBe("…It rained all day. Anna lost her red umbrella on the tram.…");
  });

  it("gives the beginning where nothing is found, and the whole text where it fits", () => {
    expect(snippetOf(TEXT, 20, new Map())).toBe("We met in Oslo.…");
    expect(snippetOf(TEXT, TEXT.length, new Map())).toBe(TEXT);
  });

  it("finds the sentence in a long text, of which only pieces that may hold a term are analysed", () => {
    const filler = "Nothing that is asked stands in this sentence of the long text. ".repeat(3_000);
    const text = `${filler}The umbrella cost 1,200 crowns. ${filler}`;
    const weights = new Map([
      ["umbrella", 2],
      ["1200", 1],
    ]);
    expect(snippetOf(text, 60, weights)).toContain("The umbrella cost 1,200 crowns.");
  });

  it("cuts long sentences between words", () => {
    expect(snippetOf("one two three four five six seven", 12, new Map([["4", 1]]))).toBe("…four five…");
  });

  it("never exceeds the length nor splits a character", () => {
    const unit = fc.oneof(
      fc.constantFrom("👨‍👩‍👧", "é", "a\u0301", "字", "word ", ". ", "\n"),
      fc.string({ unit: "grapheme", maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (units, maxChars) => {
        const text = units.join("");
        const snippet = snippetOf(text, maxChars, new Map([["word", 1]]));
        expect(snippet.length).toBeLessThanOrEqual(maxChars);
        if (maxChars > 20) expect(snippet).not.toMatch(LONE_SURROGATE);
      }),
    );
  });
});
