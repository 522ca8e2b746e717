import type { Memory } from "./memory.ts";

/** A page of any list ends early here, which bounds memory on both sides. */
export const MAX_PAGE_CHARS = 8 * 1_024 * 1_024;

/** One page, newest first; it ends early at 8 MiB. */
export interface OrderedPage<T> {
  readonly items: readonly T[];
  /** How many match in all. */
  readonly total: number;
  /** `before` of the next page; absent on the last one. */
  readonly nextBefore?: number;
}

export interface PageRequest {
  /** 1 … 10 000. */
  readonly limit: number;
  /** Rows left out at the beginning. */
  readonly offset: number;
  /** `nextBefore` of the page before: goes on from there, whatever was added or deleted since. */
  readonly before?: number;
}

/** Items, from the first on, that fit on a page of `MAX_PAGE_CHARS`; at least one. */
export function fitting<T>(items: readonly T[], charsOf: (item: T) => number): readonly T[] {
  let chars = 0;
  const end = items.findIndex((item, i) => (chars += charsOf(item)) > MAX_PAGE_CHARS && i > 0);
  return end < 0 ? items : items.slice(0, end);
}

/** About how much of a page a memory takes. */
export const charsOfMemory = ({ content, metadata }: Pick<Memory, "content" | "metadata">): number =>
  content.length + JSON.stringify(metadata).length;
