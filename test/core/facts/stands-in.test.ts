import { expect, it } from "vitest";
import { standsIn } from "../../../src/core/facts/answering-facts.ts";

it.each([
  ["rome", true],
  ["in rome", true],
  ["ann in", true],
  ["rom", false],
  ["rome in", false],
  [", ann", true],
  ["ann in rome, ann in", true],
  ["ann in rome, ann in rome", false],
  ["京", true],
  ["都に", true],
  ["𝔸b", true],
  ["b", false],
])("a phrase stands in a text where words begin and end: %s", (phrase, expected) => {
  expect(standsIn("ann in rome, ann in 京都に 𝔸b", phrase)).toBe(expected);
});
