/** Sound out of recordings: the port that reads audio and video files. */
import type { DocumentClaims, SpooledFile } from "./extraction.ts";

export interface RecordingInput extends DocumentClaims {
  readonly bytes: SpooledFile;
}

export interface DecodingOptions {
  /** Ends the work at once; pending promises reject with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Bounds of one recording. A larger one is refused with TOO_LARGE, in a message that names the setting. */
export interface DecodingLimits {
  /** Duration of the sound, as the file claims or as it is decoded. */
  readonly maxSeconds: number;
  /** Time spent waiting for the decoder, less the duration of the sound it gave. */
  readonly maxWorkingMs: number;
}

/** An open recording. Its claims about itself are cleaned and cut to 1 000 characters, but not to be trusted. */
export interface Recording extends AsyncDisposable {
  readonly kind: "audio" | "video";
  /** The container found in the bytes. */
  readonly mediaType: string;
  /** "ffmpeg" or "ffmpeg-wasm". */
  readonly decoder: string;
  readonly title?: string;
  readonly author?: string;
  /** As the file claims, perhaps an estimate; absent where it claims none. */
  readonly durationMs?: number;
  /** In the order of the file; none for a video without sound. */
  readonly soundTracks: readonly SoundTrack[];
  readonly subtitles: readonly SubtitleTrack[];
  /**
   * The sound of one track; for one reader, once. Decoded only as fast as it is read; leaving early ends it.
   * @throws {ServiceError} while read: UNPROCESSABLE: damaged, or cut off before its end. TOO_LARGE: see
   *   `DecodingLimits`.
   */
  sound(track: SoundTrack): Pcm;
  /** One track as WebVTT, foreign text of bounded size. @throws {ServiceError} as `sound`. */
  readSubtitles(track: SubtitleTrack): Promise<Uint8Array>;
}

export interface SoundTrack {
  /** Place among the file's sound tracks, from 0. */
  readonly index: number;
  /** A BCP 47 tag. */
  readonly language?: string;
  /** Players begin with it, as the file claims; any number of tracks may claim it. */
  readonly isDefault: boolean;
}

/** Subtitles as text; picture subtitles are left out. */
export interface SubtitleTrack {
  /** Place among the file's subtitle tracks, picture subtitles included, from 0. */
  readonly index: number;
  /** A BCP 47 tag. */
  readonly language?: string;
}

/** Reads recordings of unknown origin. Any file ends in sound or in an error, and does not affect the next file. */
export interface AudioDecoder {
  /** True for readable audio and video. @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, NOT_FOUND. */
  recognises(input: RecordingInput): Promise<boolean>;
  /**
   * Opens a recognised recording; it holds a process until it is disposed of.
   * @throws {ServiceError} UNPROCESSABLE: damaged, or no recording. UNSUPPORTED_MEDIA_TYPE: nothing here decodes
   *   it (the message says what to install). TOO_LARGE. NOT_READY: after `close`.
   */
  open(input: RecordingInput, options?: DecodingOptions): Promise<Recording>;
  /** Ends running work and its processes. */
  close(): Promise<void>;
}

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
export const millisecondsOf = (samples: number): number => Math.round((samples / PCM_RATE) * 1_000);

/** Transcribes recordings of unknown origin. Other sound than speech gives no text; no recording affects the next. */
export interface Transcriber {
  /**
   * Transcribes one recording. One at a time, in the order of asking; pieces are taken only as fast as it works, so memory does
   * not grow with length. `audio` is first asked for a piece when its turn comes, and is closed (`return`) when it is left
   * early; its own error is passed on. A piece is not read any more once the next is asked for.
   * @throws {ServiceError} UNPROCESSABLE: no speech in it, or a language that is not known (the message lists those that
   *   are). MODEL_UNAVAILABLE: a file of the model is missing or damaged, or the model breaks down. NOT_READY: after
   *   `close`.
   */
  transcribe(audio: Pcm, options?: TranscriptionOptions): Promise<Transcript>;
  /** Refuses what waits, ends what runs; then nothing of it is left. */
  close(): Promise<void>;
}
