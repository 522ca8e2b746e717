import type { Fact } from "./fact.ts";

/** The order of every list of facts: open ones first, then the newest `validFrom`, then by id. */
export function compareForList(a: Fact, b: Fact): number {
  const aIsClosed = a.validTo !== null;
  if (aIsClosed !== (b.validTo !== null)) return aIsClosed ? 1 : -1;
  return b.validFrom - a.validFrom || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Names, times and ids of a fact as an answer shows them. */
const RECORD_CHARS = 500;

/** About how much of a page a fact takes. */
export function charsOf({ subject, predicate, object, metadata }: Fact): number {
  return RECORD_CHARS + subject.length + predicate.length + object.length + JSON.stringify(metadata).length;
}

/** A page of facts. It may end before its limit, see `fitting`: the next one begins where it ends. */
export interface PageRange {
  /** At least 0. */
  readonly limit: number;
  /** Absent: 0. */
  readonly offset?: number;
}

/** The items `offset` … `offset + limit` of the sorted list; the input comes back sorted. */
export function sortedPage<T>(
  items: T[],
  { limit, offset = 0 }: PageRange,
  compare: (a: T, b: T) => number,
): T[] {
  return items.sort(compare).slice(offset, offset + limit);
}
