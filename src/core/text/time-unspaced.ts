import {
  agoPeriod,
  dayOf,
  days,
  daysNamed,
  dayStart,
  FEW,
  HOUR_MS,
  lengthOf,
  monthsFrom,
  ruleOf,
  unitIn,
  unitPeriod,
  wholeYear,
  type Rule,
  type Unit,
} from "./time-periods.ts";

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
export const UNSPACED_RULES: readonly Rule[] = [
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
