import type { AudioDecoder } from "./audio-decoder.ts";
import type { TextExtractor } from "./extraction.ts";
import type { FileStore } from "./file-store.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Transcriber } from "./transcription.ts";
import type { UrlFetcher } from "./url-fetcher.ts";

/** The ports that ingesting documents needs. */
export interface DocumentPorts extends MemoryPorts {
  readonly files: FileStore;
  readonly extractor: Pick<TextExtractor, "extract" | "checkClaim">;
  readonly decoder: Pick<AudioDecoder, "recognises" | "open">;
  readonly transcriber: Pick<Transcriber, "transcribe">;
  readonly fetcher: UrlFetcher;
  /** Resolves after that time, or rejects with the signal's reason. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Progress of a job. */
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

/** How the runner and a running job communicate. */
export interface JobControl {
  /** Aborted when the job is cancelled or the daemon stops; the reason is thrown. */
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Frees the job's place among the documents, and resolves at its turn among the recordings. */
  readonly queueForRecording: () => Promise<void>;
}
