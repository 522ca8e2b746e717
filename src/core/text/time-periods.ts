import { once } from "../at-once.ts";
import { expression } from "./expression.ts";

/** Half-open, epoch milliseconds as a clock on the wall shows them (see `wallTime`); an end may be infinite. */
export interface Period {
  readonly from: number;
  readonly to: number;
  /** Another period that may be meant, if less likely. */
  readonly or?: Period;
  /** The text does not say of which year. */
  readonly isOfAnyYear?: boolean;
  /** A day of the week alone, which is as often one to come, or each. */
  readonly isVague?: boolean;
  /** It begins after now: what is asked for was written before. */
  readonly isComing?: boolean;
  /** The text names its beginning and its end. */
  readonly isSpan?: boolean;
  /** No memory happened then: an earlier one may tell what held. */
  readonly isEmpty?: boolean;
}

/** Rules of a language in the order in which they are tried: what one reads is not read by the next. */
export interface Rule {
  readonly pattern: () => RegExp;
  /** Undefined: not a time after all. */
  readonly read: (groups: Groups, now: number) => Period | undefined;
  /** It is named by its distance from now. */
  readonly isRelative: boolean;
  /** It reads digits or signs of Chinese, Japanese and Korean, and needs no word of months, days or the like. */
  readonly needsNoWord: boolean;
  /** Matches in each text that the rule matches in, and is quicker. */
  readonly needs?: RegExp;
}

/** A rule whose pattern is compiled when a text first needs it: all of a language take .1 s. */
export function ruleOf(source: string, { read, isRelative, needsNoWord }: Omit<Rule, "pattern">): Rule {
  return { pattern: once(() => expression(source, "g")), read, isRelative, needsNoWord };
}

/** Rules that read a text only if the expression matches in it; `needs` of each. */
export const needing = (needs: RegExp, rules: readonly Rule[]): Rule[] =>
  rules.map((one) => ({ ...one, needs }));

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;
/** From one 29 February to the next. */
const LEAP_YEARS = 4;
/** As many as "a few" are. */
export const FEW = 3;
/** "Three weeks ago" is said of two and a half to three and a half. */
const ABOUT = 0.5;

/** How far outside a period something still counts a little: as long as the period itself, at least a day, at most a month. */
const MAX_BLUR_MS = 31 * DAY_MS;

/** The weight of a moment in a period that may be meant as well. */
const OR_FIT = 0.8;

/** How well a moment fits a period: 1 within it, at once .5 outside and falling to 0. */
export function fit({ from, to, or }: Period, moment: number): number {
  if (moment >= from && moment < to) return 1;
  if (or !== undefined && fit(or, moment) === 1) return OR_FIT;
  const distance = moment < from ? from - moment : moment - to;
  const blur = Math.min(MAX_BLUR_MS, Math.max(DAY_MS, to - from));
  return Math.max(0, 0.5 * (1 - distance / blur));
}

/** The shortest past time of which a question asks for a state: a February. */
const LEAST_STATE_MS = 28 * DAY_MS;

/** Whether a question may ask for the state at a time ("who owned checkout in June?", "what is the rent this month?"), which an earlier note tells. */
export const mayAskState = ({ from, to }: Period, now: number): boolean =>
  from <= now && (to > now || to - from >= LEAST_STATE_MS);

/** Whether a note of that moment may tell the state at a later time that is asked for. */
export const mayTellState = (period: Period, moment: number, now: number): boolean =>
  moment < period.from && mayAskState(period, now);

const UNITS = ["day", "week", "weekend", "month", "year"] as const;
export type Unit = (typeof UNITS)[number];

/** The named groups of a match. */
export type Groups = Readonly<Record<string, string | undefined>>;

/** The unit whose group matched. */
export const unitIn = (groups: Groups): Unit => UNITS.find((unit) => groups[unit] !== undefined) ?? "day";

export const dayStart = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS;

/** 0 is Monday. */
export const weekdayAt = (time: number): number => (new Date(time).getUTCDay() + 6) % 7;

/** From the last such day of the week before today, 1 to 7. @param weekday 0 is Monday. */
export const daysSince = (weekday: number, now: number): number => ((weekdayAt(now) - weekday + 6) % 7) + 1;

/** To the next such day of the week after today, 1 to 7. @param weekday 0 is Monday. */
export const daysUntil = (weekday: number, now: number): number => ((weekday - weekdayAt(now) + 6) % 7) + 1;

export const monday = (time: number): number => dayStart(time) - weekdayAt(time) * DAY_MS;

/** The day so many days from now. */
export function days(now: number, distance: number): Period {
  const from = dayStart(now) + distance * DAY_MS;
  return { from, to: from + DAY_MS };
}

export function dayOf(year: number, month: number, day: number): Period | undefined {
  const from = Date.UTC(year, month, day);
  const date = new Date(from);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? { from, to: from + DAY_MS } : undefined;
}

/**
 * The days from one to another, at most a month. Without a year, or without a month as well, the latest that have begun.
 * @param month of the last day; 0 is January, numbers outside of 0 to 11 are in the years before and after
 */
