/** A page of any list ends early here, so that neither side holds more than this of it. */
export const MAX_PAGE_CHARS = 8 * 1_024 * 1_024;

/**
 * How many items, from the first on, make a page that ends early: as many as stay within `MAX_PAGE_CHARS`,
 * but one at least.
 */
export function fitting(count: number, charsAt: (index: number) => number): number {
  let chars = 0;
  for (let index = 0; index < count; index += 1) {
    chars += charsAt(index);
    if (chars > MAX_PAGE_CHARS && index > 0) return index;
  }
  return count;
}
