import type { ChildProcess, Serializable } from "node:child_process";
import type { WorkProcess } from "./process-queue.ts";
import { forkSandboxed, type Sandbox } from "./sandboxed-process.ts";
import { killGroup, type Walls } from "./walls.ts";

/** How a process ended that was not ended from here. */
export interface ProcessEnd {
  /** What the system says, such as "it ended with SIGKILL". */
  readonly cause: Error;
  /** The last that it wrote to standard error: its own words, its watchdog's, or Node's. */
  readonly printed: string;
  /** False where it never sent a message. */
  readonly hasSpoken: boolean;
}

export interface JobProcessOptions {
  readonly sandbox: Sandbox;
  /** Undefined where the system offers none. */
  readonly walls: Walls | undefined;
  /** All that it gets of an environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Whether jobs `write` to its standard input. */
  readonly hasInput?: boolean;
  /** What the job under way is rejected with. */
  readonly explainEnd: (end: ProcessEnd) => unknown;
}

/** A job as whoever does it sees it. Settling it again changes nothing. */
export interface Job<T> {
  readonly resolve: (answer: T) => void;
  /** The process goes on: kill it where it is of no use any more. */
  readonly reject: (error: unknown) => void;
  readonly isOver: boolean;
  /** Resolves when it is over, however it ended. */
  readonly over: Promise<void>;
}

const PRINTED_CHARS = 4_096;

/** A process without rights that does one job after the other: sends messages of one kind, gets messages of the other. */
export class JobProcess<Sent extends Serializable, Received> implements WorkProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #job:
    | { readonly onMessage: (message: Received) => void; readonly reject: (error: unknown) => void }
    | undefined;
  #printed = "";
  #hasSpoken = false;
  #isUsable = true;
  #reason: unknown;
  #count = 0;

  /** @throws {Error} if the built worker is missing. */
  constructor({ sandbox, walls, env = {}, hasInput = false, explainEnd }: JobProcessOptions) {
    const input = hasInput ? "pipe" : "ignore";
    const child = forkSandboxed(sandbox, walls, { env, stdio: [input, "ignore", "pipe", "ipc"] });
    this.#child = child;
    child.on("message", (message) => {
      this.#hasSpoken = true;
      this.#job?.onMessage(message as Received);
    });
    child.stderr?.on("data", (data: Buffer) => {
      this.#printed = (this.#printed + data.toString("latin1")).slice(-PRINTED_CHARS);
    });
    // What cannot be written any more is explained by the end of the process.
    child.stdin?.on("error", () => undefined);
    this.#ended = new Promise((resolve) => {
      const end = (error?: Error) => {
        this.#isUsable = false;
        const cause = error ?? new Error(`it ended with ${child.signalCode ?? `code ${child.exitCode}`}`);
        this.#reason ??= explainEnd({ cause, printed: this.#printed, hasSpoken: this.#hasSpoken });
        this.#job?.reject(this.#reason);
        resolve();
      };
      child.on("error", end);
      // Not "exit": what was written to standard error may come after it.
      child.on("close", () => end());
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Does one job; the one before must be over. The signal ends the process.
   *
   * @param begin starts the job, and returns what takes the messages of the process until it is over.
   * @throws what the job was rejected with, what the process was killed for, or what its end is explained with.
   */
  async run<T>(begin: (job: Job<T>) => (message: Received) => void, signal?: AbortSignal): Promise<T> {
    this.#count += 1;
    const abort = () => this.kill(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      return await this.#answer(begin);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Resolves when the message has left this process, whether or not the other side lives. */
  send(message: Sent): Promise<void> {
    return new Promise((resolve) => {
      // A process that has ended is reported by its end, which knows why.
      if (!this.#child.connected) resolve();
      else this.#child.send(message, () => resolve());
    });
  }

  /** Resolves when the bytes have left this process, or never will. */
  write(bytes: Uint8Array): Promise<void> {
    const { stdin } = this.#child;
    if (stdin === null) throw new TypeError("the process was started without an input");
    return new Promise((resolve) => {
      stdin.write(bytes, () => resolve());
    });
  }

  /** Ends it at once. What runs is rejected with the first reason that was given, else when it is gone. */
  kill(reason?: unknown): void {
    this.#reason ??= reason;
    this.#isUsable = false;
    killGroup(this.#child);
    if (this.#reason !== undefined) this.#job?.reject(this.#reason);
  }

  ended(): Promise<void> {
    return this.#ended;
  }

  #answer<T>(begin: (job: Job<T>) => (message: Received) => void): Promise<T> {
    let isOver = false;
    let endJob: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (endJob = resolve));
    return new Promise<T>((resolve, reject) => {
      const settle = (how: () => void) => {
        if (isOver) return;
        isOver = true;
        this.#job = undefined;
        endJob();
        how();
      };
      const job: Job<T> = {
        over,
        get isOver() {
          return isOver;
        },
        resolve: (answer) => settle(() => resolve(answer)),
        reject: (error) => settle(() => reject(error)),
      };
      this.#job = { onMessage: begin(job), reject: job.reject };
    });
  }
}
