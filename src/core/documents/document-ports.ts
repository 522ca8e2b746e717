import type { AudioDecoder } from "./audio-decoder.ts";
import type { TextExtractor } from "./extraction.ts";
import type { FileStore } from "./file-store.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Transcriber } from "./transcription.ts";
import type { UrlFetcher } from "./url-fetcher.ts";

/** What ingesting documents needs of the world. */
export interface DocumentPorts extends MemoryPorts {
  readonly files: FileStore;
  readonly extractor: Pick<TextExtractor, "extract" | "checkClaim">;
  readonly decoder: Pick<AudioDecoder, "recognises" | "open">;
  readonly transcriber: Pick<Transcriber, "transcribe">;
  readonly fetcher: UrlFetcher;
  /** Resolves after that time, or rejects with the signal's reason. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** How far a job is. */
export interface JobProgress {
  readonly stage:
    | "queued"
    | "fetching"
    | "reading"
    | "extracting"
    | "transcribing"
    | "embedding"
    | "storing"
    | "done";
  /**
   * Of `total`: bytes while fetching and reading, pages while extracting, seconds of sound while transcribing, memories
   * while embedding; 0 where unknown.
   */
  readonly done: number;
  readonly total: number;
}

/** Between a job that runs and whoever watches it. */
export interface JobControl {
  /** Aborted when the job is cancelled or the daemon stops; the reason is thrown. */
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Leaves the places for documents to others, and resolves when the job's turn among the recordings has come. */
  readonly queueForRecording: () => Promise<void>;
}
