import { describe, expect, it } from "vitest";
import {
  type Attempt,
  compressionOf,
  endsInLoop,
  isInvented,
  isSpeech,
  isSure,
  MAX_COMPRESSION,
} from "../../../src/models/whisper/transcribe-window.ts";

const attempt = (fields: Partial<Attempt>): Attempt => ({
  tokens: [],
  textTokens: 12,
  isRepetitive: false,
  logProbability: -0.3,
  noSpeech: 0.1,
  ...fields,
});

describe("endsInLoop", () => {
  const repeat = (phrase: readonly number[], times: number) =>
    Array.from({ length: times }, () => phrase).flat();

  it.each([
    ["one token", repeat([7], 24)],
    ["a phrase of three", [1, 2, ...repeat([3, 4, 5], 8)]],
    ["a phrase of twelve", repeat([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 6)],
  ])("sees %s said over and over", (_, tokens) => expect(endsInLoop(tokens)).toBe(true));

  it.each([
    ["too few times", repeat([3, 4, 5], 7)],
    ["not at the end", [...repeat([3], 30), 4]],
    ["other tokens", Array.from({ length: 100 }, (_, i) => i)],
    ["none", []],
  ])("does not see %s", (_, tokens) => expect(endsInLoop(tokens)).toBe(false));
});

describe("compressionOf", () => {
  it("tells repetition from prose", () => {
    expect(compressionOf("I had a great time. ".repeat(10))).toBeGreaterThan(MAX_COMPRESSION);
    const prose =
      "The boiler was serviced on the third of March, and the valve should be replaced before winter.";
    expect(compressionOf(prose)).toBeLessThan(MAX_COMPRESSION);
    expect(compressionOf("")).toBe(0);
  });
});

describe("attempts", () => {
  it("are invented where the model doubts that anybody speaks, and doubts or repeats the text", () => {
    expect(isInvented(attempt({ noSpeech: 0.7, logProbability: -1.1 }))).toBe(true);
    expect(isInvented(attempt({ noSpeech: 0.7, isRepetitive: true }))).toBe(true);
    expect(isInvented(attempt({ noSpeech: 0.7 }))).toBe(false);
    expect(isInvented(attempt({ noSpeech: 0.5, logProbability: -1.1, isRepetitive: true }))).toBe(false);
  });

  it("are sure when likely and not repetitive", () => {
    expect(isSure(attempt({}))).toBe(true);
    expect(isSure(attempt({ isRepetitive: true }))).toBe(false);
    expect(isSure(attempt({ logProbability: -1.2 }))).toBe(false);
  });

  it("are speech unless unlikely, or a few words that are in any doubt", () => {
    expect(isSpeech(attempt({ logProbability: -1.4 }))).toBe(true);
    expect(isSpeech(attempt({ logProbability: -1.6 }))).toBe(false);
    expect(isSpeech(attempt({ noSpeech: 0.7, textTokens: 4 }))).toBe(false);
    expect(isSpeech(attempt({ noSpeech: 0.7, textTokens: 5 }))).toBe(true);
    expect(isSpeech(attempt({ noSpeech: 0.5, textTokens: 1 }))).toBe(true);
    expect(isSpeech(attempt({ noSpeech: 0.4, textTokens: 4, logProbability: -1.4 }))).toBe(false);
  });
});
