import { conflict, notFound, wrongField } from "../errors.ts";
import type { DocumentTransfer } from "./transfer-record.ts";

/** Owner and document of a memory that a document names. */
export interface CutMemory {
  readonly userId: string | null;
  readonly documentId: string | null;
}

/** A document without its `order`. */
export type UnplacedDocument = DocumentTransfer["document"];

export interface DocumentSurroundings {
  /** The document with that id, stored or restored by the same write. */
  readonly findDocument: (id: string) => UnplacedDocument | undefined;
  /** The memory with that id, stored or restored by the same write. */
  readonly findMemory: (id: string) => CutMemory | undefined;
  readonly latestAllowed: number;
}

/**
 * The document to store; undefined where it is stored already. Its first memory must exist; all its existing memories must
 * have been cut from it, while deleted ones may still be named.
 *
 * @throws {ServiceError} INVALID_REQUEST for a document that no store could have; NOT_FOUND where its first memory is
 *   missing; CONFLICT where the id, or a memory that it names, belongs to something else.
 */
export function restoreDocument(
  { document }: DocumentTransfer,
  { findDocument, findMemory, latestAllowed }: DocumentSurroundings,
): UnplacedDocument | undefined {
  checkDocument(document, latestAllowed);
  const known = findDocument(document.id);
  if (known !== undefined) {
    if (isSame(document, known)) return undefined;
    throw conflict("Another document has this id here; it was left as it is.");
  }
  if (findMemory(document.rootMemoryId) === undefined) {
    throw notFound("The document's first memory is not here; import the memories before their documents.");
  }
  const isForeign = ({ documentId, userId }: CutMemory): boolean =>
    documentId !== document.id || userId !== document.userId;
  if (document.memoryIds.flatMap((id) => findMemory(id) ?? []).some(isForeign)) {
    throw conflict("The document names a memory here that was not cut from it.");
  }
  return document;
}

/** The same bytes, ingested for the same owner at the same time; later changes may differ. */
function isSame(a: UnplacedDocument, b: UnplacedDocument): boolean {
  return (
    a.sha256 === b.sha256 && a.userId === b.userId && a.project === b.project && a.createdAt === b.createdAt
  );
}

/** @throws {ServiceError} INVALID_REQUEST. */
function checkDocument(
  { rootMemoryId, memoryIds, strategy, createdAt, fetchedAt }: UnplacedDocument,
  latestAllowed: number,
): void {
  if (memoryIds[0] !== rootMemoryId) throw wrong("/memory_ids", "must begin with root_memory_id");
  if (new Set(memoryIds).size !== memoryIds.length) throw wrong("/memory_ids", "must not repeat one");
  if (strategy === "single" && memoryIds.length !== 1) throw wrong("/memory_ids", "must be one for `single`");
  if (createdAt > latestAllowed) throw wrong("/created_at", "must not be in the future");
  if ((fetchedAt ?? 0) > latestAllowed) throw wrong("/fetched_at", "must not be in the future");
}

const wrong = (path: string, message: string) => wrongField("The document is not valid", path, message);
