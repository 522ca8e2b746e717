import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StringColumn, StringTable } from "../../../src/storage/catalogue/string-table.ts";

describe("StringTable", () => {
  it("finds what a map would, through any additions and removals", () => {
    const word = fc.oneof(fc.constantFrom("", "a", "b", "Ä", "漢字"), fc.string({ maxLength: 3 }));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("set", "delete", "reserve"), word), { maxLength: 300 }),
        (steps) => {
          const strings: string[] = [];
          const table = new StringTable((number) => strings[number]);
          const map = new Map<string, number>();
          for (const [step, string] of steps) {
            if (step === "set") {
              const number = strings.push(string) - 1;
              table.set(string, number);
              map.set(string, number);
            } else if (step === "delete") {
              table.delete(string);
              map.delete(string);
            } else table.reserve(string.length);
            expect(table.find(string)).toBe(map.get(string));
          }
          for (const [, string] of steps) expect(table.find(string)).toBe(map.get(string));
        },
      ),
    );
  });

  it("grows, and goes on where nearly all that it has had is gone", () => {
    const strings = Array.from({ length: 50_000 }, (_, number) => `memory-${number}`);
    const table = new StringTable((number) => strings[number]);
    strings.forEach((string, number) => {
      table.set(string, number);
      if (number >= 700) table.delete(strings[number - 700] ?? "");
    });
    const found = strings.map((string) => table.find(string)).filter((number) => number !== undefined);
    expect(found).toEqual(Array.from({ length: 700 }, (_, i) => 49_300 + i));
  });

  it("has every one of very many", () => {
    const strings = Array.from({ length: 30_000 }, (_, number) => number.toString(36));
    const table = new StringTable((number) => strings[number]);
    strings.forEach((string, number) => table.set(string, number));
    expect(strings.every((string, number) => table.find(string) === number)).toBe(true);
    expect(table.find("another")).toBeUndefined();
  });
});

describe("StringColumn", () => {
  it("has what an array would, of any length and alphabet, also after an image", () => {
    const word = fc.oneof(
      fc.string({ minLength: 4, maxLength: 4 }),
      fc.constantFrom("", "abc\0", "abcd", "äöüß", "漢字漢字", "abc\ud800"),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(300), word), { maxLength: 60 }), (steps) => {
        const column = new StringColumn(4);
        const strings: string[] = [];
        for (const [number, string] of steps) {
          column.set(number, string);
          strings[number] = string;
        }
        const { bytes, others } = column.toPart(strings.length);
        const again = new StringColumn(4);
        again.fromPart(bytes.slice(), others);
        strings.forEach((string, number) =>
          expect([column.get(number), again.get(number)]).toEqual([string, string]),
        );
      }),
    );
  });
});
