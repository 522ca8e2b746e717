/** The port that transcribes recordings, and the text it gives. */

/** The text of a stretch of a recording. */
export interface Segment {
  /** From the start of the recording, in whole milliseconds; before `endMs`. */
  readonly startMs: number;
  readonly endMs: number;
  /** Never empty; no blank ends. */
  readonly text: string;
}

export interface Transcript {
  /** At least one; ordered by time, without overlap, none beyond the end of the recording. */
  readonly segments: readonly Segment[];
  /** The spoken language, given or detected: a BCP 47 primary tag such as "en". */
  readonly language: string;
  /** Duration of the transcribed audio, silence included. */
  readonly durationMs: number;
}

export interface TranscriptionOptions {
  /** A BCP 47 tag of which the primary part counts ("en-GB" is "en"), or the language's English name; detected if absent. */
  readonly language?: string;
  /** Ends the work within a second; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Receives the transcribed duration in milliseconds; it rises to the recording's duration. */
  readonly onProgress?: (transcribedMs: number) => void;
}

/** 16 kHz mono, signed 16-bit, in pieces of any size, in order. */
export type Pcm = AsyncIterable<Int16Array>;

/** Samples of `Pcm` per second. */
export const PCM_RATE = 16_000;

/** Duration of so many samples of `Pcm`, in whole milliseconds. */
export function millisecondsOf(samples: number): number {
  return Math.round((samples / PCM_RATE) * 1_000);
}

/** Transcribes recordings of unknown origin. Other sound than speech gives no text; no recording affects the next. */
export interface Transcriber {
  /**
   * Transcribes one recording. One at a time, in the order of asking; pieces are taken only as fast as it works, so memory does
   * not grow with length. `audio` is first asked for a piece when its turn comes, and is closed (`return`) when it is left
   * early; its own error is passed on. A piece is not read any more once the next is asked for.
   *
   * @throws {ServiceError} UNPROCESSABLE: no speech in it, or a language that is not known (the message lists those that
   *   are). MODEL_UNAVAILABLE: a file of the model is missing or damaged, or the model breaks down. NOT_READY: after
   *   `close`.
   */
  transcribe(audio: Pcm, options?: TranscriptionOptions): Promise<Transcript>;
  /** Refuses what waits, ends what runs; then nothing of it is left. */
  close(): Promise<void>;
}
