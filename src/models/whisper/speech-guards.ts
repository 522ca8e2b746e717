/**
 * Whisper writes a text for every sound. These limits are measured on silence, noise, hum, tones and music: with them no text
 * is invented there.
 */
import { deflateSync } from "node:zlib";

/** Text that deflates better repeats itself. */
export const MAX_COMPRESSION = 2.4;
/** Below this mean log probability another temperature is tried. */
export const SURE_LOG_PROBABILITY = -1;
/** A best attempt below this is no speech. */
const LEAST_LOG_PROBABILITY = -1.5;
/** Above this probability of the model there is no speech. */
const NO_SPEECH = 0.6;
/** Stock phrases such as "Thank you." are this short. In text tokens. */
const FEW_TOKENS = 4;

const MAX_PERIOD = 12;
const LEAST_REPEATS = 6;
const LEAST_LOOP_TOKENS = 24;

/** An attempt to transcribe a window. */
export interface Attempt {
  /** Text and times, without the end. */
  readonly tokens: readonly number[];
  readonly textTokens: number;
  /** The text repeats itself. */
  readonly isRepetitive: boolean;
  /** Mean over its tokens and the end. */
  readonly logProbability: number;
  /** The probability that the window holds no speech. */
  readonly noSpeech: number;
}

/** Whether an attempt proves that the window holds no speech, so that no other is needed. */
export function isInvented({ noSpeech, isRepetitive, logProbability }: Attempt): boolean {
  return noSpeech > NO_SPEECH && (isRepetitive || logProbability < SURE_LOG_PROBABILITY);
}

/** Whether an attempt needs no other. */
export function isSure({ isRepetitive, logProbability }: Attempt): boolean {
  return !isRepetitive && logProbability > SURE_LOG_PROBABILITY;
}

/** Whether the best attempt at a window is speech at all: a few words must be beyond doubt. */
export function isSpeech({ noSpeech, textTokens, logProbability }: Attempt): boolean {
  if (textTokens <= FEW_TOKENS) return noSpeech <= NO_SPEECH && logProbability >= SURE_LOG_PROBABILITY;
  return logProbability >= LEAST_LOG_PROBABILITY;
}

/** Whether the tokens end in one phrase of up to 12 tokens, repeated at least six times and over at least 24 tokens. */
export function endsInLoop(tokens: readonly number[]): boolean {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const span = Math.max(LEAST_LOOP_TOKENS, period * LEAST_REPEATS);
    if (tokens.length >= span && isPeriodic(tokens.slice(-span), period)) return true;
  }
  return false;
}

/** The ratio of the text's size to its deflated size; 0 for no text. */
export function compressionOf(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}

function isPeriodic(tokens: readonly number[], period: number): boolean {
  return tokens.every((token, i) => i < period || token === tokens[i - period]);
}
