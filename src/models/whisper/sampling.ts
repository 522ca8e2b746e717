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
