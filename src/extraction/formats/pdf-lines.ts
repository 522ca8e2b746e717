/** One run of text as pdf.js gives it; the coordinates are points, the origin at the bottom left of the page. */
export interface TextRun {
  readonly str: string;
  readonly dir: string;
  /** [a, b, c, d, x, y]: scale and rotation, and where the baseline begins. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly isVertical: boolean;
  /** In a font of equal widths. */
  readonly isMono: boolean;
}

/** A stretch of one line without a wide gap. Coordinates are as read: turned text is turned upright first. */
export interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Grows upwards. */
  readonly baseline: number;
  readonly size: number;
  readonly isRtl: boolean;
  readonly isMono: boolean;
}

/** Segments on one baseline, in reading order. */
export type Row = readonly Segment[];

interface Box extends Segment {
  /** pdf.js saw a space before it. */
  readonly hasSpaceBefore: boolean;
}

/** Fractions of the font's size. */
const SAME_LINE = 0.45;
const WORD_GAP = 0.17;
const SEGMENT_GAP = 1.1;
const CJK_GAP = 0.6;

const CJK = /[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef]/;
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** The rows of a page, top to bottom. Text in other directions follows the upright text, each as if the page were turned. */
export function rowsOfPage(runs: readonly TextRun[]): Row[] {
  const byDirection = new Map<string, Box[]>();
  let hasSpaceBefore = false;
  for (const run of runs) {
    if (run.str.trim() === "") {
      hasSpaceBefore ||= run.str !== "" && run.width > 0;
      continue;
    }
    const { direction, box } = upright(run, hasSpaceBefore);
    hasSpaceBefore = false;
    const boxes = byDirection.get(direction) ?? [];
    byDirection.set(direction, boxes);
    if (!isOverprint(boxes.at(-1), box)) boxes.push(box);
  }
  const directions = Array.from(byDirection.values()).sort((a, b) => charsOf(b) - charsOf(a));
  return directions.flatMap(rowsOfBoxes);
}

/** Some programs print bold text twice, a little aside. */
function isOverprint(last: Box | undefined, box: Box): boolean {
  return (
    last !== undefined &&
    last.text === box.text &&
    Math.abs(last.left - box.left) < box.size * 0.15 &&
    Math.abs(last.baseline - box.baseline) < box.size * 0.15
  );
}

function upright(run: TextRun, hasSpaceBefore: boolean): { direction: string; box: Box } {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = run.transform;
  const size = Math.hypot(c, d) || Math.hypot(a, b) || 1;
  const width = Math.abs(run.width);
  const boxAt = (left: number, baseline: number): Box => ({
    text: run.str,
    left,
    right: left + width,
    baseline,
    size,
    isRtl: run.dir === "rtl" || RTL.test(run.str),
    // Japanese fonts have equal widths for prose, too.
    isMono: run.isMono && !CJK.test(run.str),
    hasSpaceBefore,
  });
  if (run.isVertical) return { direction: "down", box: boxAt(-y, x) };
  if (Math.abs(b) > Math.abs(a))
    return b > 0 ? { direction: "up", box: boxAt(y, -x) } : { direction: "down", box: boxAt(-y, x) };
  return a < 0 ? { direction: "over", box: boxAt(-x, -y) } : { direction: "upright", box: boxAt(x, y) };
}

function rowsOfBoxes(boxes: readonly Box[]): Row[] {
  const sorted = [...boxes].sort((a, b) => b.baseline - a.baseline || a.left - b.left);
  const rows: Row[] = [];
  let row: Box[] = [];
  let baseline = Infinity;
  let size = 0;
  for (const box of sorted) {
    if (row.length > 0 && baseline - box.baseline > Math.max(size, box.size) * SAME_LINE) {
      rows.push(segmentsOf(row));
      row = [];
    }
    if (row.length === 0 || box.size > size)
      ({ baseline, size } = row.length === 0 ? box : { baseline, size: box.size });
    row.push(box);
  }
  if (row.length > 0) rows.push(segmentsOf(row));
  return rows;
}

function segmentsOf(row: readonly Box[]): Segment[] {
  const boxes = [...row].sort((a, b) => a.left - b.left);
  const groups: Box[][] = [];
  let group: Box[] = [];
  for (const box of boxes) {
    const last = group.at(-1);
    if (last !== undefined && box.left - last.right > Math.max(last.size, box.size) * SEGMENT_GAP) {
      groups.push(group);
      group = [];
    }
    group.push(box);
  }
  groups.push(group);
  const segments = groups.map(joinBoxes);
  return segments.filter((segment) => segment.isRtl).length * 2 > segments.length
    ? segments.reverse()
    : segments;
}

function joinBoxes(boxes: readonly Box[]): Segment {
  const isRtl = boxes.filter((box) => box.isRtl).length * 2 > boxes.length;
  const ordered = isRtl ? boxes.toReversed() : boxes;
  let text = "";
  let last: Box | undefined;
  for (const box of ordered) {
    if (last !== undefined && needsSpace(last, box, isRtl)) text += " ";
    text += box.text;
    last = box;
  }
  const main = boxes.reduce((widest, box) =>
    box.right - box.left > widest.right - widest.left ? box : widest,
  );
  return {
    text,
    left: Math.min(...boxes.map((box) => box.left)),
    right: Math.max(...boxes.map((box) => box.right)),
    baseline: main.baseline,
    size: main.size,
    isRtl,
    isMono: boxes.every((box) => box.isMono),
  };
}

function needsSpace(last: Box, next: Box, isRtl: boolean): boolean {
  if (/\s$/.test(last.text) || /^\s/.test(next.text)) return false;
  const gap = (isRtl ? last.left - next.right : next.left - last.right) / Math.max(last.size, next.size);
  const isCjk = CJK.test(last.text.at(-1) ?? "") && CJK.test(next.text[0] ?? "");
  return gap > (isCjk ? CJK_GAP : WORD_GAP) || (next.hasSpaceBefore && !isCjk && gap > 0.05);
}

const charsOf = (boxes: readonly Box[]) => boxes.reduce((total, box) => total + box.text.length, 0);

/** Rows that are read one after the other, and the stretch of the page they fill. */
export type Region = { readonly rows: readonly Row[]; readonly left: number; readonly right: number };

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
