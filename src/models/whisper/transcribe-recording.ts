import { millisecondsOf, type Pcm, PCM_RATE, type Segment } from "../../core/documents/audio-decoder.ts";
import { transcribeWindow, randomNumbers } from "./transcribe-window.ts";
import type { TranscribingOptions, WindowDecoder } from "./transcribe-window.ts";
import { textOf, type Vocabulary } from "./vocabulary.ts";

/** The input of one run of Whisper: 30 s. */
export const WINDOW_SAMPLES = 30 * PCM_RATE;
/** A step of Whisper's times: 20 ms. */
export const TIME_STEP_SAMPLES = PCM_RATE / 50;

/** The text of a part of a window, in samples from its start. */
export type WindowSegment = { readonly from: number; readonly to: number; readonly text: string };

/** Root mean square below which a step is quiet: about -60 dBFS. */
const QUIET = 0.001;
/** Kept before what is loud: the soft beginning of a word. */
const LEAD_STEPS = 10;

/** A stretch of a recording that is read in pieces, moved on from beginning to end. Holds 30 s, whatever the length. */
export class Window {
  /** The sound, and silence after it: always 30 s. From -1 to 1. */
  readonly padded = new Float32Array(WINDOW_SAMPLES);
  readonly #pieces: AsyncIterator<Int16Array>;
  #piece = new Int16Array(0);
  #start = 0;
  #length = 0;
  #isEnded = false;

  constructor(audio: AsyncIterable<Int16Array>) {
    this.#pieces = audio[Symbol.asyncIterator]();
  }

  /** Its begin in the recording, in samples. */
  get start(): number {
    return this.#start;
  }

  /** Samples of sound in it; fewer than 30 s only at the end of the recording. */
  get length(): number {
    return this.#length;
  }

