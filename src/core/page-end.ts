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
export function fitting(count: number, charsAt: (index: number) => number): number {
  let chars = 0;
  for (let index = 0; index < count; index += 1) {
    chars += charsAt(index);
    if (chars > MAX_PAGE_CHARS && index > 0) return index;
  }
  return count;
}
