import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { sentencesOf, sentenceWorth } from "../../../src/core/text/sentences.ts";

const trimmed = (text: string) => sentencesOf(text).map((sentence) => sentence.trim());

describe("sentencesOf", () => {
  it("cuts after sentences, with their closing quotes", () => {
    expect(trimmed('He said "no." Then? Nothing… (Really!) End')).toEqual([
      'He said "no."',
      "Then?",
      "Nothing…",
      "(Really!)",
      "End",
    ]);
  });

  it("does not cut at abbreviations, initials, numbers and before lower case", () => {
    for (const text of [
      "Dr. Who met J. R. Smith.",
      "See e.g. this and Fig. 3.",
      "It is 3.5 m long.",
      "Meine Tochter ist am 3. Mai 2017 geboren.",
      "visit example.com. now",
    ])
      expect(trimmed(text)).toEqual([text]);
  });

  it("cuts scripts without spaces, and at empty lines", () => {
    expect(trimmed("今日は雨。明日は晴れ！多分")).toEqual(["今日は雨。", "明日は晴れ！", "多分"]);
    expect(trimmed("a title\n\nand text")).toEqual(["a title", "and text"]);
  });

  it("loses nothing", () => {
    const anyText = fc.string({ unit: fc.constantFrom(...Array.from('aB .!?。\n"(1é')) });
    fc.assert(
      fc.property(anyText, (text) => {
        expect(sentencesOf(text).join("")).toBe(text);
      }),
    );
  });

  it("is linear in hostile text", () => {
    for (const text of [
      ".".repeat(500_000) + "x",
      "\n ".repeat(250_000),
      ". ".repeat(250_000),
      '."'.repeat(250_000),
    ])
      expect(sentencesOf(text).join("")).toBe(text);
  });
});

describe("sentence worth", () => {
  it.each([
    ["Harris Heating serviced the boiler for 90 euros.", "Yes, that works for me!"],
    ["Caroline joined an activist group for adoption in Leeds.", "She joined it last week."],
    ["The gate code of the allotment is 7719.", "What is the gate code of the allotment?"],
    ["Melanie paints sunsets over the lake at Como.", "You should really see them."],
    ["The old printer in the hallway jams on thick paper.", "Thanks so much for the help!"],
    ["Bed three of the allotment has garlic on the south side.", "Great."],
  ])("%s is worth more than %s", (more, less) => {
    expect(sentenceWorth(more)).toBeGreaterThan(2 * sentenceWorth(less));
  });

  it("is above 0 and not above 1 for whatever there is", () => {
    for (const text of ["", "!", "a", "日本。", "word ".repeat(500)]) {
      expect(sentenceWorth(text)).toBeGreaterThan(0);
      expect(sentenceWorth(text)).toBeLessThanOrEqual(1);
    }
  });
});
