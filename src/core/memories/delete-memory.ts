import { documentErasure, memoryErasure } from "../documents/erase-document.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { checkVersion, ownedMemory } from "./owned-memory.ts";

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
 * that name it as their source stay, and name none. With a document's root the document goes, and all of its memories.
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
    const { documents } = store.catalogue;
    const document = entry.documentId === null ? undefined : documents.findDocument(entry.documentId);
    const { changes, deleted } =
      document?.rootMemoryId === entry.id
        ? documentErasure({ store, facts }, document)
        : { changes: memoryErasure({ store, facts }, entry.id), deleted: 1 };
    return { changes, result: { id: entry.id, deleted } };
  });
}
