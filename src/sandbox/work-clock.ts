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
