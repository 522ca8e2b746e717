import type { Vocabulary } from "../../../src/models/whisper/vocabulary.ts";

/** A vocabulary of a few words: 0…9 are text, times begin at 20. */
export const WORDS = [" the", " boiler", " leaks", ".", " again", " G", "r\xc3", "\xbcn", " ", "!"];
export const TINY: Vocabulary = {
  endOfText: 10,
  start: 11,
  transcribe: 14,
  noSpeech: 15,
  firstTime: 20,
  suppressed: [9],
  suppressedFirst: [8],
  languages: new Map([
    ["en", 12],
    ["de", 13],
  ]),
  bytes: WORDS.map((word) => Buffer.from(word, "latin1")),
};

/** The token of that many seconds after the window's start. */
export const at = (seconds: number) => TINY.firstTime + Math.round(seconds * 50);

export const TOKENS = at(30) + 1;
