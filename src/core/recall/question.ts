import { analyse, questionTerms } from "../text/analyser.ts";
import { bestBm25, type TermWeights } from "./bm25.ts";
import { expression } from "../text/expression.ts";
import { fold } from "../text/fold.ts";
import type { EmbeddingProfile } from "../embedding.ts";
import type { Ordinal, QueryTerm } from "../ports.ts";
import { momentOf, wallTime } from "../text/calendar.ts";
import { fromLanguages, wordsOfAll } from "../text/languages.ts";
import { asksForNothingElse, timeOfQuestion } from "../text/time-expressions.ts";
import { DAY_MS, type Period } from "../text/time-periods.ts";

/** A question as ranking reads it: everything that does not depend on a memory. */
export interface RankingQuestion {
  /** Its words as `wordsOf` gives them, with a space before and after each: names are looked for here. */
  readonly text: string;
  /** Its terms; a weight is how often the term stands there times its inverse document frequency. */
  readonly terms: readonly QueryTerm[];
  /** Those of them that only the paste beside the question has. */
  readonly pasted: readonly QueryTerm[];
  /** Terms of the average memory. */
  readonly averageLength: number;
  /** See `bestBm25`; 0 where the question has no terms. */
  readonly bestWords: number;
  /** Share of the terms' weight that no memory of the user has, in [0, 1]: what they ask for can only be found by meaning. */
  readonly unknownShare: number;
  /** The weights of the question's tokens; they sum to 1, or there are none. */
  readonly tokenWeights: Float32Array;
  /** See `EmbeddingProfile`. */
  readonly tokenFloor: number;
  /** It asks for a time: "when", "how long". */
  readonly asksTime: boolean;
  /** It asks for somebody or something that has a name: "where", "who", "which". */
  readonly asksName: boolean;
  /** When what it asks for happened. */
  readonly period: Period | undefined;
  /** See `TimedQuestion`. */
  readonly periodTerms: readonly string[];
  /** Memories that name the period, where that is known. */
  readonly naming: readonly Ordinal[];
  /** The phrases in quotation marks, see `quotedPhrases`. */
  readonly phrases: readonly string[];
}

export interface QuestionInput {
  readonly text: string;
  /** The text without the time it names; the text itself where that has no say. */
  readonly topic: string;
  readonly period: Period | undefined;
  readonly periodTerms?: readonly string[] | undefined;
  readonly naming?: readonly Ordinal[];
  /** What was pasted beside it; see `Prompt`. */
  readonly pasted?: string;
  /** Words of the topic, from its embedding. */
  readonly words: readonly string[];
  readonly weights: TermWeights;
  /** The profile of the model that embedded the topic. */
  readonly profile: EmbeddingProfile;
}

const ASKS_TIME = new RegExp(
  String.raw`^\s*(?:(?:for |since )?(?:when|how long)|how many (?:days|weeks|months|years)|how old` +
    String.raw`|(?:(?:on|in|at|since|by) )?(?:what|which) (?:day|date|time|week|month|year|season)|what(?:'s| is| was) the date)\b`,
);
const ASKS_NAME = new RegExp(
  String.raw`^\s*(?:(?:from|in|at|to|with|for|by|of) )?(?:where|who|whose|whom|which|what(?:'s| is| was| are| were)? (?:the |her |his |their |my )?` +
    String.raw`(?:names?|city|cities|country|countries|states?|towns?|places?|books?|movies?|films?|songs?|bands?|games?|brand|company|titles?))\b`,
);

/** A question, and the time in it. */
export interface TimedQuestion {
  /** Moments, not wall times. */
  readonly period: Period;
  /** The period as clocks show it, as texts name it. */
  readonly days: Period;
  /** The question without the words that name it. */
  readonly topic: string;
  /** Terms of a month, a day or a season without a year, or of a day of the week, which may be of any; else none. */
  readonly terms: readonly string[];
  /** It asks what happened then, or is to come, and for nothing else. */
  readonly isTimeAlone: boolean;
  /** The period is to come: memories name it and were written before. */
  readonly isComing: boolean;
  /** The same of the coming year, where that may be meant. */
  readonly mayCome?: { readonly period: Period; readonly days: Period };
}

