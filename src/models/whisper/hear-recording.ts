import { millisecondsOf, PCM_RATE, type Pcm, type Segment } from "../../core/documents/transcription.ts";
import { cutSegments } from "./cut-segments.ts";
import { type HearingOptions, hearWindow, type WindowDecoder } from "./hear-window.ts";
import { randomNumbers } from "./sampling.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { Window, type WindowSegment } from "./window.ts";

export interface Whisper {
  readonly vocabulary: Vocabulary;
  /** Takes in 30 s of sound; its decoder is good until the next. */
  listen(sound: Float32Array): Promise<WindowDecoder>;
}

/** A further part of a recording, heard. */
export interface HeardPart {
  readonly segments: readonly Segment[];
  /** From the start to where it has been heard. */
  readonly heardMs: number;
  /** Whisper's code; undefined until there was speech. */
  readonly language: string | undefined;
}

/** Less than this at the end is no word. */
const LEAST_SAMPLES = PCM_RATE / 10;

/**
 * Hears a recording window by window, each beginning where the last one's text ended. The first window with speech
 * settles the language, if it is not given. The last part has been heard to the end.
 */
export async function* hearRecording(
  whisper: Whisper,
  audio: Pcm,
  given: string | undefined,
): AsyncGenerator<HeardPart> {
  const window = new Window(audio);
  let language = given;
  const part = (segments: readonly Segment[]): HeardPart => ({
    segments,
    heardMs: millisecondsOf(window.start),
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

    const decoder = await whisper.listen(window.padded);
    const options: HearingOptions = { language, random: randomNumbers(window.start) };
    const heard = await hearWindow(decoder, whisper.vocabulary, options);
    language ??= heard?.language;
    const { segments, next } =
      heard === undefined
        ? { segments: [], next: window.length }
        : cutSegments(heard.tokens, window.length, whisper.vocabulary);
    const placed = segments
      // Nothing can be said where nothing is heard.
      .filter(({ from, to }) => window.isLoud(from, to))
      .map((segment) => placedAt(window.start, segment));
    window.advance(next);
    yield part(placed);
  }
}

function placedAt(start: number, { from, to, text }: WindowSegment): Segment {
  return { startMs: millisecondsOf(start + from), endMs: millisecondsOf(start + to), text };
}
