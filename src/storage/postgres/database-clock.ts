import type { Clock } from "../../core/ports.ts";

/** A measurement older than this is replaced by one that may be less exact. */
const EXACT_FOR_MS = 60_000;

/** The time of the database, as far as answers of it tell: nodes whose own clocks are wrong agree by it. */
export class DatabaseClock implements Clock {
  /** Epoch milliseconds at 0 of the monotonic clock. */
  #base = performance.timeOrigin;
  #roundTripMs = Infinity;
  #measuredAt = -Infinity;

  now(): number {
    return Math.round(this.#base + performance.now());
  }

  /** Notes what the database said its time was, in answer to what was sent at `sentAt` of the monotonic clock. */
  note(databaseMs: number, sentAt: number): void {
    const now = performance.now();
    const roundTripMs = now - sentAt;
    if (roundTripMs > this.#roundTripMs && now - this.#measuredAt < EXACT_FOR_MS) return;
    this.#base = databaseMs - (sentAt + now) / 2;
    this.#roundTripMs = roundTripMs;
    this.#measuredAt = now;
  }
}
