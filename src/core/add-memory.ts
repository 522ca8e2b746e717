import { composeMemory, storeMemories } from "./store-memories.ts";
import { goneError, type IdempotentRequest } from "./idempotency.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import type { Metadata, Sector, SeenMemory } from "./memory.ts";

/** Already checked against the limits of the contract. */
export interface AddMemoryInput {
  readonly content: string;
  readonly tags?: readonly string[];
  readonly metadata?: Metadata;
  readonly userId?: string;
  readonly project?: string;
  readonly sessionId?: string;
  readonly occurredAt?: number;
  /** Forces the primary sector. */
  readonly sector?: Sector;
  readonly createdBy?: string;
  readonly idempotency?: IdempotentRequest;
}

export interface AddedMemory {
  readonly memory: SeenMemory;
  /** True when the same memory was there already and is returned instead. */
  readonly deduplicated: boolean;
}

/**
 * Adds a memory; when it resolves, the memory is on the disk and every later query can find it.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED, STORE_FULL, NOT_READY; CONFLICT, GONE, UNPROCESSABLE with an
 *   Idempotency-Key (see `RequestLedger`).
 */
export async function addMemory(ports: MemoryPorts, input: AddMemoryInput): Promise<AddedMemory> {
  const { store, requests } = ports;
  return requests.once(
    input.idempotency,
    store.catalogue,
    async () => {
      const composed = await composeMemory(ports, input);
      const [added] = await storeMemories(ports, [composed], input.idempotency);
      if (added === undefined) throw new TypeError("one memory in, one memory out");
      return added;
    },
    async ([id]) => {
      const memory = id == null ? undefined : (await store.readMemories([id])).get(id);
      if (memory === undefined) throw goneError();
      return { memory, deduplicated: false };
    },
  );
}
