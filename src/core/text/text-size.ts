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

/** Without line ends, control and invisible characters, so that a text cannot pass for another line or hide what it says. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .trim();

/** The end of an id, which stands for it everywhere; its beginning is a time, which many ids share. */
export const shortId = (id: string): string => id.slice(-8);

/** Longest name of an origin shown, and longest tag list, in characters. */
const MAX_NAME = 120;

/** A value from outside, on one line. */
export const quoted = (text: string): string => JSON.stringify(shortened(oneLine(text), MAX_NAME));

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

/** Words by case, numbers, blanks; any other character stands alone. */
const PIECE = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\s+|[^A-Za-z0-9\s]/g;
const LETTERS_PER_TOKEN = 4;
/** Characters per token of capitals and of numbers, such as ids have. */
const CHARACTERS_PER_TOKEN = 2;

/**
 * How many tokens a language model takes a text for, at most: for English notes and prose a quarter to a third more than the
 * tokenizers o200k and cl100k count, never fewer from a few lines on; about as many for other languages in Latin letters, and
 * one for each character of other scripts. No tokenizer is everybody's.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECE)) {
    if (/\s/.test(piece)) tokens += piece.includes("\n") ? piece.length : piece.length - 1;
    else if (/[a-z]/.test(piece)) tokens += Math.ceil(piece.length / LETTERS_PER_TOKEN);
    else tokens += Math.ceil(piece.length / CHARACTERS_PER_TOKEN);
  }
  return tokens;
}

/** The longest beginning of a text that is estimated at `tokens` or less, never within a character. */
export function withinTokens(text: string, tokens: number): string {
  if (text.length <= tokens || estimateTokens(text) <= tokens) return text;
  let [fits, over] = [0, text.length];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (estimateTokens(text.slice(0, middle)) <= tokens) fits = middle;
    else over = middle;
  }
  // Not between the halves of a surrogate pair, and rather between words.
  const cut = /[\uD800-\uDBFF]$/.test(text.slice(0, fits)) ? fits - 1 : fits;
  const word = text.slice(0, cut).search(/\s\S*$/);
  return text.slice(0, word > cut * 0.8 ? word + 1 : cut);
}
