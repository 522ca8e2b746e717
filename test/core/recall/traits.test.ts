import { describe, expect, it } from "vitest";
import { traitsOf } from "../../../src/core/recall/traits.ts";

describe("traitsOf", () => {
  it("knows who speaks, asks and is named", () => {
    expect(traitsOf("Anna Berg: We saw Paris last week, have you been there?")).toEqual({
      asks: true,
      tellsTime: true,
      speaker: "anna berg",
      names: ["paris"],
      words: 11,
    });
  });

  it.each([
    ["Do you like it? [shared photo: a dog]", true],
    ["¿Qué? “Yes?”", true],
    ["本当？", true],
    ["Is it? It is.", false],
  ])("%s asks: %s", (text, asks) => {
    expect(traitsOf(text).asks).toBe(asks);
  });

  it.each([
    ["it was on 8 May", true],
    ["we may march on", false],
    ["I started three years ago", true],
    ["a nice place", false],
  ])("%s tells a time: %s", (text, tellsTime) => {
    expect(traitsOf(text).tellsTime).toBe(tellsTime);
  });

  it.each([
    ["Zoë: hi", "zoe"],
    ["Anna: hi\nBen: hello", null],
    ["Anna: hi\nAnna: again", "anna"],
    ["To do today and all of tomorrow: sleep", null],
    ["We need\nMilk: two", null],
    ["https://example.com", null],
  ])("%s is said by %s", (text, speaker) => {
    expect(traitsOf(text).speaker).toBe(speaker);
  });

  it("finds names within sentences and in quotation marks, each once", () => {
    expect(
      traitsOf('He read "The Overstory" in New York, then in New York again. Then I left.').names,
    ).toEqual(["the overstory", "new york"]);
  });
});
