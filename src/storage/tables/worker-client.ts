import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { internal, notReady, type ServiceError } from "../../core/errors.ts";
import type { LanceTables } from "./lance-tables.ts";

/** Requests to the tables' thread. */
export interface TablesCalls extends LanceTables {
  open(...args: Parameters<typeof LanceTables.open>): Promise<unknown>;
}

export type Answer<K extends keyof TablesCalls> = Promise<Awaited<ReturnType<TablesCalls[K]>>>;

export type TablesRequest = {
  [K in keyof TablesCalls]: {
    readonly call: K;
    readonly id: number;
    readonly args: Parameters<TablesCalls[K]>;
  };
}[keyof TablesCalls];

export type TablesReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly message: string; readonly stack: string | undefined } };

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Rows pass through the thread and are gone: left to itself, its heap keeps 48 MB for what is young. */
const YOUNG_GENERATION_MB = 8;

/** The side of a thread that calls it. */
export interface Thread {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (reply: TablesReply) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "exit", listener: () => void): void;
}

/** Calls into the tables' thread. Calls run beside one another there; answers come in any order. */
export class TablesThread {
  /** Starts a thread by default. A test may serve the tables in its own thread, which saves loading LanceDB. */
  static start: () => Thread = () => startWorker(workerFile("tables/tables-worker.js"));

  readonly #worker: Thread;
  readonly #onFailure: (error: Error) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  readonly #running = new Set<Promise<unknown>>();
  #count = 0;
  #closing = false;
  #failure: Error | undefined;

  /** `onFailure` is told once that the thread ended unasked. */
  constructor(onFailure: (error: Error) => void = () => {}, start: () => Thread = TablesThread.start) {
    this.#onFailure = onFailure;
    this.#worker = start();
    this.#worker.on("message", (reply: TablesReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on("exit", () => {
        this.#fail(undefined);
        resolve();
      });
    });
  }

  /** Why calls are no longer answered, unless somebody closed the thread. */
  get failure(): Error | undefined {
    return this.#closing ? undefined : this.#failure;
  }

  /** Moves the buffers of `transfer`: they are empty here afterwards. */
  call<K extends keyof TablesCalls>(
    call: K,
    args: Parameters<TablesCalls[K]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Answer<K> {
    if (this.#closing || this.#failure !== undefined) return Promise.reject(this.#failure ?? closed());
    return this.#post(call, args, transfer);
  }

  /** Waits for what runs; then the thread is gone. */
  async close(): Promise<void> {
    if (!this.#closing && this.#failure === undefined) {
      this.#closing = true;
      await Promise.allSettled(this.#running);
      await this.#post("close", []).catch(() => undefined);
    }
    await this.#ended;
  }

  #post<K extends keyof TablesCalls>(
    call: K,
    args: Parameters<TablesCalls[K]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Answer<K> {
    this.#count += 1;
    const id = this.#count;
    const answer = new Promise<Awaited<Answer<K>>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ call, id, args }, transfer);
    });
    this.#running.add(answer);
    const forget = () => this.#running.delete(answer);
    answer.then(forget, forget);
    return answer;
  }

  #settle(reply: TablesReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (waiting === undefined) return;
    if ("result" in reply) {
      waiting.resolve(reply.result as never);
      return;
    }
    const cause = new Error(reply.error.message);
    if (reply.error.stack !== undefined) cause.stack = reply.error.stack;
    waiting.reject(internal(`the tables failed: ${reply.error.message}`, { cause }));
  }

  #fail(cause: Error | undefined): void {
    if (this.#failure === undefined) {
      this.#failure = this.#closing ? closed() : ended(cause);
      if (!this.#closing) this.#onFailure(this.#failure);
    }
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}

function closed(): ServiceError {
  return notReady("the tables are closed");
}

function ended(cause: Error | undefined): ServiceError {
  return notReady(
    `The thread that reads and writes the tables ended${cause === undefined ? "" : ` (${cause.message})`}. ` +
      "What was stored is safe; restart the daemon.",
    cause === undefined ? {} : { cause },
  );
}

export function startWorker(file: URL): Worker {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
  return new Worker(file, { name: "tables", resourceLimits });
}

/** The built worker of that path below `storage`, whichever built file asks; for sources as they are, too, which tests run. */
export function workerFile(path: string): URL {
  const built = new URL(import.meta.url.replace(/^(.*)\/(?:src|dist)\/.*/s, `$1/dist/storage/${path}`));
  if (!existsSync(built)) throw new Error(`${fileURLToPath(built)} is missing: run "npm run build" first`);
  return built;
}
