import { expression } from "./expression.ts";
import { anyOf, fromLanguages, timeWords, NEVER, type TimeWords, wordsOfAll } from "./languages.ts";
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
  agoPeriod,
  days,
  daysNamed,
  dayStart,
  FEW,
  HOUR_MS,
  lengthOf,
  unitIn,
  wholeYear,
  type Unit,
} from "./time-periods.ts";

/** One of these or of the words of `anchorOf` is in each text that names a time. */
export const DIGITS_ANCHOR =
  /(?<![\p{L}\p{N}])(?:(?:19|20)\d\d|\d{1,2}\.\d{1,2}\.)|[\p{Script=Han}\p{Script=Hangul}]/u;

/** The words of a language that name times. Most texts hold none of most languages, and need no grammar of them. */
export function anchorOf(words: TimeWords): RegExp {
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
    words.tomorrow,
    words.hour,
    `(?:${any(words.weekdays)})${dayPart}`,
  ];
  return expression(
    String.raw`(?<![\p{L}\p{N}])(?:(?:${any([...anchors, ...words.months, ...words.weekdays, ...words.seasons])})(?![\p{L}\p{N}])|(?:${dayAheadOf(words)})\d)`,
  );
}

/** One of the sources of patterns. */
export const any = (list: readonly string[]) => list.map((one) => `(?:${one})`).join("|");

/** Source of what stands between a word and a day without a month. */
export const dayAheadOf = ({ dayAhead, dayBehind }: TimeWords) =>
  String.raw`(?<=(?<!\p{L})(?:${dayAhead}) )(?=\d+${dayBehind === NEVER ? "" : dayBehind})`;

/** Source of a part of a day behind its name, which may be left out. */
export const dayPartOf = ({ dayPart }: TimeWords) => `(?:[ -]?(?:${dayPart}))?`;

/** What the languages say of parts of a year or a month, and of numbers, each in the words of all: a text may mix them. */
export const MIXED = fromLanguages((languages) => {
  const all = timeWords();
  const words = wordsOfAll(languages, "time");
  return {
    ...words,
    /** The first to the fourth, then the last. */
    ordinals: Array.from({ length: 5 }, (_, place) => anyOf(all.map(({ ordinals }) => ordinals[place]))),
    /** Between two numbers of one thing. */
    joining: `(?:[-–/]|(?:${words.joining})(?: \\p{L}{1,3})?)`,
  };
});

/**
 * Rules for whole words, one per source. As group `y` they read the
 * year that is named, also from that of now.
 */
export const rule = (
  sources: string | readonly string[],
  read: Rule["read"],
  isRelative = false,
  needsNoWord = false,
): Rule[] =>
  [sources].flat().flatMap((source) =>
    ruleOf(String.raw`(?<![\p{L}\p{N}\u0001])(?:${source})(?![\p{L}\p{N}])`, {
      read: (groups, now) => read({ ...groups, y: yearNamed(groups, now) }, now),
      isRelative,
      needsNoWord,
    }),
  );

/** A rule that needs no word. */
export const ruleOfDigits = (sources: Parameters<typeof rule>[0], read: Rule["read"]): Rule[] =>
  rule(sources, read, false, true);

/** Dates of digits, in all languages. */
const NUMERIC_RULES: readonly Rule[] = [
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

/** Chinese, Japanese and Korean, which have no spaces between words or endings on them. */
const HAN_NUMBERS = "一二三四五六七八九十";
const hanCount = (count = "") =>
  /^\d+$/.test(count)
    ? Number(count)
    : count === "两" || count === "兩"
      ? 2
      : count === "几"
        ? FEW
        : HAN_NUMBERS.indexOf(count) + 1;
const COUNT = String.raw`(?<count>\d{1,3}|[一二三四五六七八九十两兩几])`;
const HAN_UNIT =
  "(?:(?<day>天|日|일)|(?<week>周|週間?|个?星期|個?星期|个?礼拜|주)|(?<month>[个個か月ヶカ]+月|개월|달)|(?<year>年|년))";
const unspaced = (source: string, read: Rule["read"]): Rule =>
  ruleOf(source, { read, isRelative: false, needsNoWord: true });
const unit = (name: Unit, back: number) => (_: unknown, now: number) => unitPeriod(name, back, now);
const UNSPACED_RULES: readonly Rule[] = [
  unspaced(
    String.raw`(?<y>(?:19|20)\d\d)[年년]\s?(?<m>\d{1,2})[月월]\s?(?<d>\d{1,2})[日号號일]`,
    ({ y, m, d }) => dayOf(Number(y), Number(m) - 1, Number(d)),
  ),
  unspaced(String.raw`(?<y>(?:19|20)\d\d)[年년]\s?(?<m>\d{1,2})[月월]`, ({ y, m }) =>
    monthsFrom(Number(y), Number(m) - 1, 1),
  ),
  unspaced(String.raw`(?<y>(?:19|20)\d\d)[年년]`, ({ y }) => wholeYear(Number(y))),
  unspaced(String.raw`(?<m>\d{1,2})[月월]\s?(?<d>\d{1,2})[日号號일]`, ({ m, d }, now) =>
    daysNamed(Number(d), Number(d), Number(m) - 1, undefined, now),
  ),
  unspaced(`(?:最近|过去|過去|지난 ?)的?${COUNT} ?${HAN_UNIT}`, (groups, now) => ({
    from: dayStart(now) - hanCount(groups["count"]) * lengthOf(unitIn(groups)),
    to: Infinity,
  })),
  unspaced(
    `(?:最近|过去|過去|지난 ?)的?${COUNT} ?(?:个?小时|個?小時|時間|시간)(?: ?동안)?`,
    ({ count }, now) => ({
      from: now - hanCount(count) * HOUR_MS,
      to: Infinity,
    }),
  ),
  unspaced(`${COUNT} ?${HAN_UNIT} ?(?:以?前|之前|전)`, (groups, now) =>
    agoPeriod(hanCount(groups["count"]), unitIn(groups), now),
  ),
  unspaced("前天|一昨日|그저께", (_, now) => days(now, -2)),
  unspaced("昨天|昨日|昨晚|어제", (_, now) => days(now, -1)),
  unspaced("今天|今日|今早|今晚|오늘", (_, now) => days(now, 0)),
  unspaced("上个?周末|上個?週末|先週末|지난 ?주말", unit("weekend", 1)),
  unspaced("周末|週末|주말", unit("weekend", 0)),
  unspaced("上个?(?:星期|礼拜|周)|上個?(?:星期|禮拜|週)|先週|지난 ?주", unit("week", 1)),
  unspaced("这个?(?:星期|礼拜|周)|這個?(?:星期|禮拜|週)|本周|本週|今週|이번 ?주", unit("week", 0)),
  unspaced("上个?月|上個月|先月|지난 ?달", unit("month", 1)),
  unspaced("这个?月|這個月|本月|今月|이번 ?달", unit("month", 0)),
  unspaced("去年|昨年|작년", unit("year", 1)),
  unspaced("今年|올해", unit("year", 0)),
];

/** Rules that no language has words for: those before and those behind the rules of each language. */
export const RULES_OF_SIGNS = { first: NUMERIC_RULES, last: UNSPACED_RULES };

/** How many months back a pattern read. */
export const monthsBack = (before?: string, ofNow?: string) =>
  before !== undefined ? 1 : ofNow === undefined ? undefined : 0;
