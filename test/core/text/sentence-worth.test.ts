import { expect, it } from "vitest";
import { sentenceWorth } from "../../../src/core/text/sentences.ts";

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
