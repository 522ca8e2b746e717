import type { Row, Segment } from "./pdf-lines.ts";

/** Rows that are read one after the other, and the stretch of the page they fill. */
export interface Region {
  readonly rows: readonly Row[];
  readonly left: number;
  readonly right: number;
}

/** A gap between columns is looked for in the middle part of a region, at this step in points. */
const GUTTER_FROM = 0.3;
const GUTTER_TO = 0.7;
const GUTTER_STEP = 2;

/** Columns of prose hold at least as many lines, fill their width as well, and have lines as long; tables do not. */
const MIN_LINES = 6;
const MIN_FILL = 0.55;
const MIN_MEAN_CHARS = 14;
/** Lines across both columns (titles, figures), as a share of the lines of the shorter column. */
const MAX_CROSSING_SHARE = 1;
const MAX_COLUMN_SPLITS = 3;

/** The rows of a page in reading order: columns of prose one after the other, between lines that cross them. */
export function regionsOf(rows: readonly Row[], splits = 0): Region[] {
  const gutter = splits < MAX_COLUMN_SPLITS ? findGutter(rows) : undefined;
  if (gutter === undefined) return rows.length === 0 ? [] : [region(rows)];

  const regions: Region[] = [];
  let across: Row[] = [];
  let left: Row[] = [];
  let right: Row[] = [];
  const flushAcross = () => {
    if (across.length > 0) regions.push(region(across));
    across = [];
  };
  const flushColumns = () => {
    // In right-to-left text the right column comes first.
    const columns = isRtl(left) && isRtl(right) ? [right, left] : [left, right];
    for (const column of columns) regions.push(...regionsOf(column, splits + 1));
    left = [];
    right = [];
  };
  for (const row of rows) {
    if (row.some((segment) => crosses(segment, gutter))) {
      if (left.length + right.length > 0) flushColumns();
      across.push(row);
      continue;
    }
    flushAcross();
    const before = row.filter((segment) => segment.right <= gutter);
    const after = row.filter((segment) => segment.right > gutter);
    if (before.length > 0) left.push(before);
    if (after.length > 0) right.push(after);
  }
  flushAcross();
  flushColumns();
  return regions;
}

function findGutter(rows: readonly Row[]): number | undefined {
  const segments = rows.flat();
  if (segments.length < 2 * MIN_LINES) return undefined;
  const leftEdge = Math.min(...segments.map((segment) => segment.left));
  const rightEdge = Math.max(...segments.map((segment) => segment.right));
  const width = rightEdge - leftEdge;

  let best: number | undefined;
  let bestScore = 0;
  for (let x = leftEdge + width * GUTTER_FROM; x <= leftEdge + width * GUTTER_TO; x += GUTTER_STEP) {
    let left = 0;
    let right = 0;
    let crossing = 0;
    for (const segment of segments) {
      if (segment.right <= x) left += 1;
      else if (segment.left >= x) right += 1;
      else crossing += 1;
    }
    const lines = Math.min(left, right);
    const score = lines - crossing * 0.5;
    if (lines >= MIN_LINES && crossing <= lines * MAX_CROSSING_SHARE && score > bestScore) {
      best = x;
      bestScore = score;
    }
  }
  if (best === undefined) return undefined;
  const gutter = best;
  const columns = [
    segments.filter((segment) => segment.right <= gutter),
    segments.filter((segment) => segment.left >= gutter),
  ];
  return columns.every(isProse) ? gutter : undefined;
}

function isProse(column: readonly Segment[]): boolean {
  const width = Math.max(...column.map((line) => line.right)) - Math.min(...column.map((line) => line.left));
  const fill = mean(column.map((line) => line.right - line.left)) / width;
  return fill >= MIN_FILL && mean(column.map((line) => line.text.length)) >= MIN_MEAN_CHARS;
}

const crosses = (segment: Segment, x: number) => segment.left < x && segment.right > x;
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const isRtl = (rows: readonly Row[]) =>
  rows.length > 0 && rows.filter((row) => row[0]?.isRtl === true).length * 2 > rows.length;

function region(rows: readonly Row[]): Region {
  const segments = rows.flat();
  return {
    rows,
    left: Math.min(...segments.map((segment) => segment.left)),
    right: Math.max(...segments.map((segment) => segment.right)),
  };
}
