import { millisecondsOf, type Pcm, PCM_RATE, type Segment } from "../../core/documents/audio-decoder.ts";
import { transcribeWindow, type TranscribingOptions, type WindowDecoder } from "./transcribe-window.ts";
import { randomNumbers } from "./sampling.ts";
import { textOf, type Vocabulary } from "./vocabulary.ts";
import { TIME_STEP_SAMPLES, Window, type WindowSegment } from "./window.ts";

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
 *
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

function clamp(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high);
}
