import { describe, expect, it } from "vitest";
import { keyPhrases } from "../../../src/core/text/key-phrases.ts";

const phrases = async (texts: readonly string[], ignored: readonly string[] = []) =>
  (await keyPhrases(texts, 10, { ignored })).map(({ text }) => text);

describe("keyPhrases", () => {
  it("finds what several texts speak of, in the form that is mostly written", async () => {
    const found = await keyPhrases(
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

  it("has neither stop words nor talk nor numbers nor those who speak", async () => {
    expect(
      await phrases(
        ["Thanks, that is really great, Mel!", "Yeah, 2024 was 1.5 times great, Melanie!"],
        ["Melanie"],
      ),
    ).toEqual([]);
  });

  it("never goes over a mark or a line", async () => {
    expect(await phrases(["red kite, blue boat", "red kite\nblue boat"])).not.toContain("kite blue");
  });

  it("keeps the capitals of names", async () => {
    expect(await phrases(["We went to Lake Como again.", "I love Lake Como."])).toContain("Lake Como");
  });

  it("is the same in any run, and empty for nothing", async () => {
    const texts = ["zinc and copper", "copper and zinc", "tin"];
    expect(await phrases(texts)).toEqual(await phrases(texts));
    expect(await phrases([])).toEqual([]);
  });
});
