import type {
  Chunk,
  CutDocument,
  ExtractionInput,
  ExtractionLimits,
  ExtractionOptions,
} from "../core/documents/extraction.ts";
import { type ErrorCode, internal, ServiceError, tooLarge, unprocessable } from "../core/errors.ts";
import { type Job, JobProcess, type ProcessEnd } from "../sandbox/job-process.ts";
import type { Walls } from "../sandbox/walls.ts";
import { passedLimit } from "../sandbox/watchdog.ts";
import { WorkClock } from "../sandbox/work-clock.ts";

/** The sender's claims on a document. */
export type DocumentClaims = Omit<ExtractionInput, "bytes">;

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
export type ExtractionProcess = JobProcess<ToWorker, FromWorker>;

/** A document's bytes as they come, and the sender's claims. */
export interface SentDocument {
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

/** @throws {Error} if the built worker is missing. */
export function startExtractionProcess(
  worker: string,
  limits: ExtractionLimits,
  walls: Walls | undefined,
): ExtractionProcess {
  return new JobProcess({
    walls,
    sandbox: { worker, heapBytes: limits.maxResidentBytes * HEAP_SHARE, packages: PARSERS },
    explainEnd: (end) => explainEnd(end, limits),
  });
}

/** Reads one document. After any failure the process is of no use any more. */
export async function readInProcess(
  process: ExtractionProcess,
  document: SentDocument,
  limits: ExtractionLimits,
  { signal, onProgress }: ExtractionOptions,
): Promise<CutDocument> {
  const clock = new WorkClock(() => process.kill(tookTooLong(limits)));
  clock.start(limits.maxWorkingMs * STUCK_FACTOR + STUCK_MS);
  try {
    return await process.run<CutDocument>((job) => {
      feed(process, job, document, limits, onProgress).catch((error: unknown) => process.kill(error));
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
  job: Pick<Job<unknown>, "isOver">,
  { claims, byteCount, pieces }: SentDocument,
  limits: ExtractionLimits,
  onProgress: ExtractionOptions["onProgress"],
): Promise<void> {
  await process.send({ type: "begin", claims, limits, byteCount });
  let done = 0;
  for await (const piece of pieces) {
    if (job.isOver) return;
    await process.send({ type: "bytes", piece });
    done += piece.length;
    if (!job.isOver) onProgress?.({ stage: "reading", done, total: byteCount });
  }
  if (!job.isOver) await process.send({ type: "end" });
}

function explainEnd({ cause, printed, hasAnswered }: ProcessEnd, limits: ExtractionLimits): ServiceError {
  if (passedLimit(printed) === "time") return tookTooLong(limits);
  if (passedLimit(printed) === "memory" || /heap out of memory|allocation failed/i.test(printed)) {
    return tooLarge(
      `Reading the document takes more than ${limits.maxResidentBytes} bytes of memory. Send it in parts.`,
    );
  }
  // Before the first document its output is about the program, not about a document.
  if (!hasAnswered) {
    const details = new Error(`${cause.message}: ${printed.trim()}`);
    return internal("The process that reads documents does not start.", {
      cause: details,
    });
  }
  return unprocessable(
    "The process that reads documents failed on this one, which is damaged or hostile. Save it again.",
    { cause },
  );
}

function tookTooLong({ maxWorkingMs }: ExtractionLimits): ServiceError {
  const message = `Reading the document takes more than ${maxWorkingMs} ms of work. Send it in parts.`;
  return tooLarge(message);
}
