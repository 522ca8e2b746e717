import { ServiceError } from "../errors.ts";
import type { HeldFile } from "./file-store.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { ownedDocument, type OwnedIdInput } from "./owned-document.ts";

export interface RestoreOriginalInput extends OwnedIdInput {
  /** Let go of at the end; from then on the document keeps it. */
  readonly file: HeldFile;
}

/**
 * Gives a document that came without its original the original back. Repeating it changes nothing.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN; UNPROCESSABLE for other bytes than the document was made of.
 */
export async function restoreOriginal(
  { store }: Pick<MemoryPorts, "store">,
  { id, userId, file }: RestoreOriginalInput,
): Promise<void> {
  try {
    // No row changes, but nothing may be done to a store that takes no writes; and no deletion comes in between.
    await store.commit(() => {
      const { sha256 } = ownedDocument({ store }, id, userId);
      if (file.sha256 === sha256) return { changes: [], result: undefined };
      throw new ServiceError(
        "UNPROCESSABLE",
        "These are other bytes than the document was made of: their SHA-256 is not the document's.",
      );
    });
  } finally {
    file.release();
  }
}
