import { analyse } from "./analyser.ts";
import { expression } from "./expression.ts";
import { fold } from "./fold.ts";
import { anyOf, fromLanguages, timeWords, wordsOfAll } from "./languages.ts";
import { dayOf, monthsFrom, type Period } from "./time-periods.ts";

const YEAR = String.raw`(?:(?:,? | of | de | del | do )?(?<year>20\d\d))?`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|er|\.|º|°|-?го)?`;
const LOCALES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "hi"];
const termsOfMonth = new Map<number, readonly string[]>();

/** The names of a month in many languages, as terms of the word index. @param month 0 is January. */
export function monthTerms(month: number): readonly string[] {
  const known = termsOfMonth.get(month);
  if (known !== undefined) return known;
  const time = Date.UTC(2024, month, 5);
  const names = LOCALES.flatMap((locale) =>
    (["long", "short"] as const).flatMap((style) => [
      new Intl.DateTimeFormat(locale, { month: style, day: "numeric", timeZone: "UTC" }).format(time),
      new Intl.DateTimeFormat(locale, { month: style, timeZone: "UTC" }).format(time),
    ]),
  );
  // Chinese and Japanese count their months.
  const terms = [...new Set([...names, `${month + 1}月`].flatMap((name) => analyse(name)))].filter(
    (term) => /^\p{L}[\p{L}\p{M}]{2}/u.test(term) || /\d月/.test(term),
  );
  termsOfMonth.set(month, terms);
  return terms;
}

/** Dates as people write them, folded, each of which tells a day or a month; and the names of each month in all languages. */
const DATES = fromLanguages((languages) => {
  const words = wordsOfAll(languages, "time");
  const { last, since, until, between, next, in: inWords, this: now } = words;
  const months = Array.from({ length: 12 }, (_, place) =>
    anyOf(timeWords().map(({ months }) => months[place])),
  );
  const month = `(?<month>${months.join("|")})\\.?`;
  const patterns = [
    String.raw`(?<year>20\d\d)-(?<number>\d\d)-(?<day>\d\d)`,
    String.raw`(?<day>\d{1,2})\.(?<number>\d{1,2})\.(?<year>20\d\d)?(?!\d)`,
    String.raw`(?<day>\d{1,2})/(?<number>\d{1,2})/(?<year>20\d\d)`,
    `${DAY} (?:of |de |di |do )?${month}${YEAR}`,
    `${month} ${DAY}(?!\\d)${YEAR}`,
    `${month}${YEAR}`,
  ].map((source) => expression(String.raw`(?<![\p{L}\p{N}])(?:${source})(?![\p{L}\p{N}])`, "g"));
  return {
    patterns: [...patterns, /(?:(?<year>20\d\d)年\s?)?(?<number>\d{1,2})月(?:\s?(?<day>\d{1,2})日)?/gu],
    names: months.map((names) => expression(`^(?:${names})$`)),
    past: expression(String.raw`(?<!\p{L})(?:${last}|${since}) $`),
    inTime: expression(String.raw`(?<!\p{L})(?:${[inWords, until, between, next, now].join("|")}) ?$`),
  };
});
/** A month that is a frequent name of people where it has a capital letter and no preposition of time: "Mei watched the apps", "says Jan". */
const NAME_OF_MONTH = /^(?:Mei|Jan)$/;
const SEARCHED_CHARS = 4_000;
const MAX_DATES = 16;
/** A day or month that ended at most so long before a text was written is meant of that year ("moved in on 3 January"). */
const JUST_OVER_MS = 31 * 86_400_000;

export interface NamedDate extends Period {
  /** It has a day or a year: "may" alone is hardly ever a month. */
  readonly isCertain: boolean;
}

/**
 * The days and months that a text names, at most 16, in no order. One without a year is the first that ends after the text was
 * written, or in the month before. A month alone is left out where it is a name ("Mei said"), or is over ("last December"). Cost: linear.
 */
export function datesNamed(text: string, writtenAt: number): NamedDate[] {
  let rest = fold(text.slice(0, SEARCHED_CHARS));
  const found: NamedDate[] = [];
  const { patterns, names, past, inTime } = DATES();
  for (const pattern of patterns) {
    rest = rest.replace(pattern, (match: string, ...args: unknown[]) => {
      const { year, number, month, day } = args.at(-1) as Readonly<Record<string, string | undefined>>;
      const isCertain = year !== undefined || day !== undefined;
      const [offset, whole] = args.slice(-3) as [number, string];
      const ahead = whole.slice(Math.max(0, offset - 40), offset);
      const asWritten = text.slice(offset, offset + (month ?? "").length);
      const isName = NAME_OF_MONTH.test(asWritten) && !inTime.test(ahead);
      // "As last December" is over.
      if (!isCertain && (isName || past.test(ahead))) return match;
      const index =
        number === undefined ? names.findIndex((name) => name.test(month ?? "")) : Number(number) - 1;
      const inYear = (one: number) =>
        day === undefined ? monthsFrom(one, index, 1) : dayOf(one, index, Number(day));
      const written = new Date(writtenAt - JUST_OVER_MS).getUTCFullYear();
      const first = inYear(Number(year ?? written));
      const period =
        year === undefined && first !== undefined && first.to <= writtenAt - JUST_OVER_MS
          ? inYear(written + 1)
          : first;
      if (period !== undefined && index >= 0 && index < 12 && found.length < MAX_DATES)
        found.push({ ...period, isCertain });
      // What one pattern reads is not read by the next.
      return "\u0001".repeat(match.length);
    });
  }
  return found;
}
