import { foldText } from "./fact.ts";

/** Says of a text already folded by `foldText` whether it matches. */
export type FoldedMatcher = (folded: string) => boolean;

/** A stretch of a pattern without `*`: literals that stand one character (`?`) apart. */
type Piece = readonly string[];

/** Where the first occurrence of a piece at or after `start` ends, else -1. */
type PieceFinder = (text: string, start: number) => number;

/** Stands for `?` in a piece; no character is empty. */
const ANY = "";

/**
 * Makes a matcher of a search pattern, in any case and Unicode form. With `*` (any text, also none) or `?`
 * (one character) in it the pattern describes the whole text, else a part of it.
 *
 * Time is at most one pass over the text, of as many steps a character as the longest stretch between two stars
 * has times 32 characters (8 for 256). The stretches are looked for one after the other, each at its first
 * possible place, and never again further left (a later place could only leave less for the rest). Only
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

  const middle = pieces.slice(1, -1).map(finderOf);
  return (folded) => {
    let position = endOfPieceAt(first, folded, 0);
    for (const endOfNext of middle) {
      if (position < 0) return false;
      position = endOfNext(folded, position);
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

function finderOf(piece: Piece): PieceFinder {
  const [literal = ""] = piece;
  if (piece.length > 1) return wildFinder(piece);
  return (text, start) => {
    const position = text.indexOf(literal, start);
    return position < 0 ? -1 : position + literal.length;
  };
}

/**
 * Shift-And (Baeza-Yates and Gonnet 1992): bit n tells that the piece's first n + 1 characters end here, so that all
 * places where it may have begun are followed at once, 32 characters of the piece in a word.
 */
function wildFinder(piece: Piece): PieceFinder {
  const characters = piece.flatMap((literal, index) => (index > 0 ? [ANY] : []).concat(Array.from(literal)));
  const longest = piece.reduce((a, b) => (b.length > a.length ? b : a));
  const words = Math.ceil(characters.length / 32);
  /** By character: the bits of the places where it may stand. */
  const places = new Map<number, Int32Array>();
  const anywhere = new Int32Array(words);
  setBits(anywhere, characters, ANY);
  for (const character of new Set(characters)) {
    if (character === ANY) continue;
    const bits = anywhere.slice();
    setBits(bits, characters, character);
    places.set(character.codePointAt(0) ?? 0, bits);
  }
  const lastBit = 1 << ((characters.length - 1) % 32);

  return (text, start) => {
    if (!text.includes(longest, start)) return -1;
    const begun = new Int32Array(words);
    for (let position = start; position < text.length;) {
      const character = text.codePointAt(position) ?? 0;
      position += character > 0xffff ? 2 : 1;
      const here = places.get(character) ?? anywhere;
      let carry = 1;
      for (let word = 0; word < words; word += 1) {
        const before = begun[word] as number;
        begun[word] = ((before << 1) | carry) & (here[word] as number);
        carry = before >>> 31;
      }
      if (((begun[words - 1] as number) & lastBit) !== 0) return position;
    }
    return -1;
  };
}

function setBits(bits: Int32Array, characters: readonly string[], character: string): void {
  characters.forEach((other, place) => {
    if (other === character) bits[place >>> 5] = (bits[place >>> 5] as number) | (1 << (place % 32));
  });
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
