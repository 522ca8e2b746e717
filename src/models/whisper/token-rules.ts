import type { Vocabulary } from "./vocabulary.ts";

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
