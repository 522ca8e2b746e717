import { type FileHandle, open } from "node:fs/promises";
import { ServiceError } from "../core/errors.ts";
import {
  SMALL_DOCUMENT_BYTES,
  type CutDocument,
  type DocumentKind,
  type ExtractionInput,
  type ExtractionLimits,
  type ExtractionOptions,
  type TextExtractor,
} from "../core/documents/extraction.ts";
import { builtFile } from "../sandbox/sandboxed-process.ts";
import { ProcessQueue } from "../sandbox/process-queue.ts";
import { checkClaim } from "./document-kind.ts";
import {
  type ExtractionProcess,
  readInProcess,
  type SentDocument,
  startExtractionProcess,
} from "./extraction-process.ts";

/** Limits without a setting: no ordinary document needs more. */
const FIXED_LIMITS = {
  maxInflatedBytes: 200_000_000,
  maxResidentBytes: 1_000_000_000,
};

export interface ExtractorOptions {
  readonly limits: Omit<ExtractionLimits, keyof typeof FIXED_LIMITS> &
    Partial<Pick<ExtractionLimits, keyof typeof FIXED_LIMITS>>;
  /** A test's own worker, instead of the built one. */
  readonly workerFile?: string;
}

/** Documents per process: parsers leave things behind. */
const JOBS_PER_PROCESS = 50;
/** Time without work after which a process is ended. */
const IDLE_MS = 30_000;
const PIECE_BYTES = 1 << 20;

/**
 * Opens an extractor whose parsers run in processes of their own, without rights and within limits, started with the
 * first document: one for small documents, one for all others, and no process for the documents of two users.
 *
 * @throws {Error} if the built worker is missing; only when sources run without a build.
 */
export function openExtractor(options: ExtractorOptions): TextExtractor {
  return new SandboxedTextExtractor(
    { ...FIXED_LIMITS, ...options.limits },
    options.workerFile ?? builtFile("extraction/extraction-worker.js"),
  );
}

class SandboxedTextExtractor implements TextExtractor {
  readonly #limits: ExtractionLimits;
  readonly #closing = new AbortController();
  /** Each has a process of its own, so that a note does not wait for a book. */
  readonly #small: ProcessQueue<ExtractionProcess>;
  readonly #large: ProcessQueue<ExtractionProcess>;

  constructor(limits: ExtractionLimits, file: string) {
    this.#limits = limits;
    const newQueue = () =>
      new ProcessQueue({
        start: (walls) => startExtractionProcess(file, limits, walls),
        jobsPerProcess: JOBS_PER_PROCESS,
        idleMs: IDLE_MS,
      });
    this.#small = newQueue();
    this.#large = newQueue();
  }

  async extract(
    { bytes, ...claims }: ExtractionInput,
    options: ExtractionOptions = {},
  ): Promise<CutDocument> {
    const signals = [this.#closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const signal = AbortSignal.any(signals);
    signal.throwIfAborted();
    if (bytes instanceof Uint8Array) {
      const document = { claims, byteCount: bytes.length, pieces: piecesOf(bytes) };
      return await this.#read(document, { ...options, signal });
    }
    await using file = await openOriginal(bytes.path);
    const pieces = file.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false });
    const document = { claims, byteCount: (await file.stat()).size, pieces };
    return await this.#read(document, { ...options, signal });
  }

  checkClaim(claim: Pick<ExtractionInput, "claimedType" | "filename">, kind: DocumentKind): void {
    checkClaim(claim, kind);
  }

  async close(): Promise<void> {
    this.#closing.abort(new ServiceError("NOT_READY", "The document reader is closed."));
    await Promise.all([this.#small.close(), this.#large.close()]);
  }

  async #read(
    document: SentDocument,
    options: ExtractionOptions & { readonly signal: AbortSignal },
  ): Promise<CutDocument> {
    const { byteCount } = document;
    if (byteCount > this.#limits.maxBytes) {
      throw new ServiceError(
        "TOO_LARGE",
        `The document has ${byteCount} bytes; the limit is ${this.#limits.maxBytes}. Send it in parts, or raise --max-upload-bytes.`,
      );
    }
    const queue = byteCount <= SMALL_DOCUMENT_BYTES ? this.#small : this.#large;
    return await queue.run(
      (process) => readInProcess(process, document, this.#limits, options),
      options.signal,
      options.user,
    );
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Opens a file to be read that was sent or fetched before. @throws {ServiceError} NOT_FOUND where it is gone. */
export async function openOriginal(path: string): Promise<FileHandle> {
  return await open(path, "r").catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new ServiceError("NOT_FOUND", "The file is not on the disk any more. Send it again.", { cause });
  });
}
