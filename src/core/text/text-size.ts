const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const CHARACTERS_PER_WORD = 2;
const LONG_WORD = 12;
/** Thai, the first of the scripts that are written without spaces. */
const FIRST_UNSPACED = "\u0e00";

/** The size of a text in words; in scripts without spaces two characters count as one word, and long strings by length. */
export function sizeOf(text: string): number {
  const words = text.match(/\S+/g)?.length ?? 0;
  const unspaced = /[\u0e00-\uffff]/.test(text) ? (text.match(UNSPACED)?.length ?? 0) : 0;
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
