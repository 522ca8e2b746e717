/**
 * Whisper writes something for every sound. What tells speech from invention is measured, on silence, noise, hum, tones
 * and music: with these guards nothing is invented there.
 */
import { deflateSync } from "node:zlib";

/** Text that deflates better repeats itself. */
export const MAX_COMPRESSION = 2.4;
/** Below this mean log probability another temperature is tried. */
export const SURE_LOG_PROBABILITY = -1;
/** The best attempt below this is taken for no speech. */
const LEAST_LOG_PROBABILITY = -1.5;
/** Above this the model itself holds that nobody speaks. */
const NO_SPEECH = 0.6;
/** Stock phrases such as "Thank you." are this short. In text tokens. */
const FEW_TOKENS = 4;

const MAX_PERIOD = 12;
const LEAST_REPEATS = 6;
const LEAST_LOOP_TOKENS = 24;

/** What is known of an attempt at writing down a window. */
export interface Attempt {
  /** Text and times, without the end. */
  readonly tokens: readonly number[];
  readonly textTokens: number;
  /** It says the same over and over. */
  readonly isRepetitive: boolean;
  /** Mean over its tokens and the end. */
  readonly logProbability: number;
  /** That nobody speaks in the window: a probability. */
  readonly noSpeech: number;
}

/** Whether an attempt alone shows that there is no speech in the window, so that another is of no use. */
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

/** Whether the tokens end in one phrase of up to 12, said at least six times and for at least 24 tokens. */
export function endsInLoop(tokens: readonly number[]): boolean {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const span = Math.max(LEAST_LOOP_TOKENS, period * LEAST_REPEATS);
    if (tokens.length >= span && isPeriodic(tokens.slice(-span), period)) return true;
  }
  return false;
}

/** How many times smaller the text is when deflated; 0 for none. */
export function compressionOf(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}

function isPeriodic(tokens: readonly number[], period: number): boolean {
  return tokens.every((token, i) => i < period || token === tokens[i - period]);
}
