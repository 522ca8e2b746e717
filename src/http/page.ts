/** Pages of lists: where one begins, and where the next one does. */
import { invalidRequest, type ServiceError } from "../core/errors.ts";
import type { OrderedPage } from "../core/page-end.ts";
import { ADDED_LIST, type Places } from "../core/ports.ts";
import { DEFAULT_PAGE_LIMIT } from "../schemas/page.ts";
import { invalid } from "./problem.ts";

export type PageQuery = { readonly l?: number; readonly u?: number; readonly cursor?: string };

export interface Page {
  readonly limit: number;
  /** Items to skip after the place of `before` or `after`. */
  readonly offset: number;
  /** Number of items on the pages before. */
  readonly skipped: number;
}

/** A page of a list in the order of adding; begins with what was added before `before`. @throws {ServiceError} INVALID_REQUEST. */
export function pageOf(query: PageQuery, places: Places): Page & { readonly before?: number } {
  const { l: limit = DEFAULT_PAGE_LIMIT, u: offset = 0, cursor } = query;
  if (cursor === undefined) return { limit, offset, skipped: offset };
  assertNoOffset(offset);
  const opened = places.open(ADDED_LIST, cursor);
  if (opened === undefined) throw unknownCursor();
  return { limit, offset: 0, before: opened.place, skipped: opened.skipped };
}

/** The reply with a page of such a list. */
export function pageReply<Item, Shown>(
  { limit, skipped }: Page,
  { items, total, nextBefore }: OrderedPage<Item>,
  places: Places,
  show: (item: Item) => Shown,
) {
  const nextCursor =
    nextBefore === undefined ? null : places.seal(ADDED_LIST, nextBefore, skipped + items.length);
  return { items: items.map((item) => show(item)), total, limit, offset: skipped, nextCursor };
}

/** A page of a list without a place of its own in the store. @throws as `pageOf`. */
export function placeOf(query: PageQuery): Pick<Page, "limit" | "offset"> {
  const { limit, offset, parts } = readPage(query, /^2\.(\d+)$/);
  return { limit, offset: parts === undefined ? offset : wholeNumber(parts[0]) };
}

export const nextPlace = (offset: number): string => cursor(2, offset);

/** The reply with such a page. */
export function pageAt<T>(
  { limit, offset }: Pick<Page, "limit" | "offset">,
  items: readonly T[],
  total: number,
) {
  const end = offset + items.length;
  return { items, total, limit, offset, nextCursor: end < total && items.length > 0 ? nextPlace(end) : null };
}

/** A page of a list in the order of its ids; begins behind the id `after`. @throws as `pageOf`. */
export function idPageOf(query: PageQuery): Page & { readonly after?: string } {
  const { limit, offset, parts } = readPage(query, /^3\.(\d+)\.([^]+)$/);
  if (parts === undefined) return { limit, offset, skipped: offset };
  return { limit, offset, skipped: wholeNumber(parts[0]), after: parts[1] ?? "" };
}

export const nextIdPage = (after: string, skipped: number): string => cursor(3, skipped, after);

/** Opaque to clients, so that its content may change. */
function cursor(...parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join(".")).toString("base64url");
}

function readPage({ l: limit = DEFAULT_PAGE_LIMIT, u: offset = 0, cursor }: PageQuery, form: RegExp) {
  if (cursor === undefined) return { limit, offset, parts: undefined };
  assertNoOffset(offset);
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const parts = form.exec(text)?.slice(1);
  if (parts === undefined || Buffer.from(text).toString("base64url") !== cursor) throw unknownCursor();
  return { limit, offset, parts };
}

function assertNoOffset(offset: number): void {
  if (offset > 0) throw invalid("/u", "must be left out where `cursor` is given");
}

function wholeNumber(text = ""): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || String(number) !== text) throw unknownCursor();
  return number;
}

function unknownCursor(): ServiceError {
  return invalidRequest("The cursor is not one that a page answered. Begin without one.", {
    fields: [{ path: "/cursor", message: "must be the `next_cursor` of a page" }],
  });
}
