import type { Ordinal } from "../ports.ts";
import type { RankingQuestion } from "./question.ts";
import { expression, words } from "../text/expression.ts";
import { fold } from "../text/fold.ts";
import { fromLanguages, timeWords, wordsOfAll } from "../text/languages.ts";
import type { RankingCandidate } from "./ranking-candidate.ts";
import { numberedElse } from "./identifiers.ts";
import { periodFit, type RankedHit } from "./ranking.ts";
import { sumOf } from "./ranking-terms.ts";
import { mayTellState, type Period } from "../text/time-periods.ts";

/** What a match is to the question: an answer, perhaps one and worth a look, or merely among the nearest. */
export type Level = "answer" | "perhaps" | "near";

/**
 * The matches that answer the question, and how sure that is. Something is always nearest, so it is judged by figures
 * that mean nearly the same for a user of twenty memories and of twenty thousand: by which share of its sum of terms a match
 * stands out from those that nobody would take for an answer, and from the second best; how well it has the word of the
 * question that it has worst, and of how many; whether it has the form that is asked for.
 */

/** So many matches from this place on are taken for what merely resembles. */
const BACKGROUND = { from: 5, count: 15 } as const;
/** How well a memory has each word of the question that is no mere resemblance: many notes on one subject answer the question for it. */
const HELD = 0.8;
/** The sum of terms of a memory that has nothing to do with the question; for places that are not there. */
const UNRELATED_SUM = 0.5;
/** So many of the next matches may say what the best one says. */
const MAX_ALIKE = 4;
/** A smaller sum stands out from nothing. */
const LEAST_SUM = 0.5;
/** A word of the question counts as one of its words when it weighs this much of the heaviest one. */
const TELLING_SHARE = 0.5;
/** Added to the log-odds of a memory that happened when the question says: the words of the time are not among those that are matched. */
const ON_TIME = 2;
/** Taken from the log-odds of an earlier memory that may tell the state then: it may as well tell an event of before. */
const OF_BEFORE = 0.5;
/**
 * Weights of the figures in a logistic function, fitted to first matches that are right and to questions that nothing answers, of
 * nine sets of notes (with each left out in turn, a right one stands above an unanswerable question's best in 83 of 100 pairs), and
 * halfway from there to what was fitted to the encoder before: the fit alone leaves right answers of three notes with hardly a score.
 */
const WEIGHTS = { weakest: 6.25, distance: 2.1, gap: 1.65, length: 0.35, offset: -6 } as const;
/** To have the worst of many words well is more than of one; of so many at most. */
const MAX_TELLING = 8;

/**
 * A function that gives the logarithm of the odds that a hit answers the question: more is surer, see
 * `answeringCount`.
 *
 * @param found all that was ranked, best first.
 * @param isAlike whether two memories say the same: a second note of it must not make the first less sure.
 */
export function answerOdds(
  question: RankingQuestion,
  found: readonly RankedHit[],
  candidateOf: (ordinal: Ordinal) => RankingCandidate | undefined,
  isAlike: (a: Ordinal, b: Ordinal) => boolean,
  now: number,
): (hit: RankedHit) => number {
  const [best] = found;
  const other = found
    .slice(1, 1 + MAX_ALIKE)
    .find(({ ordinal }) => best !== undefined && !isAlike(best.ordinal, ordinal));
  const second = other === undefined ? UNRELATED_SUM : sumOf(other.score);
  const least = TELLING_SHARE * Math.max(0, ...question.tokenWeights);
  const telling = [...question.tokenWeights.keys()].filter((i) => (question.tokenWeights[i] ?? 0) >= least);
  const weakest = ({ matches, cosine }: RankingCandidate) =>
    matches.length === 0 ? cosine : telling.reduce((worst, i) => Math.min(worst, matches[i] ?? 0), 1);
  const resembling: RankedHit[] = [];
  for (const hit of found.slice(BACKGROUND.from)) {
    if (resembling.length === BACKGROUND.count) break;
    const candidate = candidateOf(hit.ordinal);
    if (candidate === undefined || weakest(candidate) < HELD) resembling.push(hit);
  }
  const background = backgroundSum(resembling);
  return ({ ordinal, score }) => {
    const candidate = candidateOf(ordinal);
    if (candidate === undefined) return -Infinity;
    const sum = sumOf(score);
    const ofSum = (distance: number) => Math.max(0, distance) / Math.max(LEAST_SUM, sum);
    return (
      WEIGHTS.weakest * weakest(candidate) +
      WEIGHTS.distance * ofSum(sum - background) +
      WEIGHTS.gap * ofSum(sum - second) +
      WEIGHTS.length * Math.min(MAX_TELLING, Math.max(1, telling.length)) +
      ofTime(question.period, candidate, now) +
      WEIGHTS.offset
    );
  };
}

