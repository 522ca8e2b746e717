/**
 * The process that parses foreign bytes and cuts their text: no files but the program's own, no child processes, no native
 * addons, no environment, and no network where the system has walls. Its only client is `readInProcess`.
 */
import { cutDocument } from "../core/documents/cut-speech.ts";
import type { Chunk } from "../core/documents/extraction.ts";
import { ServiceError } from "../core/errors.ts";
import { lowerPriority, Watchdog } from "../sandbox/watchdog.ts";
import { extractDocument } from "./extract-document.ts";
import type { FromWorker, ToWorker } from "./sandboxed-text-extractor.ts";

/** Text per message of chunks. */
const MESSAGE_CHARS = 131_072;
const PROGRESS_EVERY_MS = 100;

type Begin = Extract<ToWorker, { type: "begin" }>;

/** The limits are the same for every document of a process. */
let watchdog: Watchdog | undefined;
let begun: { readonly begin: Begin; readonly bytes: Uint8Array; filled: number } | undefined;

lowerPriority();
process.on("disconnect", () => process.exit());
process.on("message", (message: ToWorker) => {
  if (message.type === "begin")
    begun = { begin: message, bytes: new Uint8Array(message.byteCount), filled: 0 };
  else if (begun === undefined) throw new TypeError("no document was begun");
  else if (message.type === "bytes") {
    begun.bytes.set(message.piece, begun.filled);
    begun.filled += message.piece.length;
  } else {
    const { begin, bytes } = begun;
    begun = undefined;
    void work(begin, bytes);
  }
});
send({ type: "ready" });

async function work(begin: Begin, bytes: Uint8Array): Promise<void> {
  watchdog ??= new Watchdog(begin.limits);
  watchdog.begin();
  try {
    const { claims, limits } = begin;
    const { chunks, ...document } = cutDocument(
      await extractDocument(bytes, claims, limits, progressReporter()),
    );
    sendChunks(chunks);
    send({ type: "done", document });
  } catch (error) {
    send({ type: "failed", ...failureOf(error) });
  } finally {
    watchdog.end();
  }
}

function progressReporter() {
  let last = 0;
  return (done: number, total: number) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS && done < total) return;
    last = now;
    send({ type: "progress", done, total });
  };
}

function sendChunks(chunks: readonly Chunk[]): void {
  let part: Chunk[] = [];
  let chars = 0;
  for (const chunk of chunks) {
    part.push(chunk);
    chars += chunk.content.length;
    if (chars < MESSAGE_CHARS) continue;
    send({ type: "chunks", chunks: part });
    part = [];
    chars = 0;
  }
  if (part.length > 0) send({ type: "chunks", chunks: part });
}

/** A parser's own message may quote the document: only ours are passed on. */
function failureOf(error: unknown): Pick<ServiceError, "code" | "message"> {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  if (error instanceof RangeError && /allocation|array length|string length/i.test(error.message))
    return {
      code: "TOO_LARGE",
      message: "Reading the document takes more memory than there is for it. Send it in parts.",
    };
  return {
    code: "UNPROCESSABLE",
    message: "The document is damaged, or made in a way that cannot be read. Save it again.",
  };
}

function send(message: FromWorker): void {
  process.send?.(message);
}
