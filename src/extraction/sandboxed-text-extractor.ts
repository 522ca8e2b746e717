import { type FileHandle, open } from "node:fs/promises";
import { notFound, notReady, tooLarge } from "../core/errors.ts";
import {
  SMALL_DOCUMENT_BYTES,
  type CutDocument,
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
  const limits: ExtractionLimits = { ...FIXED_LIMITS, ...options.limits };
  const file = options.workerFile ?? builtFile("extraction/extraction-worker.js");
  const closing = new AbortController();
  const newQueue = () =>
    new ProcessQueue({
      start: (walls) => startExtractionProcess(file, limits, walls),
      jobsPerProcess: JOBS_PER_PROCESS,
      idleMs: IDLE_MS,
    });
  // Each has a process of its own, so that a note does not wait for a book.
  const small = newQueue();
  const large = newQueue();

  async function read(document: SentDocument, wishes: ExtractionOptions): Promise<CutDocument> {
    const { byteCount } = document;
    if (byteCount > limits.maxBytes) {
      throw tooLarge(
        `The document has ${byteCount} bytes; the limit is ${limits.maxBytes}. Send it in parts, or raise --max-upload-bytes.`,
      );
    }
    const { signal = closing.signal, user } = wishes;
    const all = AbortSignal.any([closing.signal, signal]);
    const queue = byteCount <= SMALL_DOCUMENT_BYTES ? small : large;
    const job = (process: ExtractionProcess) =>
      readInProcess(process, document, limits, { ...wishes, signal: all });
    return await queue.run(job, all, user);
  }

  return {
    async extract({ bytes, ...claims }: ExtractionInput, wishes: ExtractionOptions = {}) {
      closing.signal.throwIfAborted();
      wishes.signal?.throwIfAborted();
      if (bytes instanceof Uint8Array)
        return await read({ claims, byteCount: bytes.length, pieces: piecesOf(bytes) }, wishes);
      await using original = await openOriginal(bytes.path);
      const pieces = original.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false });
      return await read({ claims, byteCount: (await original.stat()).size, pieces }, wishes);
    },
    checkClaim,
    async close() {
      closing.abort(notReady("The document reader is closed."));
      await Promise.all([small.close(), large.close()]);
    },
  };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Opens a file to be read that was sent or fetched before. @throws {ServiceError} NOT_FOUND where it is gone. */
export async function openOriginal(path: string): Promise<FileHandle> {
  return await open(path, "r").catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw notFound("The file is not on the disk any more. Send it again.", { cause });
  });
}
