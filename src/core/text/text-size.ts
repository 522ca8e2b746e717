const SPACE = /\s/;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const CHARACTERS_PER_WORD = 2;
const LONG_WORD = 12;
/** Thai, the first of the scripts that are written without spaces. */
const FIRST_UNSPACED = "\u0e00";

const OTHER = 0;
const IS_SPACE = 1;
const IS_UNSPACED = 2;
const CODE_UNITS = 0x1_00_00;

/** The class of every UTF-16 code unit; of a pair's halves see `isUnspacedPair`. */
let classes: Uint8Array | undefined;

/**
 * The size of a text in words; in scripts without spaces two characters count as one word, and long strings by length.
 * Cost: one pass, nothing kept.
 */
export function sizeOf(text: string): number {
  const classOf = (classes ??= classify());
  let words = 0;
  let unspaced = 0;
  let isInWord = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const found = classOf[unit];
    if (found === IS_SPACE) {
      isInWord = false;
      continue;
    }
    if (!isInWord) words += 1;
    isInWord = true;
    if (found === IS_UNSPACED || (isHighSurrogate(unit) && isUnspacedPair(text, at))) unspaced += 1;
  }
  return Math.max(words + unspaced / CHARACTERS_PER_WORD, text.length / LONG_WORD);
}

/** The text, or as much of it as `chars` UTF-16 units hold, with a "…" behind. */
export function shortened(text: string, chars: number): string {
  if (text.length <= chars) return text;
  // No half of a surrogate pair at the end.
  const head = text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, "");
  return `${head.trimEnd()}…`;
}

/** Cuts between words, and within those that are larger than `full`; no piece is larger, but by one character. */
export function cutWords(text: string, full: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  let end = 0;
  let size = 0;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const own = sizeOf(word);
    if (size > 0 && size + own > full) {
      pieces.push(text.slice(start, end));
      size = 0;
    }
    if (own > full) {
      // A script without spaces, or no words at all.
      pushPieces(word, full, pieces);
    } else {
      if (size === 0) start = index;
      size += own;
    }
    end = index + word.length;
  }
  if (size > 0) pieces.push(text.slice(start, end));
  return pieces;
}

function pushPieces(word: string, full: number, pieces: string[]): void {
  let piece = "";
  let size = 0;
  for (const character of word) {
    piece += character;
    size += character >= FIRST_UNSPACED ? 1 / CHARACTERS_PER_WORD : 1 / LONG_WORD;
    if (size < full) continue;
    pieces.push(piece);
    piece = "";
    size = 0;
  }
  if (piece !== "") pieces.push(piece);
}

function classify(): Uint8Array {
  const found = new Uint8Array(CODE_UNITS);
  for (let unit = 0; unit < CODE_UNITS; unit += 1) {
    const character = String.fromCharCode(unit);
    found[unit] = SPACE.test(character) ? IS_SPACE : UNSPACED.test(character) ? IS_UNSPACED : OTHER;
  }
  return found;
}

const isHighSurrogate = (unit: number) => unit >= 0xd8_00 && unit <= 0xdb_ff;
const isLowSurrogate = (unit: number) => unit >= 0xdc_00 && unit <= 0xdf_ff;

/** Rare characters of Han, and old kana. */
function isUnspacedPair(text: string, at: number): boolean {
  return isLowSurrogate(text.charCodeAt(at + 1)) && UNSPACED.test(text.slice(at, at + 2));
}
