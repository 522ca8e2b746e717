import type { Unit } from "./text-units.ts";

/**
 * Text that is too long for one run is cut into windows of at most `pieces` word pieces, each beginning up to
 * `overlap` pieces before the end of the one before, both at the edge of a sentence where one is near. What is left
 * over at the end goes whole into the last window if it has at most `rest` pieces.
 */
export type WindowSizes = { readonly pieces: number; readonly overlap: number; readonly rest: number };

/**
 * Texts of 15 LoCoMo turns, recall at 3 by the best window (`test/eval/windows.eval.ts`): 62 pieces .612, 94 .592, 126
 * .584 (without overlap .569), 190 .584, 254 .558, 510 .400. Smaller ones find a little more but are more vectors to
 * keep and scan; this keeps a memory of up to 90 words in one.
 */
export const WINDOW: WindowSizes = { pieces: 96, overlap: 24, rest: 120 };

/** Names the rule in the stamp of every vector: change it with anything that moves an edge. */
export const WINDOW_RULE = `sentences-${WINDOW.pieces}-${WINDOW.overlap}-${WINDOW.rest}-v1`;

/** UTF-16 units in which a window is looked for; one of English has under 1 000. */
export const MAX_WINDOW_TEXT = 4_096;

export interface Window {
  readonly units: readonly Unit[];
  /** Its end, and the start of the next one (after the start of this one); the text's length for the last. */
  readonly end: number;
  readonly next: number;
}

/**
 * The first window of a text.
 *
 * `isWhole` tells whether the text ends where its memory ends; if not, a unit that touches its end may be cut and is
 * left for the next window. Units are read only as far as needed. A window without units is one of white space.
 */
export function cutWindow(
  text: string,
  units: Iterable<Unit>,
  isWhole: boolean,
  sizes: WindowSizes = WINDOW,
): Window {
  const read: Unit[] = [];
  let pieces = 0;
  let isExhausted = true;
  for (const unit of units) {
    // A single unit is never too long for the model, so the first is taken as it is.
    if (
      (read.length > 0 && pieces + unit.pieces.length > sizes.rest) ||
      (!isWhole && unit.end === text.length)
    ) {
      isExhausted = false;
      break;
    }
    read.push(unit);
    pieces += unit.pieces.length;
  }
  if (isExhausted && isWhole) return { units: read, end: text.length, next: text.length };

  const count = endOfWindow(text, read, sizes);
  const last = read[count - 1];
  // White space alone, and perhaps the beginning of a unit, which then starts the next window.
  if (last === undefined) return { units: [], end: leadingSpace(text), next: leadingSpace(text) };
  const next = read[startOfNext(text, read, count, sizes)]?.start ?? last.end;
  return { units: read.slice(0, count), end: last.end, next };
}

/** How many of the units the window takes, at least one. */
function endOfWindow(text: string, units: readonly Unit[], sizes: WindowSizes): number {
  let pieces = 0;
  let count = 0;
  let sentences = 0;
  for (const [i, unit] of units.entries()) {
    pieces += unit.pieces.length;
    if (i > 0 && pieces > sizes.pieces) break;
    count = i + 1;
    if (pieces >= sizes.pieces - sizes.overlap && endsSentence(text, unit)) sentences = count;
  }
  return sentences || count;
}

/** Index of the unit that the next window starts with: in the overlap, at the first sentence there if there is one. */
function startOfNext(text: string, units: readonly Unit[], count: number, sizes: WindowSizes): number {
  let pieces = 0;
  let start = count;
  let sentence: number | undefined;
  // At most half of the units, or text without pieces would be crossed one unit a time.
  for (let i = count - 1; i >= count / 2; i--) {
    pieces += units[i]?.pieces.length ?? 0;
    if (pieces > sizes.overlap) break;
    start = i;
    const before = units[i - 1];
    if (before !== undefined && endsSentence(text, before)) sentence = i;
  }
  return sentence ?? start;
}

/** Whether a sentence, a line or a quotation ends with the unit. */
function endsSentence(text: string, unit: Unit): boolean {
  return (
    /[.!?…。！？]["'’”»)\]]*$/.test(text.slice(unit.start, unit.end)) ||
    /^[^\S\n]*\n/.test(text.slice(unit.end, unit.end + 16))
  );
}

const leadingSpace = (text: string): number => text.length - text.trimStart().length;
