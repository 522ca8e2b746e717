/** Languages are files: what ships is whole, another one needs a file alone, and a damaged one is named. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tenseOf } from "../../src/core/recall/tense.ts";
import { changeWords } from "../../src/core/text/change-words.ts";
import { languages, useLanguages } from "../../src/core/text/languages.ts";
import { statementKind } from "../../src/core/text/statement-words.ts";
import { timeOfQuestion } from "../../src/core/text/time-expressions.ts";
import { readLanguages } from "../../src/files/read-languages.ts";

/** A Saturday. */
const NOW = Date.UTC(2026, 10, 21, 15);
const MADE_UP = {
  time: {
    months: Array.from({ length: 12 }, (_, place) => `mun${"abcdefghijkl"[place]}`),
    weekdays: ["pli", "plo", "plu", "pla", "ple", "ply", "plaa"],
    seasons: ["verg", "somg", "autg", "wing"],
    numbers: Array.from({ length: 13 }, (_, place) => `zu${"abcdefghijklm"[place]}`),
    day: "tagor",
    week: "wekor",
    month: "monor",
    year: "jahror",
    weekend: "endor",
    christmas: "krismor",
    today: "nunor",
    yesterday: "gestor",
    dayBeforeYesterday: "vorgestor",
    last: "letzor",
    this: "dizor",
    agoAfter: "zurukor",
    in: "inor",
    parts: ["frukor", "mittor", "spator"],
    fortnight: "zwewekor",
    and: "undor",
    to: "bisor",
    empty: ["wasor", "warra"],
  },
  question: { former: ["altmor"] },
  change: { words: ["nimmor", "endig*"] },
  statement: { preference: ["^prefor @ ohnor"] },
};

let folder = "";
const inFolder = () => pathToFileURL(`${folder}/`);
const write = (name: string, content: unknown) =>
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "languages-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  useLanguages(readLanguages);
});

describe("the languages that ship", () => {
  it("are tried in their order", () => {
    expect(languages().flatMap(({ name, time }) => (time === undefined ? [] : [name]))).toEqual(
      "en de fr es it pt nl ru pl hi".split(" "),
    );
  });
});

describe("a language of a file alone", () => {
  it("is read beside the others", () => {
    cpSync(new URL("../../data/languages/", import.meta.url), folder, { recursive: true });
    expect(timeOfQuestion("wasor warra gestor?", NOW)).toBeUndefined();
    expect(statementKind("Prefor kavor ohnor milkor.")).toBeUndefined();
    write("zz.json", MADE_UP);
    useLanguages(() => readLanguages(inFolder()));
    expect(timeOfQuestion("wasor warra gestor?", NOW)).toMatchObject({
      from: Date.UTC(2026, 10, 20),
      to: Date.UTC(2026, 10, 21),
    });
    expect(timeOfQuestion("wasor warra inor munc?", NOW)).toMatchObject({
      from: Date.UTC(2026, 2, 1),
      to: Date.UTC(2026, 3, 1),
    });
    expect(tenseOf("Quor war altmor arbor?")).toBe("past");
    expect(changeWords("Ed il nimmor arbor, endigat")).toEqual(new Set(["nimmor", "endigat"]));
    expect(statementKind("Prefor kavor ohnor milkor.")).toMatchObject({ kind: "preference" });
    expect(timeOfQuestion("what happened yesterday?", NOW)?.from).toBe(Date.UTC(2026, 10, 20));
  });

  it("reads what it has words for, from texts or lists of them", () => {
    write("zz.json", {
      time: { yesterday: ["gestor", "gustor"], empty: "wasor|warra" },
      change: { words: "nimmor" },
    });
    useLanguages(() => readLanguages(inFolder()));
    expect(timeOfQuestion("wasor warra gustor?", NOW)?.from).toBe(Date.UTC(2026, 10, 20));
    for (const text of ["wasor warra last week?", "wasor on 2026-03-05 03-06?", "", "wasor"])
      expect(timeOfQuestion(text, NOW)?.from).toBe(text.includes("2026") ? Date.UTC(2026, 2, 5) : undefined);
    expect(tenseOf("wasor warra?")).not.toBe("past");
    expect(changeWords("Ed il nimmor endigat")).toEqual(new Set(["nimmor"]));
  });
});

describe("readLanguages", () => {
  const { time } = MADE_UP;
  it.each([
    ["is no JSON", "{", /de\.json: .*JSON/],
    ["is a list", [], /de\.json: the file must be an object/],
    ["has an unknown part", { times: {} }, /de\.json: `times` is no part of a language/],
    ["has an unknown entry", { time: { ...time, dayy: "d" } }, /`time\.dayy` is no entry of `time`/],
    ["lacks a month", { time: { ...time, months: ["a"] } }, /`time\.months` must be a list of 12 texts/],
    ["has a number for a text", { time: { ...time, day: 1 } }, /`time\.day` must be a text/],
    [
      "has a list with a number",
      { time: { ...time, empty: [1] } },
      /`time\.empty` must be a text or a list of texts/,
    ],
    ["has a broken expression", { time: { ...time, day: "(" } }, /`time\.day` must be a regular expression/],
    [
      "has an empty text among others",
      { change: { words: ["a", ""] } },
      /de\.json: `change\.words` must have no empty text/,
    ],
    ["has an order that is no number", { order: "1" }, /`order` must be a number/],
  ])("names the file and the entry where one %s", (_, content, message) => {
    write("de.json", content);
    expect(() => readLanguages(inFolder())).toThrow(message);
  });

  it("says what to do where the folder is empty or missing", () => {
    expect(() => readLanguages(inFolder())).toThrow(/cannot be read: .* install memoryd again/);
    expect(() => readLanguages(new URL("missing/", inFolder()))).toThrow(/ENOENT.* install memoryd again/);
  });
});
