/**
 * The process that parses foreign bytes and cuts their text: no files but the program's own, no child processes, no native
 * addons, no environment, and no network where the system has walls. Its only client is `readInProcess`.
 */
import { cutDocument } from "../core/documents/cut-speech.ts";
import { ServiceError } from "../core/errors.ts";
import { lowerPriority, Watchdog } from "../sandbox/watchdog.ts";
import { extractDocument } from "./extract-document.ts";
import type { FromWorker, ToWorker } from "./sandboxed-text-extractor.ts";

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
    const onProgress = (done: number, total: number) => send({ type: "progress", done, total });
    const document = cutDocument(await extractDocument(bytes, claims, limits, onProgress));
    send({ type: "done", document });
  } catch (error) {
    send({ type: "failed", ...failureOf(error) });
  } finally {
    watchdog.end();
  }
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
