import { millisecondsOf, PCM_RATE, type Pcm, type Segment } from "../../core/documents/transcription.ts";
import { cutSegments } from "./cut-segments.ts";
import { type TranscribingOptions, transcribeWindow, type WindowDecoder } from "./transcribe-window.ts";
import { randomNumbers } from "./sampling.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { Window, type WindowSegment } from "./window.ts";

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
