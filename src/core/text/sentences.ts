import { fromLanguages, wordsOfAll } from "./languages.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Marks with closing quotes behind them, empty lines; no lookahead behind what repeats. */
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
/** Months behind the day in German: "am 3. Mai". */
const GERMAN_MONTH = /^(?:jan|feb|märz?|apr|mai|jun|jul|aug|sep|okt|nov|dez)(?:\p{L}|\b)/iu;
/** Length of the longest abbreviation, and a bracket before it. */
const LOOKED_BACK = 8;
/** Sentences rarely begin in lower case. */
const STARTS_SENTENCE = /^["'“‘«([]*[^\p{Ll}]/u;

/** A text cut after its sentences; the pieces in a row are the text. Cost: linear. */
export const sentencesOf = (text: string): string[] => Array.from(eachSentence(text));

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
  if (/^\d{1,2}$/.test(before) && GERMAN_MONTH.test(after)) return false;
  return after === "" || STARTS_SENTENCE.test(after);
}

/** Rules of form for sentences that can stand alone in a summary; rules on words are for English. */

/** Beginnings of replies, greetings and thanks. */
const REPLY =
  /^(?:(?:yes|yeah|yep|yup|no|nope|nah|sure|okay|ok|oh|ooh|wow|hey|hi|hello|thanks|thank|thx|great|nice|cool|awesome|amazing|sounds|glad|congrats|congratulations|good|aww?|haha|lol|absolutely|definitely|totally|exactly|same|bye|take care|sorry|please|well|right|true|indeed|agreed|fantastic|wonderful|perfect|gotcha|see you|talk to you|let's|can't wait|what|how|why|when|where|who|which|is|are|do|does|did|can|could|would|have you)\b|(?:that|it|this)(?:'s|’s| is| was| sounds| looks| must)\b)/iu;
/** Beginnings that point to an earlier sentence. */
const POINTING_BACK =
  /^["'“‘]?(?:it|its|that|this|these|those|they|them|their|he|she|his|her|there|here|then|and|but|so|or|also|too|plus|because|which|who|such|both|either|neither|one|ones|some|another|others?|however|still|anyway|though|besides)\b/iu;
/** Words that address a particular person. */
const ADDRESSED = /\b(?:you|your|you're|you’re|you've|yours|yourself)\b/iu;
/** Times relative to the day of writing. */
const RELATIVE_TIME =
  /\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past) (?:night|morning|evening|week|weekend|month|year|\p{L}+day)|ago|recently|lately|just now|soon|heute|gestern|morgen|vorhin|aujourd'hui|hier|demain|hoy|ayer|mañana|oggi|ieri|domani|hoje|ontem|amanhã|vandaag|gisteren)(?!\p{L})/iu;
/** Pronouns within, which may point back. */
const PRONOUN_WITHIN = /(?<=\S )(?:it|them|that|this|these|those|another|one|ones|there)\b/iu;
/** Words addressed to a reader, or about a picture beside the text. */
const TURNED =
  /\b(?:let's|let’s|here's|here’s|check out|take a look|gonna|pic|thanks)\b|^\p{Lu}[\p{L}\p{M}]+, /iu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const NAME_OR_NUMBER = /(?<=\S )(?:\p{Lu}[\p{L}\p{M}]{2,}|\p{Lu}{2,})|\d/gu;
const QUESTION_END = /[?？؟]["'”’)\s]*$/u;
const EXCLAMATION_END = /[!！]["'”’)\s]*$/u;
const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*$/u;

const FEW_WORDS = 5;
const BEST_WORDS = 9;
const MANY_WORDS = 32;
const MANY_CONTENT_WORDS = 5;

/** In (0, 1]: near 1 for a statement that needs nothing around it, near 0 for a reply, a question or a scrap. */
export function sentenceWorth(sentence: string): number {
  const words = sentence.match(/\S+/g)?.length ?? 0;
  let worth = 1;
  if (words < FEW_WORDS) worth *= 0.25;
  else if (words < BEST_WORDS) worth *= 0.75;
  else if (words > MANY_WORDS) worth *= 0.7;
  if (QUESTION_END.test(sentence)) worth *= 0.08;
  else if (EXCLAMATION_END.test(sentence)) worth *= 0.75;
  else if (!SENTENCE_END.test(sentence)) worth *= 0.9;
  if (REPLY.test(sentence)) worth *= 0.15;
  else if (POINTING_BACK.test(sentence)) worth *= 0.3;
  if (ADDRESSED.test(sentence)) worth *= 0.35;
  if (RELATIVE_TIME.test(sentence)) worth *= 0.75;
  if (PRONOUN_WITHIN.test(sentence)) worth *= 0.8;
  if (TURNED.test(sentence)) worth *= 0.4;
  worth *= Math.min(1, (1 + contentWords(sentence)) / (1 + MANY_CONTENT_WORDS));
  const names = Math.min(3, sentence.match(NAME_OR_NUMBER)?.length ?? 0);
  return worth * (0.7 + 0.3 * (names / 3));
}

const TALK = fromLanguages((languages) => new Set(wordsOfAll(languages, "statement").talk.split("|")));

/** Whether a word in lower case may be a topic: it is neither a stop word nor common in any conversation. */
export const isTopical = (word: string): boolean => !STOP_WORDS.has(word) && !TALK().has(word);

/** Number of different words that carry content. */
function contentWords(sentence: string): number {
  const words = sentence.toLowerCase().match(WORD) ?? [];
  return new Set(words.filter((word) => word.length > 2 && isTopical(word))).size;
}
