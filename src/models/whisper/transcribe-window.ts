import { deflateSync } from "node:zlib";
import { textOf, type Vocabulary } from "./vocabulary.ts";

/** The decoder for one window, whose sound is encoded. */
export interface WindowDecoder {
  /** Forgets the tokens read so far. */
  restart(): void;
  /** Reads further tokens; the scores of every token that could follow, which the caller may change. */
  read(tokens: readonly number[]): Promise<Float32Array>;
}

export interface TranscribingOptions {
  /** Whisper's code; detected if undefined. */
  readonly language: string | undefined;
  /** From 0 to 1, a new one each time. */
  readonly random: () => number;
}

/** The transcript of a window with speech. */
export interface TranscribedWindow {
  /** Text and times. */
  readonly tokens: readonly number[];
  readonly language: string;
}

/** Tried in turn until an attempt is sure; a higher one repeats itself less. */
const TEMPERATURES = [0, 0.4, 0.8];
/** No speech of 30 s has more. */
const MAX_WRITTEN = 220;

/**
 * Transcribes a window; undefined without speech. The text of the window before is no input: with it, times were wrong and
 * once a whole paragraph was missing, and with its times too the transcript was no better.
 */
export async function transcribeWindow(
  decoder: WindowDecoder,
  vocabulary: Vocabulary,
  { language, random }: TranscribingOptions,
): Promise<TranscribedWindow | undefined> {
  let best: WrittenAttempt | undefined;
  for (const temperature of TEMPERATURES) {
    const attempt = await write(decoder, vocabulary, { language, random }, temperature);
    if (isInvented(attempt)) return undefined;
    if (!attempt.isRepetitive && (best === undefined || attempt.logProbability > best.logProbability))
      best = attempt;
    if (isSure(attempt)) break;
  }
  if (best === undefined || !isSpeech(best)) return undefined;
  return { tokens: best.tokens, language: best.language };
}

interface WrittenAttempt extends Attempt {
  readonly language: string;
}

async function write(
  decoder: WindowDecoder,
  vocabulary: Vocabulary,
  { language, random }: TranscribingOptions,
  temperature: number,
): Promise<WrittenAttempt> {
  const { endOfText, start, transcribe } = vocabulary;
  decoder.restart();
  let scores = await decoder.read([start]);
  const noSpeech = probabilityOf(scores, vocabulary.noSpeech);
  const spoken = language ?? likeliestLanguage(scores, vocabulary);
  scores = await decoder.read([vocabulary.languages.get(spoken) ?? endOfText, transcribe]);

  const tokens: number[] = [];
  let sum = 0;
  let isLooping = false;
  while (tokens.length < MAX_WRITTEN) {
    applyTokenRules(scores, tokens, vocabulary);
    const { id, logProbability } = pickToken(scores, temperature, temperature === 0 ? 0 : random());
    sum += logProbability;
    if (id === endOfText) break;
    tokens.push(id);
    isLooping = endsInLoop(tokens);
    if (isLooping) break;
    scores = await decoder.read([id]);
  }
  return {
    tokens,
    textTokens: tokens.filter((id) => id < endOfText).length,
    isRepetitive: isLooping || compressionOf(textOf(vocabulary, tokens)) > MAX_COMPRESSION,
    logProbability: sum / (tokens.length + 1),
    noSpeech,
    language: spoken,
  };
}

function likeliestLanguage(scores: Float32Array, { languages }: Vocabulary): string {
  let best = "en";
  let highest = -Infinity;
  for (const [code, id] of languages) {
    const score = scores[id] ?? -Infinity;
    if (score <= highest) continue;
    highest = score;
    best = code;
  }
  return best;
}

// Whisper writes a text for every sound. With these limits, measured on silence, noise, hum, tones and music, it invents none.
/** Text that deflates better repeats itself. */
export const MAX_COMPRESSION = 2.4;
/** Below this mean log probability another temperature is tried. */
const SURE_LOG_PROBABILITY = -1;
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
export const isInvented = ({ noSpeech, isRepetitive, logProbability }: Attempt): boolean =>
  noSpeech > NO_SPEECH && (isRepetitive || logProbability < SURE_LOG_PROBABILITY);

/** Whether an attempt needs no other. */
export const isSure = ({ isRepetitive, logProbability }: Attempt): boolean =>
  !isRepetitive && logProbability > SURE_LOG_PROBABILITY;

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

const isPeriodic = (tokens: readonly number[], period: number): boolean =>
  tokens.every((token, i) => i < period || token === tokens[i - period]);

export interface Pick {
  readonly id: number;
  /** Natural logarithm of its share, whatever the temperature. */
  readonly logProbability: number;
}

/**
 * The highest score at temperature 0; above it one is drawn, the likelier the higher and the lower the temperature.
 * @param random from 0 to 1, drawn for this token.
 */
export function pickToken(scores: Float32Array, temperature: number, random: number): Pick {
  let id = scores.indexOf(highest(scores));
  if (temperature > 0) {
    const all = logSum(scores, 0, temperature);
    let left = random;
    const drawn = scores.findIndex((score) => (left -= Math.exp(score / temperature - all)) < 0);
    // Rounded sums may end a little below 1.
    if (drawn >= 0) id = drawn;
  }
  return { id, logProbability: (scores[id] ?? 0) - logSum(scores) };
}

/** The share of one token, from 0 to 1. */
export const probabilityOf = (scores: Float32Array, id: number): number =>
  Math.exp((scores[id] ?? -Infinity) - logSum(scores));

/**
 * Numbers from 0 to 1, the same ones for the same seed: a recording is transcribed the same again.
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

/** The first time of a window is at most 1 s after its start. In steps of time. */
const MAX_FIRST_TIME = 50;

/**
 * Forbids, in place, what may not follow `written`: a text stands between two times, times do not go back and open and
 * close in pairs, a window begins with a time, and where the times together are likelier than any text, a time is due.
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

function highest(scores: Float32Array, from = 0, to = scores.length): number {
  let best = -Infinity;
  for (let i = from; i < to; i++) best = Math.max(best, scores[i] ?? -Infinity);
  return best;
}

/** Logarithm of the sum of e^(score / temperature), of the scores from there on. */
function logSum(scores: Float32Array, from = 0, temperature = 1): number {
  const best = highest(scores, from);
  if (best === -Infinity) return best;
  let sum = 0;
  for (let i = from; i < scores.length; i++) sum += Math.exp(((scores[i] ?? -Infinity) - best) / temperature);
  return best / temperature + Math.log(sum);
}
