/** Bytes of a file: from `start` to before `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What a range has in common with another: one range or none. */
export function within(range: Range, other: Range): Range[] {
  return some([{ start: Math.max(range.start, other.start), end: Math.min(range.end, other.end) }]);
}

/** What a range has outside of another: up to two. */
export function outside(range: Range, other: Range): Range[] {
  return some([
    { start: range.start, end: Math.min(range.end, other.start) },
    { start: Math.max(range.start, other.end), end: range.end },
  ]);
}

function some(ranges: readonly Range[]): Range[] {
  return ranges.filter(({ start, end }) => start < end);
}
