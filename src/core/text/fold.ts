/** More marks than this on one letter are noise, and make normalisation slow. */
const MAX_MARKS = 8;
const MANY_MARKS = new RegExp(`(\\p{M}{${MAX_MARKS}})\\p{M}+`, "gu");

/**
 * Marks that only modify a letter: Latin, Greek and Cyrillic diacritics, Hebrew points, Arabic vowels and the
 * stretching stroke. Marks that are letters in their own right (the voicing of kana, Indic and Thai vowels) stay.
 */
// eslint-disable-next-line no-misleading-character-class -- single marks are what is meant
const MODIFYING_MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]+/g;

/** Hebrew points, Arabic vowels and the stretching stroke, which few people type. */
// eslint-disable-next-line no-misleading-character-class -- single marks are what is meant
const VOWEL_SIGNS = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]+/g;

/** A text as it is usually typed, for an embedding: with vowel signs a model reads other words. */
export const withoutVowelSigns = (text: string): string => text.replace(VOWEL_SIGNS, "");

const SPELLED_OUT = new Map(
  "ßss ẞSS æae ÆAE œoe ŒOE øo ØO đd ĐD ðd ÐD þth ÞTH łl ŁL ıi ςσ"
    .split(" ")
    .map(([letter = "", ...plain]) => [letter, plain.join("")]),
);
const SPELLED_OUT_LETTERS = /[ßẞæÆœŒøØđĐðÐþÞłŁıς]/g;

/** Arabic blessings written as one character, which would unfold to eighteen and eight. */
const PHRASE_LIGATURES = /[\ufdfa\ufdfb]/g;

/**
 * A text as search compares it: compatibility forms unified (full width, ligatures), diacritics gone, lower case
 * unless `keepCase`. Punctuation and spaces stay. Cost: linear, also on long runs of marks.
 */
export function fold(text: string, { keepCase = false }: { readonly keepCase?: boolean } = {}): string {
  // Fast path: plain ASCII has nothing to unify.
  if (!/[^\0-\x7f]/.test(text)) return keepCase ? text : text.toLowerCase();
  const folded = text
    .replace(PHRASE_LIGATURES, " ")
    .replace(MANY_MARKS, "$1")
    .normalize("NFKD")
    .replace(MODIFYING_MARKS, "")
    .normalize("NFC")
    .replace(SPELLED_OUT_LETTERS, (letter) => SPELLED_OUT.get(letter) ?? letter);
  return keepCase ? folded : folded.toLowerCase();
}

/**
 * What `matchAll` gives, as a list. That copies the pattern, and V8 compiles the copy of a long pattern again for each
 * text: the times of eight languages took 4 ms a question so.
 *
 * @param pattern global.
 */
export function matchesOf(pattern: RegExp, text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found.push(match);
    if (match[0] === "") pattern.lastIndex += 1;
  }
  return found;
}
