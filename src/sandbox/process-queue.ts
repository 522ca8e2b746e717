import { standingWalls, type Walls } from "./walls.ts";

/** A process that does one job after the other. */
export interface WorkProcess {
  /** False once it has ended or is about to. */
  readonly isUsable: boolean;
  /** Jobs begun. */
  readonly count: number;
  /** Ends it at once; what it runs is rejected. */
  kill(): void;
  /** Resolves when it is gone. */
  ended(): Promise<void>;
}

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
  /** Settles when the job before has ended. */
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
   *
   * @param owner of the job: no process does jobs of two owners.
   *
   * @throws the signal's reason, and whatever `start` or the job throws.
   */
  async run<T>(job: (process: P) => Promise<T>, signal: AbortSignal, owner?: string): Promise<T> {
    signal.throwIfAborted();
    const before = this.#turn;
    let endTurn: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => {
      endTurn = resolve;
    });
    this.#turn = before.then(() => mine);
    try {
      await unlessAborted(before, signal);
      const walls = await standingWalls();
      signal.throwIfAborted();
      return await this.#runNow(job, walls, owner);
    } finally {
      endTurn();
    }
  }

  /** Ends the processes; resolves when they are gone. Waiting jobs end by their signal only. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    for (const process of this.#living) process.kill();
    await Promise.all(Array.from(this.#living, (process) => process.ended()));
  }

  async #runNow<T>(
    job: (process: P) => Promise<T>,
    walls: Walls | undefined,
    owner: string | undefined,
  ): Promise<T> {
    clearTimeout(this.#idle);
    const process = this.#usableProcess(walls, owner);
    try {
      return await job(process);
    } finally {
      this.#idle = setTimeout(() => process.kill(), this.#options.idleMs);
      this.#idle.unref();
    }
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
