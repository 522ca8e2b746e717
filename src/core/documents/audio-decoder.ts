/** Sound out of recordings: the port that reads audio and video files. */
import type { SpooledFile } from "./extraction.ts";
import type { Pcm } from "./transcription.ts";

export interface RecordingInput {
  readonly bytes: SpooledFile;
  /** See `ExtractionInput.claimedType`. */
  readonly claimedType?: string;
  readonly filename?: string;
}

export interface DecodingOptions {
  /** Ends the work at once; pending promises reject with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Bounds of one recording. A larger one is refused with TOO_LARGE, in a message that names the setting. */
export interface DecodingLimits {
  /** Duration of the sound, as the file claims or as it is decoded. */
  readonly maxSeconds: number;
  /**
   * Time spent waiting for the decoder, less the duration of the sound it gave: a machine that sleeps and a slow reader
   * fail no recording.
   */
  readonly maxWorkingMs: number;
}

/** An open recording. Its claims about itself are cleaned and cut to 1 000 characters, but not to be trusted. */
export interface Recording extends AsyncDisposable {
  readonly kind: "audio" | "video";
  /** The container found in the bytes. */
  readonly mediaType: string;
  /** "ffmpeg", "ffmpeg-wasm" or "wav". */
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
   *
   * @throws {ServiceError} while read: UNPROCESSABLE: damaged, or cut off before its end. TOO_LARGE: see
   *   `DecodingLimits`.
   */
  sound(track: SoundTrack): Pcm;
  /**
   * One track as WebVTT: foreign text of bounded size, for a `TextExtractor` to read.
   *
   * @throws {ServiceError} as `sound`.
   */
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
  /**
   * True for readable audio and video, judged by the first bytes.
   *
   * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE: the bytes and the claim differ, and one of the two is a recording.
   *   NOT_FOUND: the file is gone.
   */
  recognises(input: RecordingInput): Promise<boolean>;
  /**
   * Opens a recognised recording; it holds a process until it is disposed of.
   *
   * @throws {ServiceError} UNPROCESSABLE: damaged, or no recording. UNSUPPORTED_MEDIA_TYPE: nothing here decodes
   *   it (the message says what to install). TOO_LARGE. NOT_READY: after `close`.
   */
  open(input: RecordingInput, options?: DecodingOptions): Promise<Recording>;
  /** Ends running work and its processes. */
  close(): Promise<void>;
}