function ofTime(period: Period | undefined, candidate: RankingCandidate, now: number): number {
  if (period === undefined) return 0;
  if (periodFit(period, candidate) === 1) return ON_TIME;
  return mayTellState(period, candidate.occurredAt, now) ? -OF_BEFORE : 0;
}

/** The forms that questions ask for in any language, folded. */
const ASKED = fromLanguages((languages) => {
  const all = wordsOfAll(languages, "question");
  const word = (source: string) => words(source).source;
  const ofWhom = ` (?:${all.ofWhom}) `;
  // When something was, the note's own date answers.
  const when = String.raw`(?:${all.when})(?! (?:${all.was})(?!\p{L}))`;
  const forms: readonly (readonly [asks: RegExp, has: RegExp])[] = [
    [expression(`${word(all.phone)}|^(?:${all.phoneAlone})${ofWhom}`), /\d(?:[ ./()-]{0,2}\d){4}/],
    [expression(`${word(all.mail)}|^e-?mail${ofWhom}`), /@/],
    [
      expression(String.raw`^[^\p{L}]*(?:${word(all.asking)}.*)?${word(all.price)}`),
      expression(String.raw`[\p{N}\p{Sc}\p{Script=Han}]|${word(all.free)}`),
    ],
  ];
  return {
    /**
     * Forms that look like nothing else: which questions ask for one, and which texts have one. A text without it does not
     * answer, however near it is: "what is Arminda's phone number?" of a note that names her.
     */
    forms,
    /** Which questions ask for a number or a time: "how long …", "since when …". */
    amount: expression(
      String.raw`${word(all.howMuch)}|^[^\p{L}]*(?:\p{L}+ )?${when}(?!\p{L})|${all.howMuchUnspaced}`,
    ),
  };
});
/** Numbers and times, folded; of the numbers that are words not the first, which is an article too. */
const AMOUNT = fromLanguages((languages) => {
  const { weekdays, dayPart, months, seasons, christmas, hour } = wordsOfAll(languages, "time");
  const numbers = timeWords().flatMap((words) => words.numbers.slice(1));
  return expression(
    String.raw`\p{N}[\p{N}.,:]*|[一二三四五六七八九十]|(?<!\p{L})(?:${weekdays}|${dayPart})|${words(...numbers, months, seasons, christmas, hour).source}`,
    "g",
  );
});
/**
 * Lowers the logarithm of the odds of a text without the form that is asked for, of one without a number or a time of its own, of one
 * that names other years, and of one that has another number behind a word of the question.
 */
const LACKING = { form: 5, amount: 2.5, year: 2.5, number: 2 } as const;
/** The same for a text that names another thing. */
export const NAMES_ANOTHER = 2;

const YEAR = /(?<![\p{L}\p{N}])(?:19|20)\d\d(?![\p{L}\p{N}])/gu;

/**
 * How much less likely a text answers the question for having nothing of the form that it asks for, as `answerOdds` counts.
 *
 * @param isYearNamed whether the years of the question are those that notes name, and not the time in which they were written: "the fair in 2027".
 * @param isCheck see `checksValue`: another number is the answer, too.
 */
