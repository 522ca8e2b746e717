import { ServiceError } from "../core/errors.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An id in the one form it is kept in. @throws {ServiceError} NOT_FOUND for what cannot be one. */
export function memoryIdOf(text: string): string {
  return uuidOf(text, "memory");
}

/** The same for a record of another kind, which the error names. */
export function uuidOf(text: string, kind: string): string {
  if (!UUID.test(text)) throw new ServiceError("NOT_FOUND", `There is no ${kind} with this id.`);
  return text.toLowerCase();
}
