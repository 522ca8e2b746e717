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

/**
 * The items `offset` … `offset + limit` of the sorted list, without sorting all of it where the page is a
 * small part: one pass with a heap of the best, O(n log(offset + limit)). The input may come back in another
 * order.
 */
export function sortedPage<T>(
  items: T[],
  { limit, offset = 0 }: PageRange,
  compare: (a: T, b: T) => number,
): T[] {
  const wanted = Math.min(offset + limit, items.length);
  if (limit <= 0 || offset >= items.length) return [];
  if (wanted * 4 >= items.length) return items.sort(compare).slice(offset, wanted);
  return best(items, wanted, compare).sort(compare).slice(offset);
}

/** The first `count` of the sorted list, in no order: a heap with the worst of them on top. */
function best<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  const heap = items.slice(0, count).sort((a, b) => compare(b, a));
  for (let index = count; index < items.length; index += 1) {
    const item = items[index] as T;
    if (compare(item, heap[0] as T) < 0) sink(heap, item, compare);
  }
  return heap;
}

/** Replaces the top of the heap and restores its order. */
function sink<T>(heap: T[], item: T, compare: (a: T, b: T) => number): void {
  let hole = 0;
  for (;;) {
    let child = 2 * hole + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && compare(heap[child + 1] as T, heap[child] as T) > 0) child += 1;
    if (compare(item, heap[child] as T) >= 0) break;
    heap[hole] = heap[child] as T;
    hole = child;
  }
  heap[hole] = item;
}
