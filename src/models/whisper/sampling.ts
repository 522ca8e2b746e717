import type { Vocabulary } from "./vocabulary.ts";

export interface Pick {
  readonly id: number;
  /** Natural logarithm of its share, whatever the temperature. */
  readonly logProbability: number;
}

/**
 * The highest score at temperature 0; above it one is drawn, the likelier the higher and the lower the temperature.
 *
 * @param random from 0 to 1, drawn for this token.
 */
export function pickToken(scores: Float32Array, temperature: number, random: number): Pick {
  const best = indexOfHighest(scores);
  const highest = scores[best] ?? 0;
  const id = temperature === 0 ? best : draw(scores, highest, temperature, random);
  return { id, logProbability: (scores[id] ?? 0) - highest - Math.log(sumOfShares(scores, highest, 1)) };
}

/** The share of one token, from 0 to 1. */
export function probabilityOf(scores: Float32Array, id: number): number {
  const highest = scores[indexOfHighest(scores)] ?? 0;
  return Math.exp((scores[id] ?? -Infinity) - highest) / sumOfShares(scores, highest, 1);
}

/**
 * Numbers from 0 to 1, the same ones for the same seed: a recording is transcribed the same again.
 *
 * @see https://github.com/bryc/code/blob/master/jshash/PRNGs.md#mulberry32
 */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draw(scores: Float32Array, highest: number, temperature: number, random: number): number {
  let left = random * sumOfShares(scores, highest, temperature);
  for (let i = 0; i < scores.length; i++) {
    left -= Math.exp(((scores[i] ?? -Infinity) - highest) / temperature);
    if (left < 0) return i;
  }
  return indexOfHighest(scores);
}

function sumOfShares(scores: Float32Array, highest: number, temperature: number): number {
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += Math.exp(((scores[i] ?? -Infinity) - highest) / temperature);
  return sum;
}

function indexOfHighest(scores: Float32Array): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++)
    if ((scores[i] ?? -Infinity) > (scores[best] ?? -Infinity)) best = i;
  return best;
}

/** The first time of a window is at most 1 s after its start. In steps of time. */
const MAX_FIRST_TIME = 50;

/**
 * Forbids, in place, what may not follow `written`: a text stands between two times, times do not go back and open and
 * close in pairs, a window begins with a time, and where the times together are likelier than any text, a time is due.
 *
 * @param scores of every token of the vocabulary; forbidden ones become -Infinity.
 * @see `ApplyTimestampRules` and `SuppressTokens` of OpenAI's Whisper (decoding.py), whose training these rules mirror.
 */
export function applyTokenRules(
  scores: Float32Array,
  written: readonly number[],
  vocabulary: Vocabulary,
): void {
  const { endOfText, start, firstTime, suppressed, suppressedFirst } = vocabulary;
  forbid(scores, suppressed);
  scores.fill(-Infinity, start, firstTime);
  if (written.length === 0) {
    forbid(scores, suppressedFirst);
    scores.fill(-Infinity, 0, firstTime);
    scores.fill(-Infinity, firstTime + MAX_FIRST_TIME + 1);
    return;
  }

  const isTime = (id: number | undefined) => id !== undefined && id >= firstTime;
  const endsInTime = isTime(written.at(-1));
  const isOpening = endsInTime && (written.length === 1 || isTime(written.at(-2)));
  if (isOpening) scores.fill(-Infinity, firstTime);
  else if (endsInTime) scores.fill(-Infinity, 0, endOfText);
  const last = written.findLast(isTime);
  // A closing time is later than its opening time; the next opening may be at the same time.
  if (last !== undefined) scores.fill(-Infinity, firstTime, endsInTime && !isOpening ? last : last + 1);
  if (logSum(scores, firstTime) > highest(scores, 0, firstTime)) scores.fill(-Infinity, 0, firstTime);
}

function forbid(scores: Float32Array, ids: readonly number[]): void {
  for (const id of ids) scores[id] = -Infinity;
}

function highest(scores: Float32Array, from: number, to: number): number {
  let best = -Infinity;
  for (let i = from; i < to; i++) best = Math.max(best, scores[i] ?? -Infinity);
  return best;
}

/** Logarithm of the sum of e^score, of the scores from there on. */
function logSum(scores: Float32Array, from: number): number {
  const best = highest(scores, from, scores.length);
  if (best === -Infinity) return best;
  let sum = 0;
  for (let i = from; i < scores.length; i++) sum += Math.exp((scores[i] ?? -Infinity) - best);
  return best + Math.log(sum);
}
