import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sentencesOf } from "../../../src/core/text/sentences.ts";

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
