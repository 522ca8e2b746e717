/** A time that a text names: a period, or one that comes back every year ("in May", "in spring", "on 7 May"). */
export type TimeExpression =
  | Period
  /** Months from 0; `day` of the month where one is named. */
  | { readonly kind: "yearly"; readonly months: readonly number[]; readonly day?: number };

/** Half-open, epoch milliseconds UTC. */
export interface Period {
  readonly kind: "period";
  readonly from: number;
  readonly to: number;
}

const DAY_MS = 86_400_000;
const MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const YEAR = String.raw`((?:19|20)\d\d)`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;

const ISO_DAY = /\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b/g;
const DAY_MONTH = new RegExp(String.raw`\b${DAY}(?: of)? ${MONTH}\b\.?(?:,? ${YEAR}\b)?`, "g");
const MONTH_DAY = new RegExp(String.raw`\b${MONTH}\.? ${DAY}\b(?:,? ${YEAR}\b)?`, "g");
const MONTH_YEAR = new RegExp(String.raw`\b${MONTH}\b\.?,?(?: of)? ${YEAR}\b`, "g");
/** A month alone only after a preposition: "may" and "march" are also verbs. */
const MONTH_ALONE = new RegExp(
  String.raw`\b(?:in|during|since|by|of|until|early|late|mid|last|this|end of|beginning of) ${MONTH}\b`,
  "g",
);
const SEASON = new RegExp(
  String.raw`\b(?:in|during|last|this|of|early|late|since) (?:the )?(spring|summer|autumn|fall|winter)\b(?:(?: of)? ${YEAR}\b)?`,
  "g",
);
const YEAR_ALONE = new RegExp(String.raw`\b(?:in|during|since|of|from|by|until) ${YEAR}\b`, "g");
const RELATIVE = new RegExp(
  String.raw`\b(today|tonight|yesterday|last night|(?:the )?day before yesterday|(?:the )?day after tomorrow|tomorrow` +
    String.raw`|(?:last|this|past|previous|next) (?:week|month|year|weekend)|(?:last|on|next) (?:mon|tues|wednes|thurs|fri|satur|sun)day` +
    String.raw`|(\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|couple of|a couple of|few|a few) (day|week|weekend|month|year)s? ago)\b`,
  "g",
);

const SEASONS: Readonly<Record<string, readonly number[]>> = {
  spring: [2, 3, 4],
  summer: [5, 6, 7],
  autumn: [8, 9, 10],
  fall: [8, 9, 10],
  winter: [11, 0, 1],
};
const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  "couple of": 2,
  "a couple of": 2,
  three: 3,
  few: 3,
  "a few": 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
};
const WEEKDAYS = ["sun", "mon", "tues", "wednes", "thurs", "fri", "satur"];

/** More than these a question does not mean. */
const MAX_TIMES = 8;

/**
 * The times that a text names, at most eight. Weeks begin on Monday; "last week" is the one before that of `now`, a
 * season is three whole months (of the northern half), and a month or day without a year is every year's.
 *
 * @param text folded (lower case)
 * @param now what "yesterday" is relative to
 */
export function timesIn(text: string, now: number): TimeExpression[] {
  const times: TimeExpression[] = [];
  let rest = text;
  /** Each rule takes what it read out of the text, so that "7 May 2023" is not also "May 2023". */
  const take = (pattern: RegExp, read: (groups: readonly string[]) => TimeExpression | undefined) => {
    rest = rest.replace(pattern, (...parts: readonly unknown[]) => {
      const time = read(
        parts
          .slice(
            0,
            parts.findIndex((part) => typeof part === "number"),
          )
          .map((part) => (part ?? "") as string),
      );
      if (time !== undefined) times.push(time);
      return time === undefined ? String(parts[0]) : " | ";
    });
  };
  take(ISO_DAY, ([, year, month, day]) => dayIn(Number(day), Number(month) - 1, Number(year)));
  take(DAY_MONTH, ([, day, month, year]) =>
    dayIn(Number(day), monthOf(month), year === "" ? undefined : Number(year)),
  );
  take(MONTH_DAY, ([, month, day, year]) =>
    dayIn(Number(day), monthOf(month), year === "" ? undefined : Number(year)),
  );
  take(MONTH_YEAR, ([, month, year]) => monthsIn([monthOf(month)], Number(year)));
  take(SEASON, ([, season, year]) => {
    const months = SEASONS[season ?? ""] ?? [];
    return year === "" ? { kind: "yearly", months } : monthsIn(months, Number(year));
  });
  take(MONTH_ALONE, ([, month]) => ({ kind: "yearly", months: [monthOf(month)] }));
  take(YEAR_ALONE, ([, year]) => period(Date.UTC(Number(year), 0), Date.UTC(Number(year) + 1, 0)));
  take(RELATIVE, ([expression = "", , count = "", unit = ""]) => relative(expression, count, unit, now));
  return times.slice(0, MAX_TIMES);
}

