import { describe, expect, it } from "vitest";
import { nearness } from "../../../src/core/text/near-words.ts";

describe("nearness", () => {
  it.each([
    ["dentist", "dentsit"],
    ["dentist", "dentis"],
    ["dentist", "dentiist"],
    ["dentist", "dantist"],
    ["orthodontist", "orthodentits"],
  ])("knows %s in %s", (word, slip) => {
    expect(nearness(slip, word)).toBeGreaterThan(0.7);
    expect(nearness(slip, word)).toBe(nearness(word, slip));
  });

  it("is 1 for the same, and 0 for other words, short ones and codes", () => {
    expect(nearness("dentist", "dentist")).toBe(1);
    for (const [a = "", b = ""] of [
      ["dentist", "artist"],
      ["cat", "car"],
      ["7719", "7718"],
      ["summer", "winter"],
      ["dentist", "dintest"],
    ])
      expect(nearness(a, b)).toBe(0);
  });
});
