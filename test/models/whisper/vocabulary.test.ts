import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOf, readVocabulary, tagOf, textOf } from "../../../src/models/whisper/vocabulary.ts";
import { WHISPER_DIRECTORY } from "../../../src/models/whisper/whisper-model.ts";
import { at, TINY } from "./tiny-vocabulary.ts";

const bundled = readVocabulary(readFileSync(join(WHISPER_DIRECTORY, "vocab.json"), "utf8"));

describe("textOf", () => {
  it("joins tokens, and leaves out times and blank ends", () => {
    expect(textOf(TINY, [at(0), 0, 1, 2, 3, at(2), 8])).toBe("the boiler leaks.");
  });

  it("joins characters that are spread over tokens, and drops what is left of one", () => {
    expect(textOf(TINY, [5, 6, 7])).toBe("Grün");
    expect(textOf(TINY, [0, 6])).toBe("ther");
    expect(textOf(TINY, [7, 1])).toBe("n boiler");
  });
});

describe("readVocabulary", () => {
  it("reads the bundled one", () => {
    expect(bundled.bytes).toHaveLength(50_257);
    expect(bundled.languages.get("en")).toBe(50_259);
    expect(bundled.languages.size).toBe(99);
  });

  it.each([
    ["{}", "no languages"],
    ['{"languages":{},"tokens":"QQ=="}', '"eot"'],
    ["nonsense", "JSON"],
  ])("refuses %s", (json, reason) => expect(() => readVocabulary(json)).toThrow(reason));
});

describe("codeOf", () => {
  it.each([
    ["en", "en"],
    ["EN-gb", "en"],
    ["pt_BR", "pt"],
    ["zh-Hant-TW", "zh"],
    ["German", "de"],
    ["norwegian", "no"],
    ["nb-NO", "no"],
    ["jv", "jw"],
    ["fil", "tl"],
    ["haw", "haw"],
  ])("knows %s", (name, code) => expect(codeOf(name, bundled)).toBe(code));

  it.each(["klingon", "", "xx", "-", "constructor"])("refuses “%s”, and lists what it knows", (name) => {
    expect(() => codeOf(name, bundled)).toThrow(/is not known.* af, am, .*jv.* zh\.$/);
  });

  it("has a tag for each code, that leads back to it", () => {
    for (const code of bundled.languages.keys()) expect(codeOf(tagOf(code), bundled)).toBe(code);
  });
});
