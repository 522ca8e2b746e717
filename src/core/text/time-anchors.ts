import { NEVER, type TimeWords } from "./languages.ts";
import { MIXED } from "./time-shared.ts";

/** What `make` makes of the words of a language, made when it is first asked for. */
export function madeOnce<T>(make: (words: TimeWords) => T): (words: TimeWords) => T {
  const made = new WeakMap<TimeWords, { readonly of: T }>();
  return (words) => {
    const known = made.get(words) ?? { of: make(words) };
    made.set(words, known);
    return known.of;
  };
}

/** One of these or of the words of `anchorOf` is in each text that names a time. */
export const DIGITS_ANCHOR =
  /(?<![\p{L}\p{N}])(?:(?:19|20)\d\d|\d{1,2}\.\d{1,2}\.)|[\p{Script=Han}\p{Script=Hangul}]/u;

/** The words of a language that name times. Most texts hold none of most languages, and need no grammar of them. */
export const anchorOf = madeOnce((words) => {
  const { half, quarter } = MIXED();
  const dayPart = dayPartOf(words);
  const anchors = [
    words.day,
    words.week,
    words.month,
    words.year,
    words.weekend,
    words.fortnight,
    words.christmas,
    half,
    quarter,
    String.raw`[qt][1-4]|(?:kw|kalender(?:${words.week})) ?\d{1,2}|jahres(?:beginn|anfang)`,
    `(?:${any(words.months)})halfte`,
    words.today,
    words.yesterday,
    words.dayBeforeYesterday,
    ...(words.tomorrow === undefined ? [] : [words.tomorrow]),
    ...(words.hour === undefined ? [] : [words.hour]),
    ...(dayPart === "" ? [] : [`(?:${any(words.weekdays)})${dayPart}`]),
  ];
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:(?:${any([...anchors, ...words.months, ...words.weekdays, ...words.seasons])})(?![\p{L}\p{N}])|(?:${dayAheadOf(words)})\d)`,
    "u",
  );
});

/** One of the sources of patterns. */
export const any = (list: readonly string[]) => list.map((one) => `(?:${one})`).join("|");

/** Source of what stands between a word and a day without a month. */
export const dayAheadOf = ({ dayAhead, dayBehind = "" }: TimeWords) =>
  dayAhead === undefined ? NEVER : String.raw`(?<=(?<!\p{L})(?:${dayAhead}) )(?=\d+${dayBehind})`;

/** Source of a part of a day behind its name, which may be left out. */
export const dayPartOf = ({ dayPart }: TimeWords) =>
  dayPart === undefined ? "" : `(?:[ -]?(?:${dayPart}))?`;
