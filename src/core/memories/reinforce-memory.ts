import { assertNotDone, goneError, type IdempotentRequest, requestChanges } from "../idempotency.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { owned } from "../owned.ts";
import { reinforced } from "./waypoints.ts";

interface ReinforceMemoryInput {
  readonly id: string;
  /** In [0, 1]. */
  readonly boost: number;
  readonly userId?: string;
  readonly idempotency?: IdempotentRequest;
}

/** Raises a memory's salience; its version stays. @throws {ServiceError} NOT_FOUND, FORBIDDEN, NOT_READY. */
export async function reinforceMemory(
  { store, requests }: Pick<MemoryPorts, "store" | "requests">,
  input: ReinforceMemoryInput,
): Promise<{ readonly id: string; readonly salience: number }> {
  return requests.once(
    input.idempotency,
    store.catalogue,
    () =>
      store.commit(({ now }) => {
        assertNotDone(input.idempotency, store.catalogue);
        const entry = owned("memory", store.catalogue.find(input.id), input.userId);
        const salience = reinforced(entry.salience, input.boost);
        return {
          changes: [
            { table: "signals", id: entry.id, row: { salience, lastSeenAt: now } },
            ...requestChanges(input.idempotency, [entry.id], now),
          ],
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
