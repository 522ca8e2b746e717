import { type FileHandle, open } from "node:fs/promises";
import { notFound, notReady, tooLarge, internal, ServiceError, unprocessable } from "../core/errors.ts";
import type { ErrorCode } from "../core/errors.ts";
import {
  SMALL_DOCUMENT_BYTES,
  type CutDocument,
  type DocumentClaims,
  type ExtractionInput,
  type ExtractionLimits,
  type ExtractionOptions,
  type TextExtractor,
  type Chunk,
} from "../core/documents/extraction.ts";
import { builtFile } from "../sandbox/sandboxed-process.ts";
import { ProcessQueue, JobProcess, type ProcessEnd } from "../sandbox/job-process.ts";
import { checkClaim } from "./document-kind.ts";
import { passedLimit, WorkClock } from "../sandbox/watchdog.ts";

/** One document: `begin`, its bytes in pieces, `end`. The next begins when this one is `done` or `failed`. */
export type ToWorker =
  | {
      readonly type: "begin";
      readonly claims: DocumentClaims;
      readonly limits: ExtractionLimits;
      readonly byteCount: number;
    }
  | { readonly type: "bytes"; readonly piece: Uint8Array }
  | { readonly type: "end" };

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly done: number; readonly total: number }
  /** Chunks in order, a part of them each time, so that neither side handles a whole book at once. */
  | { readonly type: "chunks"; readonly chunks: readonly Chunk[] }
  | { readonly type: "done"; readonly document: Omit<CutDocument, "chunks"> }
  | { readonly type: "failed"; readonly code: ErrorCode; readonly message: string };

/** One process that reads documents, one after the other. */
type ExtractionProcess = JobProcess<ToWorker, FromWorker>;

/** A document's bytes as they come, and the sender's claims. */
interface SentDocument {
  readonly claims: DocumentClaims;
  readonly byteCount: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Packages that the worker imports. */
const PARSERS = [
  "pdfjs-dist",
  "mammoth",
  "@mozilla/readability",
  "linkedom",
  "htmlparser2",
  "marked",
  "chardet",
  "yauzl",
  "yaml",
  "postal-mime",
  "tesseract.js-core",
  "@tesseract.js-data/eng",
];

/** Share of the memory for JavaScript objects; buffers and code take the rest. */
const HEAP_SHARE = 0.5;
/** A process that hangs uses no processor time: it gets this many times as long. */
const STUCK_FACTOR = 4;
const STUCK_MS = 10_000;

/** Reads one document. After any failure the process is of no use any more. */
async function readInProcess(
  process: ExtractionProcess,
  document: SentDocument,
  limits: ExtractionLimits,
  { signal, onProgress }: ExtractionOptions,
): Promise<CutDocument> {
  const clock = new WorkClock(() => process.kill(tookTooLong(limits)));
  clock.start(limits.maxWorkingMs * STUCK_FACTOR + STUCK_MS);
  try {
    return await process.run<CutDocument>((job) => {
      feed(process, document, limits, onProgress).catch((error: unknown) => process.kill(error));
      const chunks: Chunk[] = [];
      return (message) => {
        if (message.type === "progress")
          onProgress?.({ stage: "extracting", done: message.done, total: message.total });
        else if (message.type === "chunks") for (const chunk of message.chunks) chunks.push(chunk);
        else if (message.type === "done") job.resolve({ ...message.document, chunks });
        else if (message.type === "failed") job.reject(new ServiceError(message.code, message.message));
      };
    }, signal);
  } catch (error) {
    process.kill();
    throw error;
  } finally {
    clock.stop();
  }
}

async function feed(
  process: ExtractionProcess,
  { claims, byteCount, pieces }: SentDocument,
  limits: ExtractionLimits,
  onProgress: ExtractionOptions["onProgress"],
): Promise<void> {
  await process.send({ type: "begin", claims, limits, byteCount });
  let done = 0;
  for await (const piece of pieces) {
    if (!process.isUsable) return;
    await process.send({ type: "bytes", piece });
    done += piece.length;
    if (process.isUsable) onProgress?.({ stage: "reading", done, total: byteCount });
  }
  await process.send({ type: "end" });
}

function explainEnd({ cause, printed, hasAnswered }: ProcessEnd, limits: ExtractionLimits): ServiceError {
  if (passedLimit(printed) === "time") return tookTooLong(limits);
  if (passedLimit(printed) === "memory" || /heap out of memory|allocation failed/i.test(printed))
    return tooLarge(
      `Reading the document takes more than ${limits.maxResidentBytes} bytes of memory. Send it in parts.`,
    );
  // Before the first document its output is about the program, not about a document.
  if (!hasAnswered) {
    const details = new Error(`${cause.message}: ${printed.trim()}`);
    return internal("The process that reads documents does not start.", { cause: details });
  }
  return unprocessable(
    "The process that reads documents failed on this one, which is damaged or hostile. Save it again.",
    { cause },
  );
}

const tookTooLong = ({ maxWorkingMs }: ExtractionLimits): ServiceError =>
  tooLarge(`Reading the document takes more than ${maxWorkingMs} ms of work. Send it in parts.`);

export interface ExtractorOptions {
  readonly limits: ExtractionLimits;
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
 * @throws {Error} if the built worker is missing; only when sources run without a build.
 */
export function openExtractor(options: ExtractorOptions): TextExtractor {
  const { limits } = options;
  const file = options.workerFile ?? builtFile("extraction/extraction-worker.js");
  const closing = new AbortController();
  const newQueue = () =>
    new ProcessQueue({
      start: (walls): ExtractionProcess =>
        new JobProcess({
          walls,
          sandbox: { worker: file, heapBytes: limits.maxResidentBytes * HEAP_SHARE, packages: PARSERS },
          explainEnd: (end) => explainEnd(end, limits),
        }),
      jobsPerProcess: JOBS_PER_PROCESS,
      idleMs: IDLE_MS,
    });
  // Each has a process of its own, so that a note does not wait for a book.
  const small = newQueue();
  const large = newQueue();

  async function read(document: SentDocument, wishes: ExtractionOptions): Promise<CutDocument> {
    const { byteCount } = document;
    if (byteCount > limits.maxBytes)
      throw tooLarge(
        `The document has ${byteCount} bytes; the limit is ${limits.maxBytes}. Send it in parts, or raise --max-upload-bytes.`,
      );
    const signal = AbortSignal.any([closing.signal, wishes.signal ?? closing.signal]);
    const queue = byteCount <= SMALL_DOCUMENT_BYTES ? small : large;
    return await queue.run(
      (process) => readInProcess(process, document, limits, { ...wishes, signal }),
      signal,
      wishes.user,
    );
  }

  return {
    async extract({ bytes, ...claims }: ExtractionInput, wishes: ExtractionOptions = {}) {
      closing.signal.throwIfAborted();
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