export function lackOfForm(
  question: string,
  { isYearNamed = false, isCheck = false } = {},
): (content: string) => number {
  const years: readonly string[] = isYearNamed ? (question.match(YEAR) ?? []) : [];
  const lackOf = lackOfOtherForms(question);
  const isNumberedElse = numberedElse(isCheck ? "" : question);
  return (content) => {
    const named = years.length === 0 ? [] : (content.match(YEAR) ?? []);
    const isOfOthers = named.length > 0 && !named.some((year) => years.includes(year));
    return lackOf(content) + (isOfOthers ? LACKING.year : 0) + (isNumberedElse(content) ? LACKING.number : 0);
  };
}

function lackOfOtherForms(question: string): (content: string) => number {
  const folded = fold(question);
  const { forms: known, amount } = ASKED();
  const forms = known.filter(([asks]) => asks.test(folded));
  const asksAmount = forms.length === 0 && amount.test(folded);
  if (forms.length === 0 && !asksAmount) return () => 0;
  return (content) => {
    const text = fold(content);
    if (!asksAmount) return forms.some(([, has]) => !has.test(text)) ? LACKING.form : 0;
    const amounts: readonly string[] = text.match(AMOUNT()) ?? [];
    return amounts.every((amount) => folded.includes(amount)) ? LACKING.amount : 0;
  };
}

/** How far scores go from what terms alone say to the odds that the best answers, which also say how it stands out. */
const ODDS_SHARE = 2 / 3;

/**
 * The score of a hit that also says how sure it is that the best of all the user's memories answers: by terms alone an
 * answerable question's right answer scored higher than the best hit of an unanswerable one in 70 of 100 pairs, so in 82.
 * The order of scores stays, and filters do not change them.
 *
 * @param best of all that was ranked, selected or not.
 */
export function scoreByOdds(best: RankedHit, oddsOf: (hit: RankedHit) => number): (score: number) => number {
  const shift = ODDS_SHARE * (oddsOf(best) - logOdds(best.score));
  // A sure best match does not raise those far behind it.
  const share = (score: number) => (shift > 0 ? Math.min(1, score / best.score) : 1);
  return (score) => (score <= 0 ? 0 : 1 / (1 + Math.exp(-logOdds(score) - share(score) * shift)));
}

function logOdds(score: number): number {
  return Math.log(Math.max(1e-9, score) / Math.max(1e-9, 1 - score));
}

/**
 * The odds from which a hit answers. Of ten sets of notes 73 of 100 questions that none answers are refused, and 86 of 100 right
 * first notes are answers; the others are shown as what perhaps answers.
 */
const LINE = 0.9;

/**
 * How many leading hits answer. What was put before a like answer, because it took its place, answers where that does.
 *
 * @param hits best first.
 */
export function answeringCount(hits: readonly RankedHit[], oddsOf: (hit: RankedHit) => number): number {
  const behind = hits.findIndex((hit, place) => {
    const next = hits[place + 1];
    const isAhead = (hit.shares.currency ?? 0) > 0 && next !== undefined;
    return oddsOf(hit) < LINE && !(isAhead && oddsOf(next) >= LINE);
  });
  return behind < 0 ? hits.length : behind;
}

/**
 * When a match is worth a look though nothing surely answers. By the same sets: with a best score of .35 a quarter of the questions that none
 * answers are offered nothing, and 98 of 100 right first notes are offered; a share of .5 of the best score would
 * lose one in a hundred more and offer a quarter fewer.
 */
const PERHAPS = { leastBest: 0.35, shareOfBest: 0.35, atMost: 3 } as const;

/**
 * How many leading matches are worth reading: those that answer, and at most three more.
 *
 * @param scores best first.
 */
export function plausibleCount(scores: readonly number[], relevant: number): number {
  const [best = 0] = scores;
  if (relevant === 0 && best < PERHAPS.leastBest) return 0;
  const more = scores.slice(relevant, relevant + PERHAPS.atMost);
  const behind = more.findIndex((score) => score < PERHAPS.shareOfBest * best);
  return relevant + (behind < 0 ? more.length : behind);
}

function backgroundSum(found: readonly RankedHit[]): number {
  const sums = found.reduce((sum, { score }) => sum + sumOf(score), 0);
  return (sums + (BACKGROUND.count - found.length) * UNRELATED_SUM) / BACKGROUND.count;
}
