import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stem } from "../../../src/core/text/stemmer.ts";

describe("stem", () => {
  it.each([
    ["camping", "camp"],
    ["hoping", "hope"],
    ["hopping", "hop"],
    ["happily", "happili"],
    ["studies", "studi"],
    ["ponies", "poni"],
    ["ties", "tie"],
    ["caress", "caress"],
    ["gas", "gas"],
    ["relational", "relat"],
    ["conditional", "condit"],
    ["generate", "generat"],
    ["generally", "general"],
    ["adoption", "adopt"],
    ["national", "nation"],
    ["controlling", "control"],
    ["agreed", "agre"],
    ["plastered", "plaster"],
    ["luxuriated", "luxuri"],
    ["saying", "say"],
    ["day", "day"],
    ["cry", "cri"],
    ["went", "go"],
    ["children", "child"],
    ["lost", "lose"],
    ["bought", "buy"],
    ["seven", "7"],
    ["sept", "septemb"],
  ])("%s is %s", (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it("leaves other scripts, numbers and short words alone", () => {
    for (const word of ["москва", "mp3", "is", "", "東京"]) expect(stem(word)).toBe(word);
  });

  it("gives something for every word, no longer than it", () => {
    fc.assert(
      // Irregular forms that are shorter than their base have at most five letters.
      fc.property(fc.stringMatching(/^[a-z]{6,30}$/), (word) => {
        expect(stem(word).length).toBeGreaterThan(0);
        expect(stem(word).length).toBeLessThanOrEqual(word.length);
      }),
    );
  });

  it("gives more than the word only for short names of months and days, and irregular forms", () => {
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
    const words = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
    expect(words.filter((word) => stem(word).length > word.length).join(" ")).toBe(
      "apr aug bit dec feb fed fri hid jan jul jun led lit mar met mon nov oct sep thu tue wed",
    );
    expect(stem("wed")).toBe(stem("wednesday"));
  });
});
