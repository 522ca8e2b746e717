import { forbidden, notFound, ServiceError } from "./errors.ts";

const NOT_FOUND = {
  memory: "There is no memory with this id.",
  fact: "There is no fact with this id.",
  document: "There is no document with this id.",
  version: "This version of the memory is not kept. Its history lists those that are.",
  trash: "There is nothing with this id in the trash.",
  job: "There is no job with this id: it is unknown, or was over more than a day ago.",
} as const;
type Kind = keyof typeof NOT_FOUND;

/** Names a row, and perhaps the user who must own it. */
export type OneRow = { readonly id: string; readonly userId?: string };

type OwnedRow = { readonly userId: string | null };

export const missing = (kind: Kind): ServiceError => notFound(NOT_FOUND[kind]);

/** The row, for reading. @throws {ServiceError} NOT_FOUND without a row, or for another user's when `userId` is given. */
export function visible<T extends OwnedRow>(kind: Kind, row: T | undefined, userId: string | undefined): T {
  if (row === undefined || (userId !== undefined && row.userId !== userId)) throw missing(kind);
  return row;
}

/** The row, for changing. @throws {ServiceError} NOT_FOUND without a row; FORBIDDEN for another user's when `userId` is given. */
export function owned<T extends OwnedRow>(kind: Kind, row: T | undefined, userId: string | undefined): T {
  if (row === undefined) throw missing(kind);
  if (userId !== undefined && row.userId !== userId)
    throw forbidden(
      `This ${kind === "trash" ? "memory" : kind} belongs to another user; nothing was changed.`,
    );
  return row;
}

/** @throws {ServiceError} VERSION_MISMATCH if the caller saw another version. */
export function checkVersion(row: { readonly version: number }, ifVersion: number | undefined): void {
  if (ifVersion === undefined || row.version === ifVersion) return;
  throw new ServiceError(
    "VERSION_MISMATCH",
    `This memory is at version ${row.version} by now, not ${ifVersion}; read it again before changing it.`,
  );
}
