import { foldText } from "./fact.ts";

/** Says of a text already folded by `foldText` whether it matches. */
export type FoldedMatcher = (folded: string) => boolean;

/** A stretch of a pattern without `*`: literals that stand one character (`?`) apart. */
type Piece = readonly string[];

/**
 * Makes a matcher of a search pattern, in any case and Unicode form. With `*` (any text, also none) or `?`
 * (one character) in it the pattern describes the whole text, else a part of it.
 *
 * Time is linear in the text: the stretches between stars are looked for one after the other, each at its
 * first possible place, and never again further left (a later place could only leave less for the rest). Only
 * ASCII `*` and `?` are wildcards; their full-width forms are text.
 */
export function compilePattern(pattern: string): FoldedMatcher {
  if (!/[*?]/.test(pattern)) {
    const part = foldText(pattern.trim());
    return (folded) => folded.includes(part);
  }
  const pieces = pattern
    .trim()
    .split(/\*+/)
    .map((piece): Piece => piece.split("?").map(foldText));
  const first = pieces[0] ?? [""];
  const last = pieces.at(-1) ?? [""];
  if (pieces.length === 1) return (folded) => endOfPieceAt(first, folded, 0) === folded.length;

  const middle = pieces.slice(1, -1);
  return (folded) => {
    let position = endOfPieceAt(first, folded, 0);
    for (const piece of middle) {
      if (position < 0) return false;
      position = endOfPieceFrom(piece, folded, position);
    }
    return position >= 0 && isPieceAtEnd(last, folded, position);
  };
}

/** Where the piece ends if it stands at `start`, else -1. */
function endOfPieceAt(piece: Piece, text: string, start: number): number {
  let position = start;
  for (let index = 0; index < piece.length; index += 1) {
    if (index > 0) {
      if (position >= text.length) return -1;
      position += widthAt(text, position);
    }
    const literal = piece[index] ?? "";
    if (!text.startsWith(literal, position)) return -1;
    position += literal.length;
  }
  return position;
}

/** Where the first occurrence of the piece at or after `start` ends, else -1. */
function endOfPieceFrom(piece: Piece, text: string, start: number): number {
  const literal = piece[0] ?? "";
  let position = text.indexOf(literal, start);
  while (position >= 0 && position <= text.length) {
    const end = endOfPieceAt(piece, text, position);
    if (end >= 0 || position === text.length) return end;
    position = text.indexOf(literal, position + widthAt(text, position));
  }
  return -1;
}

function isPieceAtEnd(piece: Piece, text: string, start: number): boolean {
  let position = text.length;
  for (let index = piece.length - 1; index >= 0; index -= 1) {
    const literal = piece[index] ?? "";
    position -= literal.length;
    if (position < start || !text.startsWith(literal, position)) return false;
    if (index > 0) position -= position > 0 ? widthBefore(text, position) : 1;
  }
  return position >= start;
}

/** UTF-16 units of the character at a position: 2 for one outside the basic plane. */
function widthAt(text: string, position: number): number {
  return (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
}

function widthBefore(text: string, position: number): number {
  return position >= 2 && (text.codePointAt(position - 2) ?? 0) > 0xffff ? 2 : 1;
}
