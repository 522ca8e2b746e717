import { describe, expect, it } from "vitest";
import {
  type Attempt,
  compressionOf,
  endsInLoop,
  isInvented,
  isSpeech,
  isSure,
  MAX_COMPRESSION,
  applyTokenRules,
  pickToken,
  probabilityOf,
  randomNumbers,
} from "../../../src/models/whisper/transcribe-window.ts";
import fc from "fast-check";
import { at, TINY, TOKENS } from "./tiny-vocabulary.ts";
import { times as timesUnderStress } from "../../support/stress.ts";

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

describe("token rules", () => {
  /** What may follow, when each token but the favoured one is as likely as another. */
  function allowed(written: readonly number[], favoured?: number): number[] {
    // Text is far likelier, so that times are never due.
    const scores = new Float32Array(TOKENS).fill(0);
    scores.fill(20, 0, TINY.firstTime);
    if (favoured !== undefined) scores[favoured] = 40;
    applyTokenRules(scores, written, TINY);
    return Array.from(scores.keys()).filter((id) => scores[id] !== -Infinity);
  }
  const times = (from: number, to: number) =>
    Array.from({ length: at(to) - at(from) + 1 }, (_, i) => at(from) + i);
  const TEXT = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const END = TINY.endOfText;

  describe("applyTokenRules", () => {
    it("begins with a time within the first second", () => expect(allowed([])).toEqual(times(0, 1)));

    it("lets text follow an opening time, or the end", () => {
      expect(allowed([at(0.5)])).toEqual([...TEXT, END]);
      expect(allowed([at(0), 1, at(2), at(2)])).toEqual([...TEXT, END]);
    });

    it("lets text, the end, or a later time follow text", () => {
      expect(allowed([at(2), 1])).toEqual([...TEXT, END, ...times(2.02, 30)]);
    });

    it("lets the next opening time or the end follow a closing time", () => {
      expect(allowed([at(0), 1, at(2)])).toEqual([END, ...times(2, 30)]);
    });

    it("never lets through what is suppressed or says what to do", () => {
      const banned = [9, 11, 12, 13, 14, 15];
      for (const written of [[], [at(0)], [at(0), 1], [at(0), 1, at(2)]]) {
        for (const id of banned) expect(allowed(written, id)).not.toContain(id);
      }
    });

    it("asks for a time where the times together are likelier than any text", () => {
      const scores = new Float32Array(TOKENS).fill(0);
      scores[1] = 5;
      applyTokenRules(scores, [at(1), 0], TINY);
      expect(scores[1]).toBe(-Infinity);
      expect(pickToken(scores, 0, 0).id).toBeGreaterThan(at(1));
    });

    it("leads any scores to times in pairs that never go back", () => {
      const scoresOf = fc.integer({ min: 0, max: 2 ** 31 });
      fc.assert(
        fc.property(scoresOf, (seed) => {
          const random = randomNumbers(seed);
          const written: number[] = [];
          while (written.length < 40) {
            const scores = Float32Array.from({ length: TOKENS }, () => random() * 12);
            applyTokenRules(scores, written, TINY);
            const { id } = pickToken(scores, 0.8, random());
            if (id === END) break;
            written.push(id);
          }
          const order = written.filter((id) => id >= TINY.firstTime);
          expect(order).toEqual(order.toSorted((a, b) => a - b));
          expect(written.some((id) => id >= END && id < TINY.firstTime)).toBe(false);
          const kinds = written.map((id) => (id >= TINY.firstTime ? "t" : "w")).join("");
          expect(kinds).toMatch(/^(t(w+t)?)*(tw*)?$/);
        }),
        { numRuns: timesUnderStress(100) },
      );
    });
  });

  describe("pickToken", () => {
    const scores = Float32Array.of(1, 3, 2, -Infinity);

    it("takes the highest at temperature 0", () => {
      const { id, logProbability } = pickToken(scores, 0, 0.99);
      expect(id).toBe(1);
      expect(Math.exp(logProbability)).toBeCloseTo(probabilityOf(scores, 1), 6);
    });

    it("draws by likelihood above it, and never what is forbidden", () => {
      const random = randomNumbers(1);
      const counts = [0, 0, 0, 0];
      for (let i = 0; i < 5_000; i++) {
        const { id } = pickToken(scores, 1, random());
        counts[id] = (counts[id] ?? 0) + 1;
      }
      counts.forEach((count, id) => expect(count / 5_000).toBeCloseTo(probabilityOf(scores, id), 1));
      expect(counts[3]).toBe(0);
      expect(pickToken(scores, 1, 1).id).toBeLessThan(3);
    });

    it("draws the same numbers for the same seed", () => {
      const draw = (seed: number) => Array.from({ length: 5 }, randomNumbers(seed));
      expect(draw(3)).toEqual(draw(3));
      expect(draw(3)).not.toEqual(draw(4));
    });
  });
});
