import type { AudioDecoder, Transcriber } from "./audio-decoder.ts";
import type { ExtractionProgress, TextExtractor } from "./extraction.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Progress } from "../memory.ts";

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

/** Counts bytes, pages, seconds of sound or memories. */
export type JobProgress =
  | ExtractionProgress
  | Progress<"queued" | "fetching" | "transcribing" | "embedding" | "storing" | "done">;

/** How the runner and a running job communicate. */
export interface JobControl {
  /** Aborted when the job is cancelled or the daemon stops; the reason is thrown. */
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Frees the job's place among the documents, and resolves at its turn among the recordings. */
  readonly queueForRecording: () => Promise<void>;
}

/**
 * Keeps the originals of documents, by their SHA-256. The store removes a file that no row needs: at once where no document
 * ever had it, else when no checkpoint that the store may open at names it.
 */
export interface FileStore {
  /** Begins a file that comes in pieces; it does not count until `keep`. @throws as `IncomingFile.write`. */
  create(): Promise<IncomingFile>;
  /** Path of the file, for a reader that opens it. */
  pathOf(sha256: string): string;
  /** In bytes; undefined without such a file. */
  sizeOf(sha256: string): Promise<number | undefined>;
  /** Call it when a job is over: removes the file if no row needs it any more. */
  letGo(sha256: string): void;
  /** The bytes in pieces, after their SHA-256 was checked. @throws {ServiceError} NOT_FOUND, DAMAGED. */
  read(sha256: string): Promise<AsyncIterable<Uint8Array>>;
}

export interface IncomingFile {
  /** @throws {ServiceError} STORE_FULL; NOT_READY for other disk errors. */
  write(chunk: Uint8Array): Promise<void>;
  /** The file is durable when it resolves, and held until released, even if no row needs it. @throws as `write`. */
  keep(): Promise<HeldFile>;
  /** Removes the received bytes. Has no effect after `keep`. */
  discard(): Promise<void>;
}

export interface HeldFile {
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** From now on the file stays only while a row needs it. */
  release(): void;
}

/** Fetches web pages within limits, and only from permitted addresses. */
export interface UrlFetcher {
  /** Refuses without the network. @throws {ServiceError} INVALID_REQUEST; FORBIDDEN for a blocked target. */
  check(url: string, options?: Pick<FetchOptions, "publicOnly">): void;
  /**
   * Writes the body, decoded, into `sink` while it arrives; follows redirects, whose bodies are not written.
   * When it rejects, the sink may hold a part, to be discarded; no write runs once it has settled.
   * @throws as `check`, for redirects too; {ServiceError} FETCH_FAILED for what cannot be reached or answers
   *   badly, FETCH_TIMEOUT for what answers too slowly, TOO_LARGE; what the sink throws, and the signal's
   *   reason, as they are.
   */
  fetch(url: string, options: FetchOptions): Promise<FetchedPage>;
}

export interface FetchOptions {
  /** Each write is awaited before the next read, so that a slow disk slows the network down. */
  readonly sink: Pick<IncomingFile, "write">;
  readonly signal?: AbortSignal;
  /** Refuses targets on this machine and in private networks, whatever the settings allow. */
  readonly publicOnly?: boolean;
  /** Called for every piece that arrives. */
  readonly onProgress?: (progress: FetchProgress) => void;
}

/** In bytes on the network, compressed where the server compresses; of a `total` of 0 where the server names no length. */
export type FetchProgress = Pick<JobProgress, "done" | "total">;

/** A fetched page, as the server claims, which is to be checked. */
export interface FetchedPage {
  /** After redirects, normalised, without a fragment. May hold secrets in its query: not to be logged. */
  readonly url: string;
  /** `type/subtype` in lower case; null where missing or malformed. */
  readonly contentType: string | null;
  /** In lower case, as claimed by the header. */
  readonly charset: string | null;
  /** Without folders and control characters, at most 256 characters; null where nothing names the document. */
  readonly filename: string | null;
  /** Epoch milliseconds UTC, when the answer began. */
  readonly fetchedAt: number;
}
