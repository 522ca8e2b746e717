/** Sound out of recordings: the port that reads audio and video files. */
import type { SpooledFile } from "./extraction.ts";
import type { Pcm } from "./transcription.ts";

export interface RecordingInput {
  readonly bytes: SpooledFile;
  /** As `ExtractionInput.claimedType`. */
  readonly claimedType?: string;
  readonly filename?: string;
}

export interface DecodingOptions {
  /** Ends the work at once; what waits for it is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Bounds of one recording. What passes one is refused with TOO_LARGE, in a message that names the setting. */
export interface DecodingLimits {
  /** Of sound, by the file's own account or as it turns out. */
  readonly maxSeconds: number;
  /**
   * Time spent waiting for the decoder, less the duration of what it gave: a machine that sleeps, and a reader that takes
   * its time, fail no recording.
   */
  readonly maxWorkingMs: number;
}

/** A recording that is open. What it says of itself is cleaned and cut to 1 000 characters, but not to be trusted. */
export interface Recording extends AsyncDisposable {
  readonly kind: "audio" | "video";
  /** Of the container found in the bytes. */
  readonly mediaType: string;
  /** What reads it: "ffmpeg", "ffmpeg-wasm" or "wav". */
  readonly decoder: string;
  readonly title?: string;
  readonly author?: string;
  /** By its own account, which may be an estimate; absent where it gives none. */
  readonly durationMs?: number;
  /** In the order of the file; none for a video without sound. */
  readonly soundTracks: readonly SoundTrack[];
  readonly subtitles: readonly SubtitleTrack[];
  /**
   * The sound of one of its tracks; for one reader, once. Decoded only as fast as it is taken; leaving early ends it.
   *
   * @throws {ServiceError} while read: UNPROCESSABLE: damaged, or cut off before its own end. TOO_LARGE: see
   *   `DecodingLimits`.
   */
  sound(track: SoundTrack): Pcm;
  /**
   * One of its tracks as WebVTT: foreign text of any size up to a bound, for a `TextExtractor` to read.
   *
   * @throws {ServiceError} as `sound`.
   */
  readSubtitles(track: SubtitleTrack): Promise<Uint8Array>;
}

export interface SoundTrack {
  /** Among the file's sound tracks, from 0. */
  readonly index: number;
  /** A BCP 47 tag. */
  readonly language?: string;
  /** By the file's own account what players begin with; any number of tracks may say so. */
  readonly isDefault: boolean;
}

/** Subtitles as text; those that are pictures are left out. */
export interface SubtitleTrack {
  /** Among the file's subtitle tracks, pictures too, from 0. */
  readonly index: number;
  /** A BCP 47 tag. */
  readonly language?: string;
}

/** Reads recordings of unknown origin. Whatever a file holds, it ends in sound or in an error, and the next is not touched. */
export interface AudioDecoder {
  /**
   * True for audio and video of a kind that is read, by its first bytes.
   *
   * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE: bytes that are not what was claimed, where one of the two is a recording.
   *   NOT_FOUND: the file is gone.
   */
  recognises(input: RecordingInput): Promise<boolean>;
  /**
   * Opens what was recognised; it holds a process until it is disposed of.
   *
   * @throws {ServiceError} UNPROCESSABLE: damaged, or no recording after all. UNSUPPORTED_MEDIA_TYPE: nothing here decodes
   *   it (the message says what to install). TOO_LARGE. NOT_READY: after `close`.
   */
  open(input: RecordingInput, options?: DecodingOptions): Promise<Recording>;
  /** Ends what runs; then nothing of it is left. */
  close(): Promise<void>;
}
