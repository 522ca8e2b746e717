import { analyse, questionTerms } from "../text/analyser.ts";
import { bestBm25 } from "./bm25.ts";
import { fold } from "../text/fold.ts";
import type { Sector } from "../memory.ts";
import { sectorOfQuestion } from "../sectors/sectors.ts";
import type { QueryTerm } from "../ports.ts";
import { type TimeExpression, timesIn } from "../text/time-expressions.ts";

/** A question as ranking reads it: everything that does not depend on a memory. */
export interface RankingQuestion {
  /** Its words as `wordsOf` gives them, with a space before and after each: names are looked for here. */
  readonly text: string;
  readonly terms: readonly QueryTerm[];
  /** What each term counts: its weight times its inverse document frequency. */
  readonly termWeights: ReadonlyMap<string, number>;
  /** See `bestBm25`; 0 where the question has no terms. */
  readonly bestWords: number;
  /** What each of the question's tokens counts; they sum to 1, or there are none. */
  readonly tokenWeights: Float32Array;
  /** It asks for a time: "when", "how long". */
  readonly asksTime: boolean;
  /** It asks for somebody or something that has a name: "where", "who", "which". */
  readonly asksName: boolean;
  /** The kind of memory it asks for, where its form says. */
  readonly sector: Sector | undefined;
  /** The times it names. */
  readonly times: readonly TimeExpression[];
  /** What stands in quotation marks, see `quotedPhrases`. */
  readonly phrases: readonly string[];
}

export interface QuestionInput {
  readonly text: string;
  readonly now: number;
  /** Of the question's embedding. */
  readonly words: readonly string[];
  /** As `MemoryStore.inverseDocumentFrequency`: terms that no memory has get the highest. */
  readonly inverseDocumentFrequency: (term: string) => number;
}

const ASKS_TIME = new RegExp(
  String.raw`^\s*(?:(?:for |since )?(?:when|how long)|how many (?:days|weeks|months|years)|how old` +
    String.raw`|(?:(?:on|in|at|since|by) )?(?:what|which) (?:day|date|time|week|month|year|season)|what(?:'s| is| was) the date)\b`,
);
const ASKS_NAME = new RegExp(
  String.raw`^\s*(?:(?:from|in|at|to|with|for|by|of) )?(?:where|who|whose|whom|which|what(?:'s| is| was| are| were)? (?:the |her |his |their |my )?` +
    String.raw`(?:names?|city|cities|country|countries|states?|towns?|places?|books?|movies?|films?|songs?|bands?|games?|brand|company|titles?))\b`,
);

/** Terms hold no space, so no memory has this one. */
const UNKNOWN_TERM = " ";

/** Reads a question. */
export function readQuestion({ text, now, words, inverseDocumentFrequency }: QuestionInput): RankingQuestion {
  const folded = fold(text);
  const terms = questionTerms(text);
  const unknown = inverseDocumentFrequency(UNKNOWN_TERM);
  return {
    text: ` ${wordsOf(text)} `,
    terms,
    termWeights: new Map(terms.map(({ term, weight }) => [term, weight * inverseDocumentFrequency(term)])),
    bestWords: bestBm25(
      terms.map(({ term, weight }) => {
        const idf = inverseDocumentFrequency(term);
        return { weight, idf, isKnown: idf < unknown };
      }),
    ),
    tokenWeights: tokenWeights(words, (word) => inverseDocumentFrequency(analyse(word)[0] ?? word)),
    asksTime: ASKS_TIME.test(folded),
    asksName: ASKS_NAME.test(folded),
    sector: sectorOfQuestion(text),
    times: timesIn(folded, now),
    phrases: quotedPhrases(text),
  };
}

/**
 * What each token counts, relative to the sum: the root of its word's inverse document frequency. Tokens match by
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

const QUOTED = /"([^"]{1,256})"|“([^”]{1,256})”|„([^“”]{1,256})[“”]|«([^»]{1,256})»|「([^」]{1,256})」/gu;

/** What stands in double quotation marks of a question, as `containsPhrase` compares it; nothing without a letter or digit. */
export function quotedPhrases(question: string): string[] {
  return Array.from(question.matchAll(QUOTED), (match) =>
    wordsOf(match.slice(1).find((group) => group !== undefined) ?? ""),
  ).filter((phrase) => phrase !== "");
}

/** Whether a text has the words of the phrase one after another: case, diacritics and punctuation between words do not count. */
export function containsPhrase(text: string, phrase: string): boolean {
  const words = wordsOf(text);
  if (/[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(phrase)) {
    return ` ${words} `.includes(` ${phrase} `);
  }
  // Without spaces between words there is no edge to find.
  return words.includes(phrase);
}

/** The words of a text, folded, with one space between. */
export function wordsOf(text: string): string {
  return (fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).join(" ");
}