/** The time that a question names, as clocks of that zone show it; undefined where it names none. */
export function timedQuestion(text: string, now: number, timeZone: string): TimedQuestion | undefined {
  const named = timeOfQuestion(text, wallTime(now, timeZone));
  if (named === undefined) return undefined;
  const moments = ({ from, to, or }: Period): Period => ({
    from: momentOf(from, timeZone),
    to: momentOf(to, timeZone),
    ...(or === undefined ? {} : { or: moments(or) }),
  });
  const topic = `${text.slice(0, named.start)} ${text.slice(named.end)}`.replace(/\s+/g, " ").trim();
  // A day with its number is no other one of its month.
  const isOfDay = named.to - named.from <= DAY_MS && /\d/.test(text.slice(named.start, named.end));
  const isOpen = (named.isOfAnyYear === true && !isOfDay) || named.isVague === true;
  const words = isOpen ? text.slice(named.start, named.end) : "";
  const terms = analyse(words).filter((term) => /\p{L}{3}/u.test(term));
  const isComing = named.isComing === true;
  return {
    period: moments(named),
    days: named,
    topic,
    terms,
    isTimeAlone: asksForNothingElse(topic),
    isComing,
    ...(named.mayCome && { mayCome: { period: moments(named.mayCome), days: named.mayCome } }),
  };
}

/**
 * "All notes on", "tell me about", "alles über": words that ask for a list, and say nothing of what it is of. Notes only where a text or a part of it
 * begins with them: "where are my notes?" asks of notes.
 */
const LISTING = fromLanguages((languages) => {
  const { listing, everything, courtesy, thanks } = wordsOfAll(languages, "question");
  return expression(
    String.raw`(?<![\p{L}\p{N}])(?:(?<=^[^\p{L}\p{N}]{0,8}|[:;,–—] ?)(?:${listing}|${courtesy})|${everything}|(?:${thanks})(?=[^\p{L}\p{N}]*$))(?![\p{L}\p{N}])`,
    "g",
  );
});

/** A question without what merely asks for a list, or is polite; the question itself where nothing else is left. */
export function withoutListing(text: string): string {
  const folded = fold(text);
  // If a letter folds to several, places in the folded text are not those in the text.
  if (folded.length !== text.length) return text;
  let rest = text;
  for (const { index, 0: found } of [...folded.matchAll(LISTING())].reverse())
    rest = `${rest.slice(0, index)}${rest.slice(index + found.length)}`;
  if (rest === text || !/[\p{L}\p{N}]{2}/u.test(rest)) return text;
  // "Please show me all notes on …"
  return withoutListing(rest.replace(/\s+/g, " ").trim());
}

/** Reads a question. */
export function readQuestion({
  text,
  topic,
  period,
  periodTerms = [],
  naming = [],
  pasted = "",
  words,
  weights,
  profile,
}: QuestionInput): RankingQuestion {
  const folded = fold(text);
  const asked = questionTerms(topic).flatMap(({ term, weight }) => {
    const counts = weight * weights.inverseDocumentFrequency(term);
    if (weights.isKnown(term)) return [{ term, weight: counts, isKnown: true }];
    // A misspelt word counts as the one it is meant for, or as unknown.
    const meant = weights.meantBy(term);
    return [
      { term, weight: meant.length === 0 ? counts : 0, isKnown: false },
      ...meant.map((near) => ({
        term: near.term,
        weight: (weight * near.weight * weights.inverseDocumentFrequency(near.term)) / meant.length,
        isKnown: true,
      })),
    ];
  });
  const beside = pastedTerms(pasted, asked, weights);
  const terms = [...asked, ...beside];
  return {
    text: ` ${wordsOf(text)} `,
    terms,
    pasted: beside,
    averageLength: weights.averageLength,
    bestWords: Math.max(bestBm25(asked), beside.length > 0 ? PASTED.leastAsked : 0),
    unknownShare: unknownShare(terms),
    tokenWeights: tokenWeights(words, (word) => weights.inverseDocumentFrequency(analyse(word)[0] ?? word)),
    tokenFloor: profile.tokenFloor,
    asksTime: ASKS_TIME.test(folded),
    asksName: ASKS_NAME.test(folded),
    period,
    periodTerms,
    naming,
    phrases: quotedPhrases(text),
  };
}

