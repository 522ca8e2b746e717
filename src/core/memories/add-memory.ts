import { composeMemory, storeMemories } from "./store-memories.ts";
import type { AddedMemory, AddMemoryInput } from "./added-memory.ts";
import { goneError } from "../idempotency.ts";
import type { MemoryPorts } from "./memory-ports.ts";

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
      const memory = typeof id !== "string" ? undefined : (await store.readMemories([id])).get(id);
      if (memory === undefined) throw goneError();
      return { memory, deduplicated: false };
    },
  );
}
