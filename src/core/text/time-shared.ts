import { anyOf, fromLanguages, timeWords } from "./languages.ts";
import {
  DAY_MS,
  dayOf,
  latest,
  monday,
  monthsFrom,
  type Rule,
  ruleOf,
  unitPeriod,
  yearNamed,
} from "./time-periods.ts";

/** What the languages say of parts of a year or a month, and of numbers, each in the words of all: a text may mix them. */
export const MIXED = fromLanguages(() => {
  const all = timeWords();
  return {
    /** The first to the fourth, then the last. */
    ordinals: Array.from({ length: 5 }, (_, place) => anyOf(all.map(({ ordinals }) => ordinals?.[place]))),
    half: anyOf(all.map(({ half }) => half)),
    quarter: anyOf(all.map(({ quarter }) => quarter)),
    firsts: anyOf(all.map(({ firsts }) => firsts)),
    next: anyOf(all.map(({ next }) => next)),
    beforeLast: anyOf(all.map(({ beforeLast }) => beforeLast)),
    /** Nouns that have numbers such as "1.2.", which is a day and a month before anything else. */
    numbered: anyOf(all.map(({ numbered }) => numbered)),
    /** Between two numbers of one thing. */
    joining: `(?:[-–/]|(?:${anyOf(all.map(({ joining }) => joining))})(?: \\p{L}{1,3})?)`,
  };
});

/**
 * Rules for whole words, one per source; a language leaves out those that it has no words for. As group `y` they read the
 * year that is named, also from that of now.
 */
export const rule = (
  sources: string | readonly (string | undefined)[],
  read: Rule["read"],
  isRelative = false,
  needsNoWord = false,
): Rule[] =>
  [sources].flat().flatMap((source) =>
    source === undefined
      ? []
      : ruleOf(String.raw`(?<![\p{L}\p{N}\u0001])(?:${source})(?![\p{L}\p{N}])`, {
          read: (groups, now) => read({ ...groups, y: yearNamed(groups, now) }, now),
          isRelative,
          needsNoWord,
        }),
  );

/** A rule that needs no word. */
export const ruleOfDigits = (sources: Parameters<typeof rule>[0], read: Rule["read"]): Rule[] =>
  rule(sources, read, false, true);

/** Dates of digits, in all languages. */
export const NUMERIC_RULES: readonly Rule[] = [
  ruleOfDigits(String.raw`(?<y>(?:19|20)\d\d)-(?<m>\d\d)-(?<d>\d\d)`, ({ y, m, d }) =>
    dayOf(Number(y), Number(m) - 1, Number(d)),
  ),
  ruleOfDigits(String.raw`(?<d>\d{1,2})[.-](?<m>\d{1,2})[.-](?<y>(?:19|20)\d\d)`, ({ y, m, d }) =>
    dayOf(Number(y), Number(m) - 1, Number(d)),
  ),
  ruleOfDigits(String.raw`(?<a>\d{1,2})/(?<b>\d{1,2})/(?<y>(?:19|20)\d\d)`, ({ y, a, b }) =>
    Number(b) > 12 ? dayOf(Number(y), Number(a) - 1, Number(b)) : dayOf(Number(y), Number(b) - 1, Number(a)),
  ),
  ruleOfDigits(String.raw`(?<y>(?:19|20)\d\d)[-/](?<m>0[1-9]|1[0-2])(?![-/]\d)`, ({ y, m }) =>
    monthsFrom(Number(y), Number(m) - 1, 1),
  ),
].flat();

/** "Week 45", "KW 3 2025", by ISO 8601: the first week has 4 January in it. The parameters are sources of patterns. */
export const weekRule = (week: string, ofYear: string, noNoun: string): Rule[] =>
  rule(
    `(?:(?<calendar>kw|(?:kalender|calendar )(?:${week}))|(?:${week})) ?(?<number>[1-9]|[1-4]\\d|5[0-3])(?:${ofYear}|${noNoun})`,
    ({ calendar, number, y }, now) => {
      const inYear = (one: number) => unitPeriod("week", 1 - Number(number), Date.UTC(one, 0, 4));
      // A week belongs to the year of its Thursday.
      const thursday = monday(now) + 3 * DAY_MS;
      // Else it may be that of a plan.
      return y === undefined
        ? { ...latest(inYear, thursday), isVague: calendar === undefined }
        : inYear(Number(y));
    },
  );
