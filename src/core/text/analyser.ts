import { keepLast } from "../at-once.ts";
import { fold } from "./fold.ts";
import { type Memory, occurredAtOf } from "../memory.ts";
import type { QueryTerm } from "../ports.ts";
import { stem } from "./stemmer.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { relativePeriods } from "./time-expressions.ts";

/** Stored with the terms; another version means that the terms of a store must be remade. */
export const ANALYSER_VERSION = 2;

/** In UTF-16 units; longer terms are cut, in texts and questions alike. */
export const MAX_TERM_LENGTH = 96;

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

/** Share of a pair's weight that a single character has in a question, and of a word's that an emoji has beside words. */
const CHARACTER_WEIGHT = 0.3;

/** A word: letters, digits and their marks. */
const WORD = String.raw`[\p{L}\p{N}\p{M}]+`;
const EMOJI = String.raw`(?:(?![©®™])\p{Extended_Pictographic}|\p{RI}\p{RI})\ufe0f?`;
const IS_EMOJI = new RegExp(`^${EMOJI}$`, "u");
/** Words tied without a space; words and ties share no character, so no input makes this backtrack. Or an emoji. */
const COMPOUND = new RegExp(
  String.raw`${WORD}(?:(?:_+|:\/\/|[.\-/@:'’\\+#&=?%~])${WORD})*(?:\+\+|#)?|${EMOJI}`,
  "gu",
);
/** Ties between the segments of a path or an address; those within a segment are the rest. */
const SEGMENT_TIE = /:\/\/|[/@:\\#&=?]/u;
const PART_TIE = /_+|[.\-'’+%~]/u;
/** Scripts written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Hangul}ー]+\p{M}*/u;
const UNSPACED_RUN = new RegExp(`((?:${UNSPACED.source})+)`, "u");
const CLUSTER = /\P{M}\p{M}*/gu;
/** Scripts with words of one character; in kana or Thai one character means little. */
const CHARACTER_WORD = /[\p{Script=Han}\p{Script=Hangul}]/u;
const THOUSANDS_COMMA = /(?<=\d),(?=\d{3}(?!\d))/g;
const CASE_BOUNDARY = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const LETTERS_AND_DIGITS = /^(\p{L}+)(\d+)$|^(\d+)(\p{L}+)$/u;
const ISO_DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const ORDINAL = /^(\d+)(?:st|nd|rd|th)$/;

/**
 * The terms of a text, in order, repeats kept, stop words left out: what the word index stores and a question looks for.
 *
 * - Case, width, diacritics and English inflection do not count: "Café" is "cafe", "ß" is "ss", "lost" is "lose".
 * - Numbers: "1,000" is "1000", "3.5" stays whole, "20th" is "20".
 * - Identifiers, paths, addresses and versions are found whole, by their segments and by their parts:
 *   `src/http/getUser.ts` gives "src/http/getuser.ts", "getuser.ts", "getuser", "src", "http", "get", "user", "ts".
 *   How the parts of a name are joined does not count: `getUserById`, `get_user_by_id` and `get-user-by-id` are one.
 * - An emoji is a word, whatever its colour; so is a flag.
 * - Scripts without spaces give pairs of neighbouring characters; Han and Hangul single characters too.
 *
 * The same on every platform and Node version but for letters that a later Unicode adds. Cost: linear.
 */
export function analyse(text: string): string[] {
  const terms: string[] = [];
  const plain = fold(text, { keepCase: true }).replace(THOUSANDS_COMMA, "");
  for (const [found] of plain.matchAll(COMPOUND))
    if (IS_EMOJI.test(found)) terms.push(found.replace("\ufe0f", ""));
    else addCompound(found, terms);
  return terms;
}

const MAX_NAMES = 10_000;
const termsOfNames = new Map<string, readonly string[]>();

/** `analyse` of a word, tag or name, kept until `MAX_NAMES` others were asked for: the notes of one store repeat them. */
export function termsOfName(name: string): readonly string[] {
  const known = termsOfNames.get(name);
  if (known !== undefined) return known;
  if (name.length > MAX_TERM_LENGTH) return analyse(name);
  // A copy: V8 keeps the whole text of which a word was cut.
  const own = name.split("").join("");
  const terms = analyse(own);
  keepLast(termsOfNames, own, terms, MAX_NAMES);
  return terms;
}

/**
 * The terms of a memory in the word index: its text, the day it happened written out ("8 May 2023", UTC), the days,
 * months and years that it names by their distance from that ("yesterday", "last month"), its tags and project, and the headings
 * that a piece of a document stands under. A question that names a day, month or year then finds it by words alone.
 */
export function memoryTerms(memory: TermsSource): string[] {
  const { content, tags, project, source } = memory;
  const occurredAt = occurredAtOf(memory);
  return [
    ...analyse(content),
    // The time of ingestion does not fix the "yesterday" of a document.
    ...(source ? dateTerms(occurredAt) : timeTerms(content, occurredAt)),
    ...[tags.join("\n"), project ?? "", source?.section ?? ""].flatMap(analyse),
  ];
}

type TermsSource = Pick<Memory, "content" | "tags" | "project" | "occurredAt" | "createdAt"> &
  Partial<Pick<Memory, "source">>;

/** Characters of a text that are searched for times. */
const SEARCHED_CHARS = 20_000;
const DAY_MS = 86_400_000;

/** Each term once: a text that says "yesterday" adds a day of the month to its own date, seldom a month. */
function timeTerms(content: string, occurredAt: number): string[] {
  const terms = new Set(dateTerms(occurredAt));
  for (const { from, to } of relativePeriods(content.slice(0, SEARCHED_CHARS).toLowerCase(), occurredAt)) {
    const days = (to - from) / DAY_MS;
    // A week or a month means no certain day, and a year no certain month.
    const skipped = days > 31 ? 2 : days > 1 ? 1 : 0;
    // "Two years ago" begins in the year before.
    const middle = Number.isFinite(days) ? (from + to) / 2 : from;
    for (const term of dateTerms(middle).slice(skipped)) terms.add(term);
  }
  return [...terms];
}

/** Day, month and year as `analyse` would give them of "8 May 2023"; empty for times no date can show. */
export function dateTerms(time: number): string[] {
  const date = new Date(time);
  const month = MONTHS[date.getUTCMonth()];
  return month === undefined ? [] : [String(date.getUTCDate()), stem(month), String(date.getUTCFullYear())];
}

/** The terms of a question, each once, with how often it stands there. */
export function questionTerms(question: string): QueryTerm[] {
  const weights = new Map<string, number>();
  const terms = analyse(question);
  const hasPairs = terms.some((term) => UNSPACED.test(term) && term.length > 1);
  const hasWords = terms.some((term) => !IS_EMOJI.test(term));
  for (const term of terms) {
    const isMinor =
      (hasPairs && term.length === 1 && UNSPACED.test(term)) || (hasWords && IS_EMOJI.test(term));
    const weight = isMinor ? CHARACTER_WEIGHT : 1;
    weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return Array.from(weights, ([term, weight]) => ({ term, weight }));
}

function addCompound(compound: string, terms: string[]): void {
  const symbol = /(?:\+\+|#)$/.exec(compound)?.[0];
  if (symbol !== undefined) {
    // "C++", "C#": one letter and a sign is a name; after a longer word the sign means nothing.
    if (compound.length <= 1 + symbol.length) terms.push(compound.toLowerCase());
    addCompound(compound.slice(0, -symbol.length), terms);
    return;
  }
  const address = compound.replace(/^https?:\/\/(?:www\.)?/i, "");
  const segments = address.split(SEGMENT_TIE);
  if (segments.length > 1) addTerm(address.toLowerCase(), terms);
  for (const segment of segments) addSegment(segment, terms);
}

function addSegment(segment: string, terms: string[]): void {
  const parts = segment.split(PART_TIE);
  if (parts.length === 1) {
    addPart(segment, terms);
    return;
  }
  if (/^v?\d+(?:\.\d+)+$/i.test(segment)) {
    addVersion(segment.toLowerCase().replace(/^v/, ""), terms);
    return;
  }
  const day = ISO_DATE.exec(segment);
  if (day !== null) {
    terms.push(segment.replaceAll("-", ""), ...dateTerms(Date.parse(`${day[0]}T00:00:00Z`)));
    return;
  }
  if (!/['’]/u.test(segment)) {
    // Dots tell a file from a word and stay, but for abbreviations ("U.S.A", "Ph.D"); other ties do not count.
    const dotted = parts.some((part) => part.length > 2) ? segment.replace(/[_\-+%~]/g, "") : parts.join("");
    addWhole(dotted.toLowerCase(), terms);
    if (parts.every((part) => part.length <= 2 && /^\p{L}+$/u.test(part)) && segment.includes(".")) return;
  }
  for (const part of parts) addPart(part, terms);
}

function addVersion(version: string, terms: string[]): void {
  terms.push(version.slice(0, MAX_TERM_LENGTH));
  const minor = /^\d+\.\d+(?=\.)/.exec(version)?.[0];
  if (minor !== undefined) addTerm(minor, terms);
}

/** A word without ties, perhaps in camel case or in a script without spaces. */
function addPart(part: string, terms: string[]): void {
  if (UNSPACED.test(part)) {
    for (const piece of part.split(UNSPACED_RUN)) {
      if (UNSPACED.test(piece)) addUnspaced(piece, terms);
      else addPart(piece, terms);
    }
    return;
  }
  const humps = part.length <= MAX_TERM_LENGTH ? part.split(CASE_BOUNDARY) : [part];
  if (humps.length > 1) addTerm(part.toLowerCase(), terms);
  for (const hump of humps) addWord(hump.toLowerCase(), terms);
}

function addWord(word: string, terms: string[]): void {
  if (word === "" || STOP_WORDS.has(word)) return;
  const ordinal = ORDINAL.exec(word)?.[1];
  if (ordinal !== undefined) {
    addTerm(ordinal, terms);
    return;
  }
  const halves = word.length <= MAX_TERM_LENGTH ? LETTERS_AND_DIGITS.exec(word) : null;
  if (halves === null) {
    addWhole(word, terms);
    return;
  }
  addTerm(word, terms);
  for (const half of halves.slice(1)) if (half !== undefined) addWhole(half, terms);
}

function addUnspaced(run: string, terms: string[]): void {
  let previous: string | undefined;
  for (const [cluster] of run.matchAll(CLUSTER)) {
    if (previous !== undefined) addTerm(previous + cluster, terms);
    if (CHARACTER_WORD.test(cluster) || run === cluster) addTerm(cluster, terms);
    previous = cluster;
  }
}

function addWhole(word: string, terms: string[]): void {
  // "05" of a date is 5; longer numbers may be codes whose zeros count.
  addTerm(/^0\d$/.test(word) ? word.slice(1) : stem(word), terms);
}

function addTerm(term: string, terms: string[]): void {
  if (term !== "") terms.push(term.length > MAX_TERM_LENGTH ? term.slice(0, MAX_TERM_LENGTH) : term);
}