/**
 * The periods that a text names by their distance from `now` ("yesterday", "two weeks ago", "next Friday"), at most
 * eight. "On Friday" is none: a question means the one that was, a note as often the one to come.
 *
 * @param text folded (lower case)
 */
export function relativePeriods(text: string, now: number): Period[] {
  const periods = Array.from(text.matchAll(RELATIVE), ([expression, , count = "", unit = ""]) =>
    expression.startsWith("on ") ? undefined : relative(expression, count, unit, now),
  );
  return periods.filter((period) => period !== undefined).slice(0, MAX_TIMES);
}

/** How far from the time named something still counts a little: as long as the time itself, at least a day, at most a month. */
const MAX_BLUR_DAYS = 31;

/** How well a moment fits a time: 1 within it, falling to 0 outside. */
export function fit(time: TimeExpression, moment: number): number {
  if (time.kind === "period") return nearness(moment, time.from, time.to);
  const date = new Date(moment);
  const { months, day } = time;
  if (day === undefined) return months.includes(date.getUTCMonth()) ? 1 : 0;
  const month = months[0] ?? 0;
  // The year's turn lies between a day and its neighbours: look at the year before and after too.
  return Math.max(
    ...[-1, 0, 1].map((years) => {
      const from = Date.UTC(date.getUTCFullYear() + years, month, day);
      return nearness(moment, from, from + DAY_MS);
    }),
  );
}

function nearness(moment: number, from: number, to: number): number {
  if (moment >= from && moment < to) return 1;
  const distance = moment < from ? from - moment : moment - to;
  const blur = Math.min(MAX_BLUR_DAYS * DAY_MS, Math.max(DAY_MS, to - from));
  return Math.max(0, 0.5 * (1 - distance / blur));
}

function monthOf(name = ""): number {
  return MONTH_NAMES.indexOf(name.slice(0, 3));
}

function period(from: number, to: number): Period {
  return { kind: "period", from, to };
}

function dayIn(day: number, month: number, year: number | undefined): TimeExpression | undefined {
  if (day < 1 || day > 31 || month < 0 || month > 11) return undefined;
  if (year === undefined) return { kind: "yearly", months: [month], day };
  return period(Date.UTC(year, month, day), Date.UTC(year, month, day) + DAY_MS);
}

/** A winter begins in the year named and ends in the next. */
function monthsIn(months: readonly number[], year: number): TimeExpression {
  const first = months[0] ?? 0;
  return period(Date.UTC(year, first), Date.UTC(year, first + months.length));
}

function relative(expression: string, count: string, unit: string, now: number): Period | undefined {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const date = new Date(today);
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  const month = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset);
  const year = (offset: number) => Date.UTC(date.getUTCFullYear() + offset, 0);

  if (unit !== "") {
    const number = NUMBERS[count] ?? Number(count);
    if (unit === "day") return period(today - number * DAY_MS, today - (number - 1) * DAY_MS);
    if (unit === "week") return period(monday - number * 7 * DAY_MS, monday - (number - 1) * 7 * DAY_MS);
    if (unit === "weekend") return weekend(monday - number * 7 * DAY_MS);
    return unit === "month"
      ? period(month(-number), month(1 - number))
      : period(year(-number), year(1 - number));
  }
  if (expression === "today" || expression === "tonight") return period(today, today + DAY_MS);
  if (expression.endsWith("before yesterday")) return period(today - 2 * DAY_MS, today - DAY_MS);
  if (expression.endsWith("after tomorrow")) return period(today + 2 * DAY_MS, today + 3 * DAY_MS);
  if (expression === "tomorrow") return period(today + DAY_MS, today + 2 * DAY_MS);
  if (expression === "yesterday" || expression === "last night") return period(today - DAY_MS, today);

  const ahead = expression.startsWith("this") ? 0 : expression.startsWith("next") ? 1 : -1;
  const start = monday + ahead * 7 * DAY_MS;
  if (expression.endsWith("weekend")) return weekend(start);
  if (expression.endsWith("week")) return period(start, start + 7 * DAY_MS);
  if (expression.endsWith("month")) return period(month(ahead), month(ahead + 1));
  if (expression.endsWith("year")) return period(year(ahead), year(ahead + 1));

  const weekday = WEEKDAYS.findIndex((name) => expression.endsWith(`${name}day`));
  if (weekday < 0) return undefined;
  const back = ((date.getUTCDay() - weekday + 6) % 7) + 1;
  // Named on that very weekday, "next" is a week ahead and "last" a week back.
  const day = today + (ahead === 1 ? (back === 7 ? 7 : 7 - back) : -back) * DAY_MS;
  return period(day, day + DAY_MS);
}

/** Of the week that begins with that Monday. */
function weekend(monday: number): Period {
  return period(monday + 5 * DAY_MS, monday + 7 * DAY_MS);
}
