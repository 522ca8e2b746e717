import { ServiceError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";

const HOUR_MS = 60 * 60 * 1_000;
/** Clients remembered at a time; the one that has been quiet longest is forgotten first. */
const MAX_CLIENTS = 1_000;

/** Keeps an agent in a loop from filling the memory: so many adds an hour a client, counted over the hour before. */
export class AddAllowance {
  readonly #perHour: number;
  readonly #clock: Clock;
  /** When each client's adds were made, oldest first. */
  readonly #adds = new Map<string, number[]>();

  constructor(perHour: number, clock: Clock) {
    this.#perHour = perHour;
    this.#clock = clock;
  }

  /**
   * Counts one add. What is then not stored is given back.
   *
   * @returns gives it back.
   * @throws {ServiceError} RATE_LIMITED that says when the next is possible.
   */
  take(client: string): () => void {
    const now = this.#clock.now();
    const adds = this.#adds.get(client) ?? [];
    // In place: what gives an add back holds on to the list. A time ahead is of a clock that was set back since.
    adds.splice(0, adds.length, ...adds.filter((time) => time > now - HOUR_MS && time <= now));
    this.#adds.delete(client);
    this.#adds.set(client, adds);
    const oldest = adds[adds.length - this.#perHour];
    if (oldest !== undefined) throw limited(this.#perHour, oldest + HOUR_MS, now);
    adds.push(now);
    if (this.#adds.size > MAX_CLIENTS) {
      for (const quiet of this.#adds.keys()) {
        this.#adds.delete(quiet);
        break;
      }
    }
    return () => {
      const place = adds.lastIndexOf(now);
      if (place >= 0) adds.splice(place, 1);
    };
  }
}

function limited(perHour: number, next: number, now: number): ServiceError {
  const minutes = Math.ceil((next - now) / 60_000);
  return new ServiceError(
    "RATE_LIMITED",
    `${perHour} notes were added within an hour, which is the limit of a client. The next can be added at ` +
      `${new Date(next).toISOString()}, in ${minutes} min. Keep what matters most, or have mcpAddsPerHour raised.`,
    { retryAfterSeconds: Math.ceil((next - now) / 1_000) },
  );
}
