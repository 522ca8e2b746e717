import { documentErasure } from "./erase-document.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { ownedDocument, type OwnedIdInput } from "./owned-document.ts";

export interface DeletedDocument {
  readonly id: string;
  /** How many memories went with it. */
  readonly deleted: number;
}

/**
 * Deletes a document with all its memories; the stored original goes too when nothing else needs it.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, NOT_READY.
 */
export function deleteDocument(
  ports: Pick<MemoryPorts, "store" | "facts">,
  { id, userId }: OwnedIdInput,
): Promise<DeletedDocument> {
  return ports.store.commit(() => {
    const { changes, deleted } = documentErasure(ports, ownedDocument(ports, id, userId));
    return { changes, result: { id, deleted } };
  });
}
