import { goneError, type IdempotentRequest } from "../idempotency.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { type OneRow, owned } from "../owned.ts";
import type { Sector, Signals } from "../memory.ts";

interface ReinforceMemoryInput extends OneRow {
  /** In [0, 1]. */
  readonly boost: number;
  readonly idempotency?: IdempotentRequest;
}

/** Raises a memory's salience; its version stays. @throws {ServiceError} NOT_FOUND, FORBIDDEN, NOT_READY. */
export async function reinforceMemory(
  { store, requests }: Pick<MemoryPorts, "store" | "requests">,
  input: ReinforceMemoryInput,
): Promise<{ readonly id: string; readonly salience: number }> {
  return requests.once(
    store,
    input.idempotency,
    (commit) =>
      commit(({ now }) => {
        const entry = owned("memory", store.catalogue.find(input.id), input.userId);
        const salience = reinforced(entry.salience, input.boost);
        return {
          changes: [{ table: "signals", id: entry.id, row: { salience, lastSeenAt: now } }],
          ids: [entry.id],
          result: { id: entry.id, salience },
        };
      }),
    async ([id]) => {
      const entry = typeof id !== "string" ? undefined : store.catalogue.find(id);
      if (entry === undefined) throw goneError();
      return { id: entry.id, salience: entry.salience };
    },
  );
}

/** Time after which the salience of an unseen memory has halved, ms; Infinity: never. */
type HalfLives = Readonly<Record<Sector, number>>;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Events and moods fade first, facts and skills last: a choice, not a measurement. */
export const HALF_LIVES: HalfLives = {
  semantic: 365 * DAY_MS,
  episodic: 90 * DAY_MS,
  procedural: 365 * DAY_MS,
  emotional: 60 * DAY_MS,
  reflective: 180 * DAY_MS,
};

/**
 * The salience at a moment: `s · 2^(−t / half-life)`, with t since it was last seen in whole days, so that a value set
 * today is read as it was set. Fading changes no stored value and ends when the memory is seen.
 * @returns in [0, salience]; a clock that went back fades nothing.
 */
export function fadedSalience({ salience, lastSeenAt }: Signals, now: number, halfLifeMs: number): number {
  const days = Math.max(0, Math.floor((now - lastSeenAt) / DAY_MS));
  return salience * 2 ** ((-days * DAY_MS) / halfLifeMs);
}

/** `s + boost · (1 − s)`: nears 1 and never passes it. */
export const reinforced = (salience: number, boost: number): number =>
  Math.min(1, salience + boost * (1 - salience));
