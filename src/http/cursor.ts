import { ServiceError } from "../core/errors.ts";

/** Where a list goes on. */
export interface Cursor {
  /** The `order` before which the next page begins. */
  readonly before: number;
  /** How many memories the pages so far held, for `offset`. */
  readonly skipped: number;
}

/** Text that says nothing to a client, so that what is in it may change. */
export function writeCursor({ before, skipped }: Cursor): string {
  return Buffer.from(`1.${before}.${skipped}`).toString("base64url");
}

/** @throws {ServiceError} INVALID_REQUEST for anything that `writeCursor` did not write. */
export function readCursor(text: string): Cursor {
  const match = /^1\.(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(text, "base64url").toString("latin1"));
  const cursor = { before: Number(match?.[1]), skipped: Number(match?.[2]) };
  if (
    !Number.isSafeInteger(cursor.before) ||
    !Number.isSafeInteger(cursor.skipped) ||
    writeCursor(cursor) !== text
  ) {
    throw unknownCursor();
  }
  return cursor;
}

/** The same for a list without a place of its own in the store: how many items the pages so far held. */
export function writePlace(offset: number): string {
  return Buffer.from(`2.${offset}`).toString("base64url");
}

/** @throws {ServiceError} INVALID_REQUEST for anything that `writePlace` did not write. */
export function readPlace(text: string): number {
  const offset = Number(/^2\.(\d{1,16})$/.exec(Buffer.from(text, "base64url").toString("latin1"))?.[1]);
  if (!Number.isSafeInteger(offset) || writePlace(offset) !== text) throw unknownCursor();
  return offset;
}

/** The same for a list in the order of its ids: the last id so far, and how many items the pages held. */
export function writeIdCursor({ after, skipped }: IdCursor): string {
  return Buffer.from(`3.${skipped}.${after}`).toString("base64url");
}

export interface IdCursor {
  readonly after: string;
  readonly skipped: number;
}

/** @throws {ServiceError} INVALID_REQUEST for anything that `writeIdCursor` did not write. */
export function readIdCursor(text: string): IdCursor {
  const match = /^3\.(\d{1,16})\.([^]+)$/.exec(Buffer.from(text, "base64url").toString("utf8"));
  const cursor = { after: match?.[2] ?? "", skipped: Number(match?.[1]) };
  if (!Number.isSafeInteger(cursor.skipped) || writeIdCursor(cursor) !== text) throw unknownCursor();
  return cursor;
}

function unknownCursor(): ServiceError {
  return new ServiceError(
    "INVALID_REQUEST",
    "The cursor is not one that a page answered. Begin without one.",
    {
      fields: [{ path: "/cursor", message: "must be the `next_cursor` of a page" }],
    },
  );
}
