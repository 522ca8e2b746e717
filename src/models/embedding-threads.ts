import { Worker } from "node:worker_threads";
import { modelUnavailable, notReady, type ServiceError } from "../core/errors.ts";
import { builtFile } from "../sandbox/sandboxed-process.ts";
import type { EmbeddingModel } from "./bundled-models.ts";

export interface ThreadData {
  readonly model: EmbeddingModel;
  /** A thread before it found the model's files to be the expected ones: reading 77 MB again would take .1 s. */
  readonly isVerified: boolean;
  /** The pieces that a thread before it has read; it reads them itself if absent. */
  readonly pieceTable?: SharedArrayBuffer;
}

export interface EmbedRequest {
  /** `question`: all of the text, as far as the model can read. `window`: the first window of the text. */
  readonly kind: "question" | "window";
  readonly text: string;
  /** Whether the text ends where its memory ends. */
  readonly isWhole: boolean;
  /** Token vectors are given for what starts here or later; before it, the window before has given them. */
  readonly tokensFrom: number;
}

export interface EmbedAnswer {
  /** Unit length. */
  readonly vector: Float32Array<ArrayBuffer>;
  readonly tokens: Int8Array<ArrayBuffer>;
  /** Per token: the piece's id, and for a question the word it is a piece of. */
  readonly tokenIds: readonly number[];
  readonly words: readonly string[];
  /** False for a window in which there is nothing the model can read. */
  readonly hasPieces: boolean;
  /** Offset in the text at which the window ends and the next one starts. */
  readonly end: number;
  readonly next: number;
}

export type ToThread = { readonly type: "embed"; readonly request: EmbedRequest } | { readonly type: "stop" };

export type FromThread =
  /** With the pieces for later threads. */
  | { readonly type: "ready"; readonly pieceTable?: SharedArrayBuffer }
  | { readonly type: "embedded"; readonly answer: EmbedAnswer }
  /** The text could not be embedded; the thread goes on. */
  | { readonly type: "failed"; readonly reason: string };

/** Fits pino's loggers. */
export interface EmbedderLog {
  warn(details: object, phrase: string): void;
}

interface Task {
  readonly request: EmbedRequest;
  readonly resolve: (answer: EmbedAnswer) => void;
  readonly reject: (error: ServiceError) => void;
}

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  /** It is ending, for lack of work. */
  isLeaving: boolean;
  running: Task | undefined;
  /** Why it ended or is about to. */
  reason: string | undefined;
}

interface EmbeddingThreadsOptions {
  readonly log?: EmbedderLog;
  /** A test's own thread, instead of the built one. */
  readonly file?: string;
  /** After so long without work the threads end, with the memory that the model takes, and the next text starts one again. */
  readonly idleTimeoutMs?: number;
}

/** A text leaves little garbage; by default Node keeps 48 MB for it. */
const YOUNG_GENERATION_MB = 8;

/**
 * Threads that embed, started when there is work and no thread is free. Questions go before windows; each kind in the
 * order of asking. A thread that crashes is replaced, and its text is refused.
 */
export class EmbeddingThreads {
  readonly #max: number;
  readonly #model: EmbeddingModel;
  readonly #options: EmbeddingThreadsOptions;
  readonly #file: string;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Record<EmbedRequest["kind"], Task[]> = { question: [], window: [] };
  #idleTimer: NodeJS.Timeout | undefined;
  #isVerified = false;
  /** Kept while no thread is there: it is small, and takes long to read. */
  #pieceTable: SharedArrayBuffer | undefined;
  #isStopped = false;

  constructor(max: number, model: EmbeddingModel, options: EmbeddingThreadsOptions = {}) {
    this.#max = max;
    this.#model = model;
    this.#options = options;
    this.#file = options.file ?? builtFile("models/embedding-thread.js");
  }

  /** Threads alive, the starting ones too. */
  get count(): number {
    return this.#threads.size;
  }

