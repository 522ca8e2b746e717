import { applyTokenRules, pickToken, probabilityOf } from "./sampling.ts";
import { textOf, type Vocabulary } from "./vocabulary.ts";
import { deflateSync } from "node:zlib";

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
    if (!attempt.isRepetitive && (best === undefined || attempt.logProbability > best.logProbability)) {
      best = attempt;
    }
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
