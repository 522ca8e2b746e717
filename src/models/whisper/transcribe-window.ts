import { pickToken, probabilityOf } from "./sampling.ts";
import {
  type Attempt,
  compressionOf,
  endsInLoop,
  isInvented,
  isSpeech,
  isSure,
  MAX_COMPRESSION,
} from "./speech-guards.ts";
import { applyTokenRules } from "./token-rules.ts";
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
