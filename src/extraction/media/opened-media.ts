import type { Recording } from "../../core/documents/audio-decoder.ts";
import type { Pcm } from "../../core/documents/transcription.ts";
import type { MediaReport } from "./media-report.ts";

/** A recording as one of the decoders has it open. */
export interface OpenedMedia {
  readonly decoder: Recording["decoder"];
  readonly report: MediaReport;
  /** As `Recording.sound`. */
  sound(index: number): Pcm;
  /** A track as WebVTT. */
  subtitles(index: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
