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
export const MAX_UNIT = 32;

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
