import { describe, expect, it } from "vitest";
import {
  anything,
  arrayOf,
  boolean,
  either,
  integer,
  type JsonForm,
  mapOf,
  nullable,
  number,
  oneOf,
  optional,
  record,
  string,
  where,
} from "../src/json-form.ts";

const Note = record({ id: string, tags: arrayOf(string), page: optional(integer), by: nullable(string) });

describe("forms of JSON", () => {
  it.each<[string, JsonForm<unknown>, readonly unknown[], readonly unknown[]]>([
    ["a string", string, ["", "a"], [1, null, undefined, ["a"]]],
    ["a boolean", boolean, [true, false], [0, "true", null]],
    ["a number", number, [0, -1.5], ["1", null]],
    ["an integer", integer, [0, -7], [1.5, "1", Number.NaN]],
    ["one of some values", oneOf("a", 2, true), ["a", 2, true], ["b", "2", false, undefined]],
    ["something or null", nullable(string), ["a", null], [undefined, 1]],
    ["either of two", either(string, integer), ["a", 1], [1.5, null]],
    ["an array", arrayOf(string), [[], ["a"]], [["a", 1], { 0: "a", length: 1 }, null]],
    ["a map", mapOf(integer), [{}, { a: 1 }], [{ a: "1" }, [1], null, "a"]],
    ["what passes", where(integer, (n) => n > 0), [1], [0, "1"]],
    ["anything", anything, [undefined, null, {}], []],
  ])("know %s", (_what, form, known, others) => {
    expect(known.filter((value) => !form(value))).toEqual([]);
    expect(others.filter((value) => form(value))).toEqual([]);
  });

  it("know an object by its fields, whatever else is in it", () => {
    const note = { id: "a", tags: [], by: null };
    expect(Note(note)).toBe(true);
    expect(Note({ ...note, page: 3, later: "added" })).toBe(true);
    for (const other of [{ ...note, page: "3" }, { ...note, tags: [1] }, { id: "a", tags: [] }, [note], null])
      expect(Note(other)).toBe(false);
  });
});
