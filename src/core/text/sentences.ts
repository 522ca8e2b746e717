/**
 * Where sentences may end: marks with the closing quotes and brackets behind them, empty lines. No lookahead behind what
 * repeats: a million full stops must not be looked at a million times.
 */
const END = /[.!?…]+["'”’»)\]]*|[。！？｡]+["'”’»」』）)\]]*|\n[^\S\n]*\n/gu;
/** Marks of scripts without spaces, which need no space behind them. */
const UNSPACED_END = /^[。！？｡]/u;
/** Abbreviations whose full stop ends no sentence; lower case, without the stop. */
const ABBREVIATIONS = new Set(
  (
    "mr mrs ms dr prof st sr jr vs al ed eds dept approx jan feb mar apr jun jul aug sep sept oct nov dec " +
    "e.g i.e cf ca a.m p.m u.s u.k ph.d z.b d.h bzw"
  ).split(" "),
);
/** Abbreviations whose full stop ends no sentence before a number. */
const BEFORE_NUMBERS = new Set(["fig", "figs", "eq", "no", "nos", "nr", "vol", "p", "pp", "ch", "sec"]);
/** Length of the longest abbreviation, and a bracket before it. */
const LOOKED_BACK = 8;
/** Sentences rarely begin in lower case. */
const STARTS_SENTENCE = /^["'“‘«([]*[^\p{Ll}]/u;

/**
 * A text cut after its sentences; the pieces in a row are the text. "Dr. Who" and "e.g. this" are not cut, and neither
 * is before a lower-case letter. Cost: linear.
 */
export function sentencesOf(text: string): string[] {
  return Array.from(eachSentence(text));
}

/** As `sentencesOf`, one at a time, for texts with millions of sentences. */
export function* eachSentence(text: string): Generator<string> {
  let start = 0;
  for (const match of text.matchAll(END)) {
    // Within the space behind the sentence before.
    if (match.index < start) continue;
    const end = match.index + match[0].length;
    const needsSpace = !UNSPACED_END.test(match[0]);
    if (needsSpace && end < text.length && !/\s/.test(text.slice(end - 1, end + 1))) continue;
    if (match[0].startsWith(".") && !endsSentence(text, match.index, end)) continue;
    let next = end;
    while (next < text.length && /\s/.test(text.charAt(next))) next += 1;
    if (next > start) yield text.slice(start, next);
    start = next;
  }
  if (start < text.length) yield text.slice(start);
}

function endsSentence(text: string, stop: number, end: number): boolean {
  const before =
    /(?<![^\s(["'“‘])[^\s(["'“‘]+$/u.exec(text.slice(Math.max(0, stop - LOOKED_BACK), stop))?.[0] ?? "";
  const after = text.slice(end, end + 40).trimStart();
  const word = before.toLowerCase();
  if (ABBREVIATIONS.has(word) || /^\p{Lu}$/u.test(before)) return false;
  if (BEFORE_NUMBERS.has(word) && /^\d/.test(after)) return false;
  return after === "" || STARTS_SENTENCE.test(after);
}