export function daysNamed(
  first: number,
  last: number,
  month: number | undefined,
  year: string | undefined,
  now: number,
): Period | undefined {
  const today = new Date(now);
  const dayIn = (y: number, m: number, day: number) => dayOf(y + Math.floor(m / 12), (m + 12) % 12, day);
  for (let back = year === undefined ? -1 : 0; back <= LEAP_YEARS; back += 1) {
    const y = Number(year ?? today.getUTCFullYear()) - (month === undefined || year !== undefined ? 0 : back);
    const m = month ?? today.getUTCMonth() - back;
    const from = dayIn(y, first > last ? m - 1 : m, first)?.from;
    const to = dayIn(y, m, last)?.to;
    if (from !== undefined && to !== undefined && (year !== undefined || from <= now))
      return { from, to, isOfAnyYear: month !== undefined && year === undefined };
  }
  return undefined;
}

export function monthsFrom(year: number, month: number, count: number): Period {
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + count) };
}

export const wholeYear = (year: number): Period => monthsFrom(year, 0, 12);

export function christmas(year: number): Period {
  return { from: Date.UTC(year, 11, 24), to: Date.UTC(year, 11, 27) };
}

/** The latest that has begun of a period that each year has. */
export function latest(ofYear: (year: number) => Period, now: number): Period {
  const year = new Date(now).getUTCFullYear();
  const period = ofYear(year);
  return { ...(period.from <= now ? period : ofYear(year - 1)), isOfAnyYear: true };
}

/** A third of a period, in whole days: 0 is the first. One of three weeks at most, or without an end, is not divided. */
export function thirdOf<P extends Period>(period: P, place: number): P {
  const third = (period.to - period.from) / 3;
  if (!Number.isFinite(third) || third <= WEEK_MS) return period;
  const cut = (at: number) => (at === 3 ? period.to : dayStart(period.from + at * third));
  return { ...period, from: cut(place), to: cut(place + 1) };
}

export function sameDayBefore(day: number, other: number): number {
  const date = new Date(day);
  const inYear = (year: number) => Date.UTC(year, date.getUTCMonth(), date.getUTCDate());
  const year = new Date(other).getUTCFullYear();
  return inYear(year) <= other ? inYear(year) : inYear(year - 1);
}

export function yearLater(period: Period): Period {
  const later = (time: number) =>
    Number.isFinite(time) ? new Date(time).setUTCFullYear(new Date(time).getUTCFullYear() + 1) : time;
  return { ...period, from: later(period.from), to: later(period.to) };
}

export const lengthOf = (unit: Unit): number =>
  ({ day: DAY_MS, week: WEEK_MS, weekend: WEEK_MS, month: 30.5 * DAY_MS, year: 365.25 * DAY_MS })[unit];

/** A day is meant as it is said; weeks, months and years are about so long ago, unless counted from a day. */
export function agoPeriod(count: number, unit: Unit, now: number, isOfDay = false): Period {
  if (unit === "day") return days(now, -count);
  if (unit === "weekend") return unitPeriod(unit, count, now);
  if (isOfDay && unit === "week") return days(now, -7 * count);
  if (isOfDay) {
    const [date, months] = [new Date(now), count * (unit === "year" ? 12 : 1)];
    const { to } = monthsFrom(date.getUTCFullYear(), date.getUTCMonth() - months, 1);
    // The last day of a shorter month.
    return days(Math.min(to - DAY_MS, date.setUTCMonth(date.getUTCMonth() - months)), 0);
  }
  const length = lengthOf(unit);
  return {
    from: dayStart(now - (count + ABOUT) * length),
    to: dayStart(now - (count - ABOUT) * length) + DAY_MS,
  };
}

/** The unit that is so many before the one of now. */
export function unitPeriod(unit: Unit, back: number, now: number): Period {
  const date = new Date(now);
  if (unit === "day") return days(now, -back);
  if (unit === "month") return monthsFrom(date.getUTCFullYear(), date.getUTCMonth() - back, 1);
  if (unit === "year") return wholeYear(date.getUTCFullYear() - back);
  if (unit === "week") {
    const from = monday(now) - back * WEEK_MS;
    return { from, to: from + WEEK_MS };
  }
  // The latest weekend that has begun; asked on one, "last weekend" is the one before.
  const isOnOne = weekdayAt(now) >= 5;
  const begun = monday(now) + (isOnOne ? 5 : -2) * DAY_MS;
  const from = begun - (isOnOne ? back : Math.max(0, back - 1)) * WEEK_MS;
  return { from, to: from + 2 * DAY_MS, or: { from: from - WEEK_MS, to: from - 5 * DAY_MS } };
}

/** A half or a quarter of a year: so many a year, so many back from the one of now. */
export function partOfYear(count: 2 | 4, now: number, back: number): Period {
  const date = new Date(now);
  const months = 12 / count;
  return monthsFrom(date.getUTCFullYear(), months * (Math.floor(date.getUTCMonth() / months) - back), months);
}

/** The year that a pattern read as a number, or as one from that of now. */
export function yearNamed(groups: Groups, now: number): string | undefined {
  const place = ["lastYear", "thisYear", "nextYear"].findIndex((name) => groups[name] !== undefined);
  return place < 0 ? groups["y"] : String(new Date(now).getUTCFullYear() + place - 1);
}