  /** @throws {ServiceError} MODEL_UNAVAILABLE; NOT_READY once stopped. */
  run(request: EmbedRequest): Promise<EmbedAnswer> {
    // A text of several windows may ask for its next one after the stop.
    if (this.#isStopped) return Promise.reject(stopping());
    return new Promise((resolve, reject) => {
      this.#waiting[request.kind].push({ request, resolve, reject });
      this.#dispatch();
    });
  }

  /** Starts a thread where there is none. */
  wake(): void {
    if (!this.#isStopped && Array.from(this.#threads).every(({ isLeaving }) => isLeaving)) this.#start();
  }

  /** Ends the threads after their running texts; waiting and later ones are refused. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#idleTimer);
    this.#rejectWaiting(stopping());
    const ending = Array.from(this.#threads, (thread) => {
      post(thread, { type: "stop" });
      return new Promise((resolve) => thread.worker.once("exit", resolve));
    });
    await Promise.all(ending);
  }

  /** Gives work to free threads, or starts one; once nothing runs or waits, lets the threads end after a while. */
  #dispatch() {
    clearTimeout(this.#idleTimer);
    if (this.#isStopped) return;
    const { question, window } = this.#waiting;
    while (question.length + window.length > 0) {
      const threads = Array.from(this.#threads);
      const free = threads.find(isFree);
      const starting = threads.filter((thread) => !thread.isReady).length;
      if (free !== undefined) {
        free.running = question.shift() ?? window.shift();
        if (free.running !== undefined) post(free, { type: "embed", request: free.running.request });
      } else if (threads.length < this.#max && starting < question.length + window.length) this.#start();
      else return;
    }
    const { idleTimeoutMs } = this.#options;
    if (idleTimeoutMs === undefined || !Array.from(this.#threads).every(isFree)) return;
    this.#idleTimer = setTimeout(() => {
      for (const thread of this.#threads) {
        thread.isLeaving = true;
        post(thread, { type: "stop" });
      }
    }, idleTimeoutMs).unref();
  }

  #start() {
    const worker = new Worker(this.#file, {
      workerData: {
        model: this.#model,
        isVerified: this.#isVerified,
        ...(this.#pieceTable !== undefined && { pieceTable: this.#pieceTable }),
      } satisfies ThreadData,
      name: "embedding",
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    const thread: Thread = {
      worker,
      isReady: false,
      isLeaving: false,
      running: undefined,
      reason: undefined,
    };
    this.#threads.add(thread);
    worker.on("message", (message: FromThread) => this.#receive(thread, message));
    worker.on("error", (error) => (thread.reason = error instanceof Error ? error.message : String(error)));
    worker.on("exit", () => this.#forget(thread));
  }

  #receive(thread: Thread, message: FromThread) {
    const task = thread.running;
    switch (message.type) {
      case "ready":
        thread.isReady = true;
        this.#isVerified = true;
        this.#pieceTable ??= message.pieceTable;
        break;
      case "embedded":
        thread.running = undefined;
        task?.resolve(message.answer);
        break;
      case "failed":
        thread.running = undefined;
        task?.reject(modelUnavailable(`the text could not be embedded: ${message.reason}`));
        break;
    }
    this.#dispatch();
  }

  /** Handles the end of a thread. */
  #forget(thread: Thread) {
    this.#threads.delete(thread);
    const task = thread.running;
    if (this.#isStopped) {
      task?.reject(modelUnavailable("the embedding model ended while it was being stopped"));
      return;
    }
    const reason = thread.reason ?? "its thread ended";
    if (!thread.isLeaving)
      this.#options.log?.warn({ reason, wasReady: thread.isReady }, "embedding thread ended");
    task?.reject(modelUnavailable(`the embedding model failed on this text: ${reason}`));
    // Another start would fail the same way: waiting texts are left to threads that did start. The next call tries again.
    const hasReady = Array.from(this.#threads).some((other) => other.isReady);
    if (thread.isReady || hasReady) this.#dispatch();
    else this.#rejectWaiting(modelUnavailable(`the embedding model cannot be loaded: ${reason}`));
  }

  #rejectWaiting(error: ServiceError) {
    for (const tasks of Object.values(this.#waiting)) for (const task of tasks.splice(0)) task.reject(error);
  }
}

const post = ({ worker }: Thread, message: ToThread): void => worker.postMessage(message);

const isFree = ({ isReady, isLeaving, running }: Thread): boolean =>
  isReady && !isLeaving && running === undefined;

const stopping = (): ServiceError => notReady("the embedding model is being stopped");
