/** A word of Latin letters or digits; anything else is counted by the character. */
const WORD = /[A-Za-z0-9]+/g;
const SPACE = /\s+/g;
/** What one token covers, about: of a word, and of what has digits in it, such as an id. */
const LETTERS_PER_TOKEN = 6;
const DIGITS_PER_TOKEN = 2;

/**
 * About how many tokens a language model takes a text for. Rather too many than too few: within a tenth for English
 * prose, more than there are for code and for scripts that are not Latin. No tokenizer is everybody's.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let covered = 0;
  for (const [word] of text.matchAll(WORD)) {
    tokens += Math.ceil(word.length / (/\d/.test(word) ? DIGITS_PER_TOKEN : LETTERS_PER_TOKEN));
    covered += word.length;
  }
  for (const [space] of text.matchAll(SPACE)) covered += space.length;
  return tokens + (text.length - covered);
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
