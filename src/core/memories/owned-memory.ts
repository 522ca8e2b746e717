import { ServiceError } from "../errors.ts";
import type { Catalogue, CatalogueEntry } from "../ports.ts";

/** @throws {ServiceError} NOT_FOUND for an unknown id, or another's when a user is named. */
export function visibleMemory(catalogue: Catalogue, id: string, userId: string | undefined): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry === undefined || (userId !== undefined && entry.userId !== userId)) throw memoryNotFound();
  return entry;
}

/** @throws {ServiceError} NOT_FOUND for an unknown id; FORBIDDEN when a user is named who does not own it. */
export function ownedMemory(catalogue: Catalogue, id: string, userId: string | undefined): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry === undefined) throw memoryNotFound();
  if (userId !== undefined && entry.userId !== userId) {
    throw new ServiceError("FORBIDDEN", "This memory belongs to another user; nothing was changed.");
  }
  return entry;
}

/** @throws {ServiceError} VERSION_MISMATCH if the caller saw another version. */
export function checkVersion(entry: CatalogueEntry, ifVersion: number | undefined): void {
  if (ifVersion === undefined || entry.version === ifVersion) return;
  throw new ServiceError(
    "VERSION_MISMATCH",
    `This memory is at version ${entry.version} by now, not ${ifVersion}; read it again before changing it.`,
  );
}

export function memoryNotFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no memory with this id.");
}
