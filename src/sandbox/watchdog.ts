import { constants, setPriority } from "node:os";
import { Worker } from "node:worker_threads";

/** Limits of one piece of work. */
export interface WorkLimits {
  /** Processor time, not time passed: a machine that sleeps or is busy elsewhere ends nothing. */
  readonly maxWorkingMs: number;
  /** Resident memory of the whole process. */
  readonly maxResidentBytes: number;
}

/** Written to stderr by the watchdog before it ends its process. */
export type WatchdogVerdict = "watchdog: memory" | "watchdog: time" | "watchdog: orphan";

/** The limit for which a watchdog ended its process, by what the process wrote to standard error. */
export function passedLimit(printed: string): "memory" | "time" | undefined {
  return (["memory", "time"] as const).find((limit) =>
    printed.includes(`watchdog: ${limit}` satisfies WatchdogVerdict),
  );
}

/** Shared with the thread: the number of the piece of work under way, or `IDLE`. */
export interface WatchdogData {
  readonly work: Int32Array<SharedArrayBuffer>;
  readonly limits: WorkLimits;
}

export const IDLE = 0;

/** Ends this process, with a `WatchdogVerdict`, when a piece of work passes a limit or its parent is gone. */
export class Watchdog {
  readonly #work = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #begun = 0;

  constructor(limits: WorkLimits) {
    const thread = new Worker(new URL("./watchdog-thread.js", import.meta.url), {
      workerData: { work: this.#work, limits } satisfies WatchdogData,
    });
    thread.unref();
  }

  /** A piece of work begins, and its processor time counts from here. */
  begin(): void {
    this.#begun += 1;
    this.#publish(this.#begun);
  }

  end(): void {
    this.#publish(IDLE);
  }

  #publish(work: number): void {
    Atomics.store(this.#work, 0, work);
    Atomics.notify(this.#work, 0);
  }
}

/** Gives a process less priority than the daemon, which answers requests meanwhile. */
export function lowerPriority(pid: number = process.pid): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Some systems refuse it.
  }
}

const TICK_MS = 250;

/** Measures waiting time without the time that the machine sleeps: a longer gap between two ticks is sleep. */
export class WorkClock {
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #worked = 0;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Begins to count, or goes on, up to `limitMs` in all. */
  start(limitMs: number): void {
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#worked += Math.min(now - last, 2 * TICK_MS);
      last = now;
      if (this.#worked > limitMs) this.#onEnd();
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
