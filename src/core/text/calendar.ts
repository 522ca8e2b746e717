import { DAY_MS } from "./time-periods.ts";

const formats = new Map<string, Intl.DateTimeFormat>();
/** Callers name the zones, so the cache is bounded. */
const MAX_FORMATS = 64;

/** Whether a name is one of a time zone: "Europe/Berlin", "UTC", "+02:00". */
export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** The zone of this machine. */
export const ownTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The local time of a zone at a moment, as epoch milliseconds as if it were UTC. */
export function wallTime(moment: number, timeZone: string): number {
  if (timeZone === "UTC") return moment;
  const parts = formatOf(timeZone)
    .formatToParts(moment)
    .map(({ type, value }) => [type, Number(value)]);
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts) as Record<
    "year" | "month" | "day" | "hour" | "minute" | "second",
    number
  >;
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  return shown + (((moment % 1_000) + 1_000) % 1_000);
}

/** The moment of a zone's local time; the later one where that occurs twice or never. */
export function momentOf(wall: number, timeZone: string): number {
  if (timeZone === "UTC" || !Number.isFinite(wall)) return wall;
  const near = wall - (wallTime(wall, timeZone) - wall);
  return wall - (wallTime(near, timeZone) - near);
}

/**
 * Like `wallTime`, for people to read. Midnight in UTC stays midnight of that day in any zone: the contract and imports read a day without a
 * time so.
 */
const shownTime = (moment: number, timeZone: string): number =>
  wallTime(moment, moment % DAY_MS === 0 ? "UTC" : timeZone);

/** The day of a moment as clocks of a zone show it: "2026-11-21". */
export const dayIn = (moment: number, timeZone: string): string =>
  new Date(shownTime(moment, timeZone)).toISOString().slice(0, 10);

/** Whether clocks of a zone show midnight: the moment may stand for its day. */
export const isMidnightIn = (moment: number, timeZone: string): boolean =>
  shownTime(moment, timeZone) % DAY_MS === 0;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  if (formats.size < MAX_FORMATS) formats.set(timeZone, format);
  return format;
}

const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;
const SECONDS_PER_HOUR = 3_600;

/** A place in a recording, or its length, as players show it: "0:07", "12:31", "1:02:03"; begun seconds do not count. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / MS_PER_SECOND));
  const hours = Math.floor(seconds / SECONDS_PER_HOUR);
  const minutes = Math.floor((seconds % SECONDS_PER_HOUR) / SECONDS_PER_MINUTE);
  const rest = twoDigits(seconds % SECONDS_PER_MINUTE);
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`;
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");

const AGO = /^([1-9]\d{0,4})(s|min|h|d|w|mo|y)$/;
const PARTS =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?([Zz]|[+-]\d{2}:\d{2})?)?)?)?$/;
const DAYS: Readonly<Record<string, number>> = { today: 0, yesterday: -1, tomorrow: 1 };

/**
 * A time as a person writes it, in the zone of this machine: epoch milliseconds of `2022`, `2022-09`, `2022-09-03` (their first moment), `2022-09-03 14:30`, RFC 3339 with an offset,
 * `today`, `yesterday`, `tomorrow`, `now`, a span such as `7d` (before `now`, or after it where `forward`), or epoch
 * milliseconds. Undefined for anything else, and for days that do not exist.
 */
export function parseLocalTime(text: string, now = Date.now(), forward = false): number | undefined {
  const word = text.trim().toLowerCase();
  if (word === "now") return now;
  const date = new Date(now);
  const days = DAYS[word];
  if (days !== undefined)
    return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
  const span = AGO.exec(word);
  if (span !== null) return afterSpan(date, (forward ? 1 : -1) * Number(span[1]), span[2] ?? "");
  if (/^-?\d{10,16}$/.test(word)) return Number(word);

  const match = PARTS.exec(text.trim());
  if (match === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => (part === undefined ? undefined : Number(part)));
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const offset = match[8];
  const found = new Date(0);
  // Unlike `new Date(…)`, this does not take the years 0 … 99 for 1900 … 1999.
  if (offset === undefined) {
    found.setFullYear(year, month - 1, day);
    if (found.getMonth() !== month - 1 || found.getDate() !== day) return undefined;
    return found.setHours(hour, minute, second, milliseconds);
  }
  found.setUTCFullYear(year, month - 1, day);
  if (found.getUTCMonth() !== month - 1 || found.getUTCDate() !== day) return undefined;
  const [hours = 0, minutes = 0] = /[Zz]/.test(offset) ? [] : offset.slice(1).split(":").map(Number);
  if (hours > 23 || minutes > 59) return undefined;
  const sign = offset.startsWith("-") ? -1 : 1;
  return found.setUTCHours(hour, minute, second, milliseconds) - sign * (hours * 60 + minutes) * 60_000;
}

/** Whether a text begins with a date that no calendar has, such as 2026-02-31. */
export function namesNoDay(text: string): boolean {
  const date = /^\d{4}-\d\d-\d\d(?!\d)/.exec(text.trim())?.[0];
  return date !== undefined && parseLocalTime(date) === undefined;
}

function afterSpan(date: Date, count: number, unit: string): number {
  const then = new Date(date);
  if (unit === "s") return then.setSeconds(then.getSeconds() + count);
  if (unit === "min") return then.setMinutes(then.getMinutes() + count);
  if (unit === "h") return then.setHours(then.getHours() + count);
  if (unit === "d") return then.setDate(then.getDate() + count);
  if (unit === "w") return then.setDate(then.getDate() + 7 * count);
  return unit === "mo"
    ? then.setMonth(then.getMonth() + count)
    : then.setFullYear(then.getFullYear() + count);
}
