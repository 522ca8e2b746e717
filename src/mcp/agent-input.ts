import { ServiceError } from "../core/errors.ts";

/** The fields that are there, without those that are undefined or null. */
export function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An id as it is kept; `memory://` and what else agents put around it is taken off. @throws {ServiceError} NOT_FOUND. */
export function idOf(text: string): string {
  const id = text
    .trim()
    .toLowerCase()
    .replace(/^(?:memory|document):\/\/|^id=/, "");
  if (!UUID.test(id)) {
    throw new ServiceError(
      "NOT_FOUND",
      "There is nothing with this id; take it from what memory_search answers.",
    );
  }
  return id;
}
