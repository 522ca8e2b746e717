import { keepLast } from "../core/at-once.ts";
import { ServiceError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";

export const ADDS_PER_HOUR = 200;
const HOUR_MS = 60 * 60 * 1_000;
/** Clients remembered at a time; the one that has been quiet longest is forgotten first. */
const MAX_CLIENTS = 1_000;

/** Keeps an agent in a loop from filling the memory: so many adds an hour a client, counted over the hour before. */
export class AddAllowance {
  readonly perHour: number;
  readonly #clock: Clock;
  /** When each client's adds were made. */
  readonly #adds = new Map<string, Promise<number[]>>();

  constructor(perHour: number, clock: Clock) {
    this.perHour = perHour;
    this.#clock = clock;
  }

  /**
   * Counts one add. What is then not stored is given back.
   * @param addedSince when a client that is not remembered added what is there, so that a restart lifts no limit.
   * @returns gives it back.
   * @throws {ServiceError} RATE_LIMITED with the time of the next possible add.
   */
  async take(client: string, addedSince: (since: number) => Promise<readonly number[]>): Promise<() => void> {
    const adds = await this.#addsOf(client, addedSince);
    const now = this.#clock.now();
    const counting = adds.filter((time) => time > now - HOUR_MS && time <= now).sort((a, b) => a - b);
    // In place: what gives an add back holds on to the list. A time ahead is of a clock that was set back since.
    adds.splice(0, adds.length, ...counting);
    const oldest = adds[adds.length - this.perHour];
    if (oldest !== undefined) throw limited(this.perHour, oldest + HOUR_MS, now);
    adds.push(now);
    return () => {
      const place = adds.lastIndexOf(now);
      if (place >= 0) adds.splice(place, 1);
    };
  }

  #addsOf(client: string, addedSince: (since: number) => Promise<readonly number[]>): Promise<number[]> {
    const adds =
      this.#adds.get(client) ?? addedSince(this.#clock.now() - HOUR_MS).then((times) => [...times]);
    keepLast(this.#adds, client, adds, MAX_CLIENTS);
    adds.catch(() => this.#adds.delete(client));
    return adds;
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
