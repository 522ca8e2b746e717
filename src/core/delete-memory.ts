import { sourceErasure } from "./erase-fact.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { checkVersion, ownedMemory } from "./owned-memory.ts";
import type { Change } from "./rows.ts";
import { removeEdges } from "./waypoints.ts";

export interface DeleteMemoryInput {
  readonly id: string;
  /** For the ownership check. */
  readonly userId?: string;
  readonly ifVersion?: number;
}

export interface DeletedMemory {
  readonly id: string;
  /** How many memories went: more than one where a document's root took its chunks along. */
  readonly deleted: number;
}

/**
 * Deletes a memory with its vectors, tokens, words, signals and waypoints; it is in no answer from then on. Facts
 * that name it as their source stay, and name none.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, VERSION_MISMATCH, NOT_READY.
 */
export async function deleteMemory(
  { store, facts }: Pick<MemoryPorts, "store" | "facts">,
  input: DeleteMemoryInput,
): Promise<DeletedMemory> {
  return store.commit(() => {
    const entry = ownedMemory(store.catalogue, input.id, input.userId);
    checkVersion(entry, input.ifVersion);
    // Edges first: the catalogue finds their ends by the memories' ids.
    const changes: Change[] = [
      ...removeEdges(store.catalogue.edgesOf(entry.id)),
      ...sourceErasure(facts.book, entry.id),
      { table: "signals", id: entry.id, row: null },
      { table: "tokens", id: entry.id, row: null },
      { table: "vectors", id: entry.id, row: null },
      { table: "memories", id: entry.id, row: null },
    ];
    return { changes, result: { id: entry.id, deleted: 1 } };
  });
}
