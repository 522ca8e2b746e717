import { describe, expect, it } from "vitest";
import { keyPhrases } from "../../../src/core/users/user-summary.ts";
import { WORD_FREQUENCIES } from "../../support/memory-world.ts";

const phrases = (texts: readonly string[], ignored: readonly string[] = []) =>
  keyPhrases(texts, WORD_FREQUENCIES, 10, ignored);

describe("keyPhrases", () => {
  it("finds what several texts speak of, in the form that is mostly written", () => {
    const found = phrases([
      "We planned the piano lesson.",
      "Piano lessons are loud.",
      "The piano lesson is in May.",
      "It rained.",
    ]);
    expect(found[0]).toBe("piano lesson");
  });

  it("has no words that are common in any language, nor talk, numbers and those who speak", () => {
    expect(
      phrases(
        [
          "Thanks, that is really great, Mel!",
          "Yeah, 2024 was 1.5 times great, Melanie!",
          "Das ist nicht für die mit der und im, el los está.",
        ],
        ["melanie"],
      ),
    ).toEqual([]);
  });

  it("never goes over a mark or a line", () => {
    const texts = ["red kite, blue boat", "red kite\nblue boat"];
    expect(phrases(texts)).not.toContain("kite blue");
  });

  it("keeps the capitals of names", () => {
    expect(phrases(["We went to Lake Bohinj again.", "Lake Bohinj is cold."])).toContain("Lake Bohinj");
  });

  it("leaves out what a single text of many has", () => {
    const texts = Array.from({ length: 12 }, (_, i) => `allotment, bed ${i}`);
    expect(phrases([...texts, "One word on zirconium."])).toEqual(["allotment", "bed"]);
  });

  it("is the same in any run, and empty for nothing", () => {
    const texts = ["zinc and copper", "copper and zinc", "tin"];
    expect(phrases(texts)).toEqual(phrases(texts));
    expect(phrases([])).toEqual([]);
  });
});
