import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TermReader } from "../../../src/storage/catalogue/word-index.ts";

function readAll(reader: TermReader, text: string): number[] {
  const numbers: number[] = [];
  expect(reader.read(Buffer.from(text), (number) => numbers.push(number))).toBe(numbers.length);
  return numbers;
}

describe("TermReader", () => {
  it("gives equal terms one number, in the order they are first seen", () => {
    const reader = new TermReader();
    expect(readAll(reader, "tea grün tea")).toEqual([0, 1, 0]);
    expect(readAll(reader, "te grün tee")).toEqual([2, 1, 3]);
    expect(readAll(reader, "")).toEqual([]);
    expect([0, 1, 2, 3].map((number) => reader.term(number))).toEqual(["tea", "grün", "te", "tee"]);
  });

  it("reads back every text, however many terms there are", () => {
    const reader = new TermReader();
    const term = fc
      .string({ unit: "binary", minLength: 1, maxLength: 4 })
      .filter((text) => !text.includes(" "));
    fc.assert(
      fc.property(fc.array(term), (terms) => {
        expect(readAll(reader, terms.join(" ")).map((number) => reader.term(number))).toEqual(terms);
      }),
    );
    const many = Array.from({ length: 200_000 }, (_, i) => `term${i}`);
    const numbers = readAll(reader, many.join(" "));
    expect(new Set(numbers).size).toBe(many.length);
    expect(numbers.every((number, i) => reader.term(number) === many[i])).toBe(true);
  });
});
