/**
 * How languages speak of time. Each entry is the source of a regular expression over folded text (lower case, without
 * diacritics), words divided by `|`; a blank stands for any white space.
 */
export interface TimeWords {
  /** January to December; Monday to Sunday; spring to winter; 1 to 12, then "a few". */
  readonly months: readonly string[];
  readonly weekdays: readonly string[];
  readonly seasons: readonly string[];
  readonly numbers: readonly string[];
  readonly day: string;
  readonly week: string;
  readonly month: string;
  readonly year: string;
  readonly weekend: string;
  readonly christmas: string;
  readonly today: string;
  readonly yesterday: string;
  readonly dayBeforeYesterday: string;
  /** "last" before its noun, and after it where it can stand there. */
  readonly last: string;
  readonly lastAfter?: string;
  readonly this: string;
  /** Up to now: "the past week". */
  readonly past?: string;
  /** The first, second and last third of a longer time: "early", "mid", "at the end of". */
  readonly parts: readonly [string, string, string];
  /** Two weeks, however they are counted. */
  readonly fortnight: string;
  readonly tomorrow?: string;
  readonly hour?: string;
  /** Behind a day of the week: "evening". */
  readonly dayPart?: string;
  /** Around a length of time: "vor …", "… ago". */
  readonly agoBefore?: string;
  readonly agoAfter?: string;
  /** Words that a month, a year or a season needs before it to be a time; articles included. */
  readonly in: string;
  /** The same behind it, in languages that say it there. */
  readonly inAfter?: string;
  /** An article alone, which is enough before "weekend". */
  readonly the?: string;
  /** Between the parts of a date. */
  readonly of: string;
  readonly before: string;
  readonly after: string;
  readonly since: string;
  readonly until: string;
  readonly between: string;
  readonly from: string;
  readonly and: string;
  readonly to: string;
  /** "(from …) on". */
  readonly onwards?: string;
  /** Words that ask what happened, or hold such a question together, and say nothing of what about. */
  readonly empty: string;
}

export const words = (list: string) => list.split(" ").map((word) => word.replaceAll("_", " "));
