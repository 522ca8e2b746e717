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
