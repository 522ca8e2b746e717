import { describe, expect, it } from "vitest";
import { keyPhrases } from "../../../src/core/text/key-phrases.ts";

const phrases = (texts: readonly string[], ignored?: readonly string[]) =>
  keyPhrases(texts, 10, ignored).map(({ text }) => text);

describe("keyPhrases", () => {
  it("finds what several texts speak of, in the form that is mostly written", () => {
    const found = keyPhrases(
      [
        "We planned the school reunion.",
        "School reunions are loud.",
        "The school reunion is in May.",
        "It rained.",
      ],
      3,
    );
    expect(found[0]).toEqual({ text: "school reunion", place: 0 });
  });

  it("has neither stop words nor talk nor numbers nor those who speak", () => {
    expect(
      phrases(
        ["Thanks, that is really great, Mel!", "Yeah, 2024 was 1.5 times great, Melanie!"],
        ["Melanie"],
      ),
    ).toEqual([]);
  });

  it("never goes over a mark or a line", () => {
    expect(phrases(["red kite, blue boat", "red kite\nblue boat"])).not.toContain("kite blue");
  });

  it("keeps the capitals of names", () => {
    expect(phrases(["We went to Lake Como again.", "I love Lake Como."])).toContain("Lake Como");
  });

  it("is the same in any run, and empty for nothing", () => {
    const texts = ["zinc and copper", "copper and zinc", "tin"];
    expect(phrases(texts)).toEqual(phrases(texts));
    expect(phrases([])).toEqual([]);
  });
});
