import type { MemoryPorts } from "./memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { memoryNotFound, visibleMemory } from "./owned-memory.ts";

export interface GetMemoryInput {
  readonly id: string;
  /** Another owner's memory is NOT_FOUND. */
  readonly userId?: string;
}

/** The memory with that id. @throws {ServiceError} NOT_FOUND. */
export async function getMemory(
  { store }: Pick<MemoryPorts, "store">,
  input: GetMemoryInput,
): Promise<SeenMemory> {
  const { id } = visibleMemory(store.catalogue, input.id, input.userId);
  const memory = (await store.readMemories([id])).get(id);
  if (memory === undefined) throw memoryNotFound();
  return memory;
}
