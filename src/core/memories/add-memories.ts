import { mapAtOnce } from "../at-once.ts";
import type { AddedMemory, AddMemoryInput } from "./added-memory.ts";
import { ServiceError } from "../errors.ts";
import { goneError, type IdempotentRequest, refusedBefore } from "../idempotency.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { type Composed, composeMemory, storeMemories } from "./store-memories.ts";

export interface AddMemoriesInput {
  /** In order; an error stands for an item that was refused before, and comes back in its place. */
  readonly items: readonly (AddMemoryInput | ServiceError)[];
  readonly idempotency?: IdempotentRequest;
}

export interface AddMemoriesResult {
  /** As many as items, in the same order. */
  readonly results: readonly (AddedMemory | ServiceError)[];
}

/** Items of one batch that wait for the model at a time, so that the adds of other callers come in between. */
const EMBEDDED_AT_ONCE = 8;

/**
 * Adds memories in one record. Items are judged one by one; those that are accepted are stored together, all of them or
 * none after a crash.
 *
 * @throws {ServiceError} as `addMemory`, where it concerns the whole.
 */
export async function addMemories(ports: MemoryPorts, input: AddMemoriesInput): Promise<AddMemoriesResult> {
  const { store, requests } = ports;
  return requests.once(
    input.idempotency,
    store.catalogue,
    async () => {
      const composed = await mapAtOnce(input.items, EMBEDDED_AT_ONCE, async (item) =>
        item instanceof ServiceError ? item : await composeOrRefuse(ports, item),
      );
      const accepted = composed.map((item) => (item instanceof ServiceError ? undefined : item));
      const added = await storeMemories(ports, accepted, input.idempotency);
      return {
        results: composed.map((item, i) => (item instanceof ServiceError ? item : (added[i] ?? goneError()))),
      };
    },
    async (ids) => {
      const memories = await store.readMemories(ids.filter((id) => id !== null));
      return {
        results: input.items.map((item, i) => {
          if (item instanceof ServiceError) return item;
          const id = ids[i];
          if (typeof id !== "string") return refusedBefore();
          const memory = memories.get(id);
          return memory === undefined ? goneError() : { memory, deduplicated: false };
        }),
      };
    },
  );
}

async function composeOrRefuse(ports: MemoryPorts, item: AddMemoryInput): Promise<Composed | ServiceError> {
  try {
    return await composeMemory(ports, item);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
