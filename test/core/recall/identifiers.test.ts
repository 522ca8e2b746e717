import { describe, expect, it } from "vitest";
import { anotherBehind, namingAnother } from "../../../src/core/recall/identifiers.ts";

/** The texts that name another thing, of hits that come in this order. */
const another = (question: string, texts: readonly string[], scores: readonly number[] = []) => {
  const best = texts.map((content, i) => ({
    hit: { ordinal: i, score: scores[i] ?? 0.8 - i / 100, shares: {}, path: [i] },
    content,
  }));
  const found = namingAnother(question, best);
  return texts.filter((_, i) => found.has(i));
};

describe("what names another thing than a question", () => {
  it.each([
    ["what was done to valve 2-3?", "Valve 3-2 was greased."],
    ["who has locker B-12?", "Locker 12-B is Omar's."],
    ["who has locker B–12?", "Locker B-13 is Omar's."],
    ["what broke in 1.4.2?", "2.4.1 broke the import."],
    ["who borrowed ISBN 978-3-16-148410-0?", "ISBN 978-3-16-410148-0 is lent."],
    ["what is at 48.1,11.5?", "At 11.5,48.1 is the well."],
    ["what is in s3://a-b/c?", "s3://b-a/c has photos."],
    ["what is on page 128?", "Soup is on page 182."],
    ["Кто в кабинете 3-14?", "В кабинете 14-3 сидит Пётр."],
    ["7-2号房间住着谁？", "2-7号房间住着韩梅。"],
  ])("has a look-alike in the place of an identifier: %s", (question, text) => {
    expect(another(question, [text, "Something else."])).toEqual([text]);
  });

  it("has another number behind a word, where something has the one that is asked for", () => {
    const texts = ["Row 9 seat 4 is Karl's.", "Row 4 seat 9 is Vera's.", "Row 3 is broken."];
    expect(another("who sits in row 4 seat 9?", texts)).toEqual([texts[0], texts[2]]);
    expect(another("who sits in row 5?", texts)).toEqual([]);
    expect(another("who sits in row 4?", texts, [0.9, 0.1, 0.9])).toEqual([]);
  });

  it("has another member of a family, where something has the one that is asked for", () => {
    const texts = [
      "mart_levels_hourly: never refresh it",
      "mart_flow_daily: refreshed at lunch",
      "lunch is at noon",
    ];
    expect(another("may I refresh mart_levels_hourly at lunch?", texts)).toEqual([texts[1]]);
    expect(another("may I refresh mart_other at lunch?", texts)).toEqual([]);
  });

  it.each([
    ["when is the dentist, at 10am?", "The dentist moved to 11am."],
    ["who was mayor in 2024?", "In 2025 Jones became mayor."],
    ["is 1.4.2 older than 1.4.3?", "1.4.3 is of May."],
    ["what was greased on valve 2-3?", "Valve 2-3 is next to valve 3-2."],
    ["which valve was greased?", "Valve 3-2 was greased."],
    ["e-mail of Ann", "E-male is a typo."],
    ["compare room 3 with room 5", "Room 5 is cold."],
    ["log in at https://shop.example.org?", "Log in at https://shop.example.org/login as tove."],
    ["why does src/app/main.ts crash?", "src/app/main.ts:42 crashes on a missing region."],
    ["wann ist der Zahnarzt-Termin?", "Zahnarzt-Termine nur dienstags."],
  ])("does not mean what it does not: %s", (question, text) => {
    expect(another(question, [text, "Room 3 is warm."])).toEqual([]);
  });
});

it("is behind what has the identifier, and clearly so", () => {
  const hits = [0.92, 0.9, 0.2].map((score, ordinal) => ({ ordinal, score, shares: {}, path: [ordinal] }));
  expect(anotherBehind(hits, new Set())).toBe(hits);
  const [first, second] = anotherBehind(hits, new Set([0]));
  expect([first?.ordinal, second?.ordinal]).toEqual([1, 0]);
  expect(second?.score).toBeLessThan(0.8);
});
