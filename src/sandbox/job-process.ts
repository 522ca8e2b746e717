import type { ChildProcess, Serializable } from "node:child_process";
import { forkSandboxed, type Sandbox } from "./sandboxed-process.ts";
import { killGroup, type Walls, standingWalls } from "./walls.ts";

/** A process as the queue needs it. */
export type WorkProcess = Pick<JobProcess<Serializable, unknown>, "isUsable" | "count" | "kill" | "ended">;

export interface ProcessQueueOptions<P> {
  /** Called when there is work and no process for it. */
  readonly start: (walls: Walls | undefined) => P;
  /** A process is replaced after this many: libraries leave things behind. */
  readonly jobsPerProcess: number;
  /** How long a process lives on without work. */
  readonly idleMs: number;
}

/** Runs jobs in order, one at a time, in a process that starts with the first and is replaced when it is not usable. */
export class ProcessQueue<P extends WorkProcess> {
  readonly #options: ProcessQueueOptions<P>;
  readonly #living = new Set<P>();
  #current: P | undefined;
  #owner: string | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Resolves when the job before has ended; with nothing, or each would hold the answers of all before it. */
  #turn: Promise<void> = Promise.resolve();

  constructor(options: ProcessQueueOptions<P>) {
    this.#options = options;
  }

  /** The process that the next job would get; undefined while there is none. */
  get current(): P | undefined {
    return this.#current?.isUsable === true ? this.#current : undefined;
  }

  /**
   * Runs a job when its turn has come. The signal ends the waiting; a running job handles the signal itself.
   * @param owner of the job: no process does jobs of two owners.
   * @throws the signal's reason, and whatever `start` or the job throws.
   */
  async run<T>(job: (process: P) => Promise<T>, signal: AbortSignal, owner?: string): Promise<T> {
    signal.throwIfAborted();
    const before = this.#turn;
    const inTurn = async (): Promise<T> => {
      await unlessAborted(before, signal);
      const walls = await standingWalls();
      signal.throwIfAborted();
      clearTimeout(this.#idle);
      const process = this.#usableProcess(walls, owner);
      try {
        return await job(process);
      } finally {
        this.#idle = setTimeout(() => process.kill(), this.#options.idleMs).unref();
      }
    };
    const done = inTurn();
    this.#turn = Promise.allSettled([before, done]).then(() => undefined);
    return await done;
  }

  /** Ends the processes; resolves when they are gone. Waiting jobs end by their signal only. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    for (const process of this.#living) process.kill();
    await Promise.all(Array.from(this.#living, (process) => process.ended()));
  }

  #usableProcess(walls: Walls | undefined, owner: string | undefined): P {
    const { current } = this;
    if (current !== undefined && current.count < this.#options.jobsPerProcess && this.#owner === owner)
      return current;
    this.#current?.kill();
    this.#owner = owner;
    const process = this.#options.start(walls);
    this.#living.add(process);
    void process.ended().then(() => this.#living.delete(process));
    this.#current = process;
    return process;
  }
}

/** The promise's outcome, or a rejection with the signal's reason if that comes first. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

/** How a process ended that was not killed from here. */
export interface ProcessEnd {
  /** In words, such as "it ended with SIGKILL". */
  readonly cause: Error;
  /** The end of what it wrote to standard error, its watchdog and Node included. */
  readonly printed: string;
  /** Whether it ever sent a message. */
  readonly hasAnswered: boolean;
}

export interface JobProcessOptions {
  readonly sandbox: Sandbox;
  /** Undefined where the system offers none. */
  readonly walls: Walls | undefined;
  /** Its whole environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** The error for the job under way. */
  readonly explainEnd: (end: ProcessEnd) => unknown;
}

/** A job under way. Settling it again changes nothing. */
interface Job<T> {
  readonly resolve: (answer: T) => void;
  /** The process goes on: kill it where it is of no use any more. */
  readonly reject: (error: unknown) => void;
}

const PRINTED_CHARS = 4_096;

/** A process without rights that does one job after the other, over messages in both directions. */
export class JobProcess<Sent extends Serializable, Received> {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #job:
    | { readonly onMessage: (message: Received) => void; readonly reject: (error: unknown) => void }
    | undefined;
  #printed = "";
  #hasAnswered = false;
  #isUsable = true;
  #reason: unknown;
  #count = 0;

  /** @throws {Error} if the built worker is missing. */
  constructor({ sandbox, walls, env = {}, explainEnd }: JobProcessOptions) {
    const child = forkSandboxed(sandbox, walls, { env, stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child = child;
    child.on("message", (message) => {
      this.#hasAnswered = true;
      this.#job?.onMessage(message as Received);
    });
    child.stderr?.on("data", (data: Buffer) => {
      this.#printed = (this.#printed + data.toString("latin1")).slice(-PRINTED_CHARS);
    });
    this.#ended = new Promise((resolve) => {
      const end = (error?: Error) => {
        this.#isUsable = false;
        const cause = error ?? new Error(`it ended with ${child.signalCode ?? `code ${child.exitCode}`}`);
        this.#reason ??= explainEnd({ cause, printed: this.#printed, hasAnswered: this.#hasAnswered });
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

  /** False once it has ended or is about to. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Jobs begun. */
  get count(): number {
    return this.#count;
  }

  /**
   * Does one job; the one before must be over. The signal ends the process.
   * @param begin starts the job, and returns the handler of the process's messages until it is over.
   * @throws what the job was rejected with, what the process was killed for, or what its end is explained with.
   */
  async run<T>(begin: (job: Job<T>) => (message: Received) => void, signal?: AbortSignal): Promise<T> {
    this.#count += 1;
    const abort = () => this.kill(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#job = { onMessage: begin({ resolve, reject }), reject };
      });
    } finally {
      this.#job = undefined;
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

  /** Ends it at once. The running job is rejected with the first reason given; without one, when the process is gone. */
  kill(reason?: unknown): void {
    this.#reason ??= reason;
    this.#isUsable = false;
    killGroup(this.#child);
    if (this.#reason !== undefined) this.#job?.reject(this.#reason);
  }

  /** Resolves when it is gone. */
  ended(): Promise<void> {
    return this.#ended;
  }
}