/**
 * Of a paste only rare words and numbers that the user's memories have help. Each counts twice, beside what is asked and not as a part
 * of it: of 27 prompts whose paste names what they ask about 24 find the right note first (19 with half, as a part of it), and of 408
 * whose paste has nothing to do with them one is lost.
 */
const PASTED = { terms: 6, share: 2, leastInverseDocumentFrequency: 3.5, leastAsked: 10 } as const;
/** Three signs, a letter with a digit, or a pair of a script without spaces that is more than grammar. */
const TELLS = /.{3}|^(?:\p{L}\d|\d\p{L})$|^(?=.*[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]).{2}$/u;
/** A number of a paste that tells nothing: of a year. */
const YEAR = /^(?:19|20)\d\d$/;

function pastedTerms(
  pasted: string,
  asked: readonly { readonly term: string }[],
  weights: TermWeights,
): { readonly term: string; readonly weight: number; readonly isKnown: true }[] {
  const known = new Set(asked.map(({ term }) => term));
  return [...new Set(analyse(pasted))]
    .filter((term) => TELLS.test(term) && !YEAR.test(term) && !known.has(term) && weights.isKnown(term))
    .map((term) => ({ term, frequency: weights.inverseDocumentFrequency(term) }))
    .filter(({ frequency }) => frequency >= PASTED.leastInverseDocumentFrequency)
    .sort((a, b) => b.frequency - a.frequency)
    .slice(0, PASTED.terms)
    .map(({ term, frequency }) => ({ term, weight: PASTED.share * frequency, isKnown: true }));
}

function unknownShare(terms: readonly { readonly weight: number; readonly isKnown: boolean }[]): number {
  let [unknown, all] = [0, 0];
  for (const { weight, isKnown } of terms) {
    all += weight;
    if (!isKnown) unknown += weight;
  }
  return all > 0 ? unknown / all : 0;
}

/**
 * The weight of each token, relative to the sum: the root of its word's inverse document frequency. Tokens match by
 * meaning, and how rare a word is says less of its meaning than of the word.
 */
function tokenWeights(
  words: readonly string[],
  inverseDocumentFrequency: (word: string) => number,
): Float32Array {
  const weights = Float32Array.from(words, (word) => Math.sqrt(inverseDocumentFrequency(word)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return sum > 0 ? weights.map((weight) => weight / sum) : weights;
}

const QUOTED =
  /"([^"]{1,256})"|“([^“”]{1,256})”|„([^„“”]{1,256})[“”]|«([^«»]{1,256})»|「([^「」]{1,256})」/gu;

/** The phrases in double quotation marks of a question, as `containsPhrase` compares it; nothing without a letter or digit. */
export function quotedPhrases(question: string): string[] {
  return Array.from(question.matchAll(QUOTED), (match) =>
    wordsOf(match.slice(1).find((group) => group !== undefined) ?? ""),
  ).filter((phrase) => phrase !== "");
}

/** Whether a text has the words of the phrase one after another: case, diacritics and punctuation between words do not count. */
export function containsPhrase(text: string, phrase: string): boolean {
  const words = wordsOf(text);
  if (/[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(phrase))
    return ` ${words} `.includes(` ${phrase} `);
  // Without spaces between words there is no edge to find.
  return words.includes(phrase);
}

/** The words of a text, folded, with one space between. */
export function wordsOf(text: string): string {
  return (fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).join(" ");
}
