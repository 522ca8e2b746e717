import { ServiceError } from "../errors.ts";
import type { Catalogue } from "../ports.ts";
import type { ComposedMemory } from "./compose-memory.ts";

/** Checks the memories to replace. @throws {ServiceError} NOT_FOUND; INVALID_REQUEST for a cycle. */
export function checkSupersedes(
  catalogue: Catalogue,
  userId: string | null,
  supersedes: readonly string[],
  id?: string,
): void {
  for (const older of supersedes) {
    if (catalogue.find(older)?.userId !== userId)
      throw refused(
        "NOT_FOUND",
        `There is no memory ${older} of this user to supersede`,
        "is no memory of this user",
      );
  }
  checkCycle(supersedes, id, (older) => catalogue.find(older)?.supersedes);
}

/** @throws {ServiceError} INVALID_REQUEST if a memory would replace itself, directly or through others. */
export function checkCycle(
  supersedes: readonly string[],
  id: string | undefined,
  supersedesOf: (id: string) => readonly string[] | undefined,
): void {
  const reached = new Set(supersedes);
  for (const older of reached) {
    if (older === id) {
      const message = "A memory cannot supersede itself, directly or through others";
      throw refused("INVALID_REQUEST", message, "must not lead back to the memory itself");
    }
    for (const next of supersedesOf(older) ?? []) reached.add(next);
  }
}

const refused = (code: "NOT_FOUND" | "INVALID_REQUEST", what: string, message: string): ServiceError =>
  new ServiceError(code, `${what}; nothing was stored.`, { fields: [{ path: "/supersedes", message }] });

/**
 * The identical memory that an add repeats. A superseded one is said anew, unless it comes among others (`isOfMany`), with a time, or
 * with metadata that has a `source`, as imports do: a repeated import says nothing.
 */
export function identicalMemory(
  catalogue: Catalogue,
  { identity, hash, supersedes }: Pick<ComposedMemory, "identity" | "hash" | "supersedes">,
  isOfMany: boolean,
): string | undefined {
  const isImported = isOfMany || typeof identity.metadata["source"] === "string";
  for (const ordinal of catalogue.duplicatesOf(hash)) {
    const twin = catalogue.at(ordinal);
    if (twin === undefined || !supersedes.every((id) => twin.supersedes.includes(id))) continue;
    if (twin.isTimeGiven || isImported || catalogue.supersession(ordinal) === undefined) return twin.id;
  }
  return undefined;
}
