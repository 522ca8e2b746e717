import { keepLast } from "../core/at-once.ts";
import { ServiceError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";

export const ADDS_PER_HOUR = 200;
const HOUR_MS = 60 * 60 * 1_000;
/** Callers remembered at a time; the one that has been quiet longest is forgotten first. */
const MAX_CALLERS = 1_000;

/** Keeps an agent in a loop from filling the memory: so many adds an hour a caller, counted over the hour before. */
export class AddAllowance {
  readonly #perHour: number;
  readonly #clock: Clock;
  /** When each caller's adds were made. */
  readonly #adds = new Map<string, number[]>();

  constructor(perHour: number, clock: Clock) {
    this.#perHour = perHour;
    this.#clock = clock;
  }

  /**
   * Counts one add. What is then not stored is given back.
   * @returns gives it back.
   * @throws {ServiceError} RATE_LIMITED with the time of the next possible add.
   */
  take(caller: string): () => void {
    const now = this.#clock.now();
    // A time ahead is of a clock that was set back since.
    const adds = (this.#adds.get(caller) ?? []).filter((time) => time > now - HOUR_MS && time <= now);
    const oldest = adds[adds.length - this.#perHour];
    if (oldest !== undefined) throw limited(this.#perHour, oldest + HOUR_MS, now);
    keepLast(this.#adds, caller, [...adds, now], MAX_CALLERS);
    return () => {
      const counted = this.#adds.get(caller) ?? [];
      const place = counted.lastIndexOf(now);
      if (place >= 0) counted.splice(place, 1);
    };
  }
}

function limited(perHour: number, next: number, now: number): ServiceError {
  const minutes = Math.ceil((next - now) / 60_000);
  return new ServiceError(
    "RATE_LIMITED",
    `${perHour} notes and facts were added within an hour, which is the limit of a client. The next can be added at ` +
      `${new Date(next).toISOString()}, in ${minutes} min. Keep what matters most.`,
    { retryAfterSeconds: Math.ceil((next - now) / 1_000) },
  );
}
