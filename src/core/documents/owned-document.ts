import type { DocumentPorts } from "./document-ports.ts";
import type { DocumentRow } from "./document.ts";
import type { JobEntry } from "./document-index.ts";
import { ServiceError } from "../errors.ts";

/** Names one document or job, and perhaps the user whose it must be. */
export interface OwnedIdInput {
  readonly id: string;
  readonly userId?: string;
}

/** @throws {ServiceError} NOT_FOUND for an unknown id, or another's when a user is named. */
export function visibleDocument(
  { store }: Pick<DocumentPorts, "store">,
  id: string,
  userId: string | undefined,
): DocumentRow {
  const document = store.catalogue.documents.findDocument(id);
  if (document === undefined || (userId !== undefined && document.userId !== userId))
    throw documentNotFound();
  return document;
}

/** @throws {ServiceError} NOT_FOUND for an unknown id; FORBIDDEN when a user is named who does not own it. */
export function ownedDocument(
  { store }: Pick<DocumentPorts, "store">,
  id: string,
  userId: string | undefined,
): DocumentRow {
  const document = store.catalogue.documents.findDocument(id);
  if (document === undefined) throw documentNotFound();
  if (userId !== undefined && document.userId !== userId) {
    throw new ServiceError("FORBIDDEN", "This document belongs to another user; nothing was changed.");
  }
  return document;
}

/** As `visibleDocument`. */
export function visibleJob({ store }: Pick<DocumentPorts, "store">, { id, userId }: OwnedIdInput): JobEntry {
  const job = store.catalogue.documents.findJob(id);
  if (job === undefined || (userId !== undefined && job.userId !== userId)) throw jobNotFound();
  return job;
}

/** As `ownedDocument`. */
export function ownedJob({ store }: Pick<DocumentPorts, "store">, { id, userId }: OwnedIdInput): JobEntry {
  const job = store.catalogue.documents.findJob(id);
  if (job === undefined) throw jobNotFound();
  if (userId !== undefined && job.userId !== userId) {
    throw new ServiceError("FORBIDDEN", "This job belongs to another user; nothing was changed.");
  }
  return job;
}

export function documentNotFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no document with this id.");
}

export function jobNotFound(): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    "There is no job with this id: it is unknown, or was over more than a day ago.",
  );
}
