import { STOP_WORDS } from "../core/text/stop-words.ts";

/**
 * A run of text without white space, or a part of a very long one: what windows are cut between. The tokenizer reads
 * each on its own, which gives the same pieces as the whole text, and their places.
 */
export interface Unit {
  /** In UTF-16 units; never inside a surrogate pair. */
  readonly start: number;
  readonly end: number;
  readonly pieces: readonly Piece[];
}

export interface Piece {
  readonly id: number;
  /** The whole word that it is a piece of, lower case and without accents. */
  readonly word: string;
  /** False for punctuation and for what the model has no piece for. */
  readonly isWord: boolean;
}

/** Reads text into the pieces that a model knows. */
export interface PieceReader {
  /** The units of a text, in order, read as they are asked for. */
  units(text: string): Generator<Unit, void>;
}

/**
 * UTF-16 units; longer runs are cut: a word-piece tokenizer has no pieces for a word of more than 100 letters, and writing
 * without spaces must be cut somewhere. Short enough to fill windows well.
 */
const MAX_UNIT = 32;

/** Whether token matching keeps a piece: of a word, and not of a stop word. */
export const isKept = (piece: Piece): boolean => piece.isWord && !STOP_WORDS.has(piece.word);

/** Cuts a text into units and reads each; `isRunStart` is false for the rest of a run that was cut. */
export function* unitsOf(
  text: string,
  read: (unit: string, isRunStart: boolean) => readonly Piece[],
): Generator<Unit, void> {
  for (const { index, 0: run } of text.matchAll(/\S+/g)) {
    let start = 0;
    while (start < run.length) {
      const end = unitEnd(run, start);
      yield { start: index + start, end: index + end, pieces: read(run.slice(start, end), start === 0) };
      start = end;
    }
  }
}

/** End of the unit that starts at `start`: the run's end, or in a long run after the last sign between words. */
function unitEnd(run: string, start: number): number {
  const limit = start + MAX_UNIT;
  if (run.length <= limit) return run.length;
  const shortest = start + MAX_UNIT / 2;
  for (let end = limit; end > shortest; end--) {
    if (/[^\p{L}\p{N}\p{M}\p{Cs}]/u.test(run.charAt(end - 1))) return end;
  }
  return splitsPair(run, limit) ? limit - 1 : limit;
}

const splitsPair = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff;

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
