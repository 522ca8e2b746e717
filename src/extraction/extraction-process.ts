import { type ChildProcess, fork } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { ServiceError } from "../core/errors.ts";
import type {
  Chunk,
  CutDocument,
  ExtractionInput,
  ExtractionLimits,
  ExtractionOptions,
} from "../core/documents/extraction.ts";
import type { FromWorker, ToWorker } from "./extraction-messages.ts";
import { lowerPriority } from "../sandbox/lower-priority.ts";
import { sandboxArguments } from "../sandbox/sandbox-arguments.ts";

interface Job {
  readonly chunks: Chunk[];
  readonly onProgress: ExtractionOptions["onProgress"];
  readonly resolve: (document: CutDocument) => void;
  readonly reject: (error: unknown) => void;
}

/** The packages that parse. */
const PARSERS = [
  "pdfjs-dist",
  "mammoth",
  "@mozilla/readability",
  "linkedom",
  "htmlparser2",
  "marked",
  "chardet",
];

/** JavaScript objects may take this share of the memory; buffers and code take the rest. */
const HEAP_SHARE = 0.5;
const TICK_MS = 250;
/** A process that waits for something that never comes uses no processor: it has this many times as long. */
const STUCK_FACTOR = 4;
const STUCK_MS = 10_000;
const STDERR_CHARS = 4_096;

/** One process that reads documents, one after the other. After any failure it is of no use any more. */
export class ExtractionProcess {
  readonly #child: ChildProcess;
  readonly #limits: ExtractionLimits;
  readonly #ended: Promise<void>;
  #job: Job | undefined;
  #stderr = "";
  #isReady = false;
  #isUsable = true;
  #reason: unknown;
  #count = 0;

  /** @throws {Error} if the built worker is missing. */
  constructor(file: string, limits: ExtractionLimits) {
    if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first`);
    this.#limits = limits;
    // Node looks at every folder on the way to a link, and may not in there.
    const realFile = realpathSync.native(file);
    this.#child = fork(realFile, {
      execArgv: sandboxArguments({
        worker: realFile,
        heapBytes: limits.maxResidentBytes * HEAP_SHARE,
        packages: PARSERS,
      }),
      serialization: "advanced",
      env: {},
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    if (this.#child.pid !== undefined) lowerPriority(this.#child.pid);
    this.#child.on("message", (message: FromWorker) => this.#receive(message));
    this.#child.stderr?.on("data", (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString("latin1")).slice(-STDERR_CHARS);
    });
    this.#ended = new Promise((resolve) => {
      const end = (cause: Error | undefined) => {
        this.#isUsable = false;
        this.#fail(this.#reason ?? this.#explainEnd(cause));
        resolve();
      };
      this.#child.on("error", end);
      // Not "exit": what was written to stderr may come after it.
      this.#child.on("close", () => end(undefined));
    });
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Documents begun. */
  get count(): number {
    return this.#count;
  }

  /** Reads one document; the one before must have ended. `pieces` are its bytes. */
  async run(
    claims: Omit<ExtractionInput, "bytes">,
    byteCount: number,
    pieces: AsyncIterable<Uint8Array>,
    { signal, onProgress }: ExtractionOptions,
  ): Promise<CutDocument> {
    this.#count += 1;
    const answer = new Promise<CutDocument>((resolve, reject) => {
      this.#job = { chunks: [], onProgress, resolve, reject };
    });
    const job = this.#job;
    const abort = () => this.kill(signal?.reason);
    signal?.addEventListener("abort", abort);
    const clock = this.#countWork();
    this.#feed(
      { type: "begin", claims, limits: this.#limits, byteCount },
      pieces,
      () => this.#job === job,
    ).catch((error: unknown) => this.kill(error));
    try {
      return await answer;
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      clearInterval(clock);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends it at once. What runs is rejected with `reason`. */
  kill(reason?: unknown): void {
    this.#reason ??= reason;
    this.#isUsable = false;
    this.#child.kill("SIGKILL");
  }

  /** Resolves when the process is gone. */
  ended(): Promise<void> {
    return this.#ended;
  }

  async #feed(
    begin: Extract<ToWorker, { type: "begin" }>,
    pieces: AsyncIterable<Uint8Array>,
    isWanted: () => boolean,
  ) {
    await this.#send(begin);
    let done = 0;
    for await (const piece of pieces) {
      if (!isWanted()) return;
      await this.#send({ type: "bytes", piece });
      done += piece.length;
      this.#job?.onProgress?.({ stage: "reading", done, total: begin.byteCount });
    }
    if (isWanted()) await this.#send({ type: "end" });
  }

  /** Resolves when the message has left this process, whether or not the other side lives. */
  #send(message: ToWorker): Promise<void> {
    return new Promise((resolve) => {
      // A process that has ended is reported by its end, which knows why.
      if (!this.#child.connected) resolve();
      else this.#child.send(message, () => resolve());
    });
  }

  #receive(message: FromWorker): void {
    const job = this.#job;
    if (message.type === "ready") this.#isReady = true;
    else if (job === undefined) return;
    else if (message.type === "progress")
      job.onProgress?.({ stage: "extracting", done: message.done, total: message.total });
    else if (message.type === "chunks") for (const chunk of message.chunks) job.chunks.push(chunk);
    else if (message.type === "failed") this.#fail(new ServiceError(message.code, message.message));
    else {
      this.#job = undefined;
      job.resolve({ ...message.document, chunks: job.chunks });
    }
  }

  #fail(error: unknown): void {
    const job = this.#job;
    this.#job = undefined;
    job?.reject(error);
  }

  /** Time this process was awake while the other worked: a longer gap between two ticks is sleep. */
  #countWork(): NodeJS.Timeout {
    let worked = 0;
    let last = performance.now();
    return setInterval(() => {
      const now = performance.now();
      worked += Math.min(now - last, 2 * TICK_MS);
      last = now;
      if (worked > this.#limits.maxWorkingMs * STUCK_FACTOR + STUCK_MS) this.kill(this.#tookTooLong());
    }, TICK_MS);
  }

  #explainEnd(cause: Error | undefined): ServiceError {
    if (this.#stderr.includes("watchdog: time")) return this.#tookTooLong();
    if (/watchdog: memory|heap out of memory|allocation failed/i.test(this.#stderr)) {
      return new ServiceError(
        "TOO_LARGE",
        `Reading the document takes more than ${this.#limits.maxResidentBytes} bytes of memory. Send it in parts.`,
      );
    }
    const { exitCode, signalCode } = this.#child;
    const end = cause ?? new Error(`it ended with ${signalCode ?? `code ${exitCode}`}`);
    // Before the first document its words are about the program.
    if (!this.#isReady) {
      const details = new Error(`${end.message}: ${this.#stderr.trim()}`);
      return new ServiceError("INTERNAL", "The process that reads documents does not start.", {
        cause: details,
      });
    }
    return new ServiceError(
      "UNPROCESSABLE",
      "The process that reads documents broke down at this one. It is damaged or hostile; save it anew.",
      { cause: end },
    );
  }

  #tookTooLong(): ServiceError {
    const message = `Reading the document takes more than ${this.#limits.maxWorkingMs} ms of work. Send it in parts, or raise --max-extraction-ms.`;
    return new ServiceError("TOO_LARGE", message);
  }
}
