import { describe, expect, it } from "vitest";
import { isValidAt, nameKey, objectKey, sameMetadata, slotKey } from "../../../src/core/facts/fact.ts";

describe("nameKey", () => {
  it.each([
    ["  Ann ", "ann"],
    ["Straße", "STRASSE"],
    ["ﬁnance", "Finance"],
    ["Ａｎｎ", "ann"],
    ["José", "jose\u0301"],
    ["ΟΔΟΣ", "οδος"],
    ["ΟΔΟΣ", "οδοσ"],
  ])("takes %s and %s for the same", (a, b) => {
    expect(nameKey(a)).toBe(nameKey(b));
  });

  it("keeps accents apart", () => {
    expect(nameKey("José")).not.toBe(nameKey("Jose"));
  });
});

describe("objectKey", () => {
  it("keeps case and full width apart, not encodings of one accent or space around", () => {
    expect(objectKey("Paris")).not.toBe(objectKey("paris"));
    expect(objectKey("Ａ")).not.toBe(objectKey("A"));
    expect(objectKey(" José")).toBe(objectKey("Jose\u0301"));
  });
});

describe("slotKey", () => {
  const slot = { userId: null, project: null, subject: "a", predicate: "b" };
  it("tells users, projects and where one name ends apart", () => {
    const keys = [
      slot,
      { ...slot, userId: "a" },
      { ...slot, project: "a" },
      { ...slot, subject: 'a","b', predicate: "" },
    ];
    expect(new Set(keys.map(slotKey)).size).toBe(keys.length);
  });
});

describe("isValidAt", () => {
  it("is half-open", () => {
    const fact = { validFrom: 2, validTo: 4 };
    expect([1, 2, 3, 4].map((at) => isValidAt(fact, at))).toEqual([false, true, true, false]);
  });
});

describe("sameMetadata", () => {
  it("takes no notice of the order of keys, and of that of items", () => {
    expect(sameMetadata({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
    expect(sameMetadata({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
    expect(sameMetadata({ a: {} }, { a: [] })).toBe(false);
  });
});