  /** Reads sound until it is full. */
  async fill(): Promise<void> {
    while (!this.#isEnded && this.#length < WINDOW_SAMPLES) {
      if (this.#piece.length === 0) {
        const next = await this.#pieces.next();
        if (next.done === true) this.#isEnded = true;
        else this.#piece = next.value as Int16Array<ArrayBuffer>;
      }
      const taken = this.#piece.subarray(0, WINDOW_SAMPLES - this.#length);
      for (let i = 0; i < taken.length; i++) this.padded[this.#length + i] = (taken[i] ?? 0) / 32_768;
      this.#length += taken.length;
      this.#piece = this.#piece.subarray(taken.length);
    }
  }

  /** Moves on by as many samples, at most all of them. */
  advance(samples: number): void {
    const count = Math.min(samples, this.#length);
    this.padded.copyWithin(0, count, this.#length);
    this.#length -= count;
    this.#start += count;
    this.padded.fill(0, this.#length);
  }

  /** Samples at its beginning that hold no sound. */
  get quietLength(): number {
    for (let at = 0; at < this.#length; at += TIME_STEP_SAMPLES) {
      if (this.isLoud(at, at + TIME_STEP_SAMPLES)) return Math.max(0, at - LEAD_STEPS * TIME_STEP_SAMPLES);
    }
    // The beginning of a word may be the end of this.
    return this.#isEnded ? this.#length : Math.max(0, this.#length - LEAD_STEPS * TIME_STEP_SAMPLES);
  }

  /** Whether any step from one sample to another is louder than quiet. */
  isLoud(from: number, to: number): boolean {
    for (let at = from; at < to; at += TIME_STEP_SAMPLES) {
      let sum = 0;
      for (let i = at; i < at + TIME_STEP_SAMPLES; i++) sum += (this.padded[i] ?? 0) ** 2;
      if (Math.sqrt(sum / TIME_STEP_SAMPLES) > QUIET) return true;
    }
    return false;
  }
}

export interface Whisper {
  readonly vocabulary: Vocabulary;
  /** Encodes 30 s of sound; the decoder is valid until the next call. */
  encode(sound: Float32Array): Promise<WindowDecoder>;
}

/** A further part of a recording, transcribed. */
export interface TranscribedPart {
  readonly segments: readonly Segment[];
  /** Transcribed so far, from the start. */
  readonly transcribedMs: number;
  /** Whisper's code; undefined until there was speech. */
  readonly language: string | undefined;
}

/** A shorter rest at the end is no word. */
const LEAST_SAMPLES = PCM_RATE / 10;

/**
 * Transcribes a recording window by window, each beginning where the last one's text ended. The first window with speech
 * settles the language, if it is not given. The last part reaches to the end.
 */
export async function* transcribeRecording(
  whisper: Whisper,
  audio: Pcm,
  given: string | undefined,
): AsyncGenerator<TranscribedPart> {
  const window = new Window(audio);
  let language = given;
  const part = (segments: readonly Segment[]): TranscribedPart => ({
    segments,
    transcribedMs: millisecondsOf(window.start),
    language,
  });

  for (;;) {
    await window.fill();
    const quiet = window.quietLength;
    if (quiet > 0) {
      window.advance(quiet);
      yield part([]);
      await window.fill();
      if (window.length > 0 && window.quietLength > 0) continue;
    }
    if (window.length < LEAST_SAMPLES) {
      window.advance(window.length);
      yield part([]);
      return;
    }

    const decoder = await whisper.encode(window.padded);
    const options: TranscribingOptions = { language, random: randomNumbers(window.start) };
    const transcribed = await transcribeWindow(decoder, whisper.vocabulary, options);
    language ??= transcribed?.language;
    const { segments, next } =
      transcribed === undefined
        ? { segments: [], next: window.length }
        : cutSegments(transcribed.tokens, window.length, whisper.vocabulary);
    const placed = segments
      // A quiet stretch holds no speech.
      .filter(({ from, to }) => window.isLoud(from, to))
      .map((segment) => placedAt(window.start, segment));
    window.advance(next);
    yield part(placed);
  }
}

function placedAt(start: number, { from, to, text }: WindowSegment): Segment {
  return { startMs: millisecondsOf(start + from), endMs: millisecondsOf(start + to), text };
}

interface CutWindow {
  /** In order, not overlapping, within the window; none without text. */
  readonly segments: readonly WindowSegment[];
  /** Begin of the next window, in samples of this one: the end of the last complete segment. */
  readonly next: number;
}

/**
 * Cuts the tokens at their times. Text without a closing time reaches to the window's end. Whisper always transcribes 30 s:
 * text that begins a second or more after the sound has ended is dropped.
 * @param length samples of sound in the window, above 0.
 */
export function cutSegments(tokens: readonly number[], length: number, vocabulary: Vocabulary): CutWindow {
  const { firstTime } = vocabulary;
  const found: { readonly from: number; readonly to: number; readonly ids: number[] }[] = [];
  let ids: number[] = [];
  let from = 0;
  let last = 0;
  for (const id of tokens) {
    if (id < firstTime) {
      ids.push(id);
      continue;
    }
    last = (id - firstTime) * TIME_STEP_SAMPLES;
    if (ids.length > 0) found.push({ from, to: last, ids });
    ids = [];
    from = last;
  }
  const isOpen = ids.length > 0;
  if (isOpen) found.push({ from, to: length, ids });

  const segments: WindowSegment[] = [];
  for (const piece of found) {
    const text = textOf(vocabulary, piece.ids);
    if (text !== "") place(segments, { ...piece, text }, length);
  }
  // Two times at the end: something begins there that this window does not hold whole.
  const isCut = (tokens.at(-1) ?? 0) >= firstTime && (tokens.at(-2) ?? 0) >= firstTime;
  return { segments, next: !isOpen && isCut && last > 0 ? clamp(last, LEAST_STEP, length) : length };
}

/** Half a second, so that every window moves on. */
const LEAST_STEP = 25 * TIME_STEP_SAMPLES;
/** The precision of times. */
const LATE = 50 * TIME_STEP_SAMPLES;

/** Adds it after the others; text without time of its own belongs to the segment before. */
function place(segments: WindowSegment[], { from, to, text }: WindowSegment, length: number): void {
  const before = segments.at(-1);
  if (from >= length + LATE) return;
  const start = Math.max(before?.to ?? 0, Math.min(from, length));
  const end = Math.min(to, length);
  if (end > start) segments.push({ from: start, to: end, text });
  else if (before === undefined) segments.push({ from: 0, to: length, text });
  else segments[segments.length - 1] = { ...before, text: `${before.text} ${text}` };
}

const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);
