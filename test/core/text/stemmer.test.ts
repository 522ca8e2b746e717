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

  it("gives something for every word, no longer than a base may be", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,30}$/), (word) => {
        expect(stem(word).length).toBeGreaterThan(0);
        expect(stem(word).length).toBeLessThanOrEqual(word.length + 6);
      }),
    );
  });
});
