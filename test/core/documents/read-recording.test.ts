import { expect, it } from "vitest";
import { chooseSoundTrack, chooseSubtitles } from "../../../src/core/documents/read-recording.ts";

const GERMAN = { index: 0, language: "de", isDefault: true };
const ENGLISH = { index: 1, language: "en-GB", isDefault: false };
const UNKNOWN = { index: 2, isDefault: false };
const PRIVATE = { index: 3, language: "x-mine", isDefault: false };

it.each(["en", "EN", "eng", "en-US", "en_US", "English", " english "])("knows English by %j", (language) => {
  expect(chooseSoundTrack([GERMAN, ENGLISH, UNKNOWN], language)).toBe(ENGLISH);
  expect(chooseSubtitles([GERMAN, UNKNOWN, ENGLISH], language)).toBe(ENGLISH);
});

it.each(["fr", "no language at all", "", "-"])("finds no track in %j", (language) => {
  expect(chooseSoundTrack([PRIVATE, UNKNOWN, GERMAN], language)).toBe(GERMAN);
  expect(chooseSubtitles([PRIVATE, GERMAN, UNKNOWN], language)).toBe(UNKNOWN);
  expect(chooseSubtitles([PRIVATE, GERMAN], language)).toBeUndefined();
});

it("has nothing to choose where there is none", () => {
  expect(chooseSoundTrack([], "en")).toBeUndefined();
  expect(chooseSubtitles([], undefined)).toBeUndefined();
});
