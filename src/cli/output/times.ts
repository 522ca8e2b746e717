import { clockTime } from "../../core/text/calendar.ts";

/** Times as people write and read them: in the time zone of this machine. The API has UTC. */

const AGO = /^([1-9]\d{0,4})(s|min|h|d|w|mo|y)$/;
const PARTS =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?([Zz]|[+-]\d{2}:\d{2})?)?)?)?$/;
const DAYS: Readonly<Record<string, number>> = { today: 0, yesterday: -1, tomorrow: 1 };

/**
 * Epoch milliseconds of `2022`, `2022-09`, `2022-09-03` (their first moment), `2022-09-03 14:30`, RFC 3339 with an offset,
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

/** `2022-09-03` */
export function day(time: string | number): string {
  const date = new Date(time);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `2022-09-03 14:30` */
export function minute(time: string | number): string {
  const date = new Date(time);
  return `${day(time)} ${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
}

/** The day, with the minute where it is not midnight. */
export function moment(time: string | number): string {
  return minute(time).replace(/ 00:00$/, "");
}

interface Progress {
  readonly stage: string;
  readonly done: number;
  /** 0 where it is not known. */
  readonly total: number;
}

const BAR_CHARS = 20;
/** Earlier than this a guess at the time left is worth nothing. */
const MIN_SHARE = 0.02;

/** Lines of a job's progress: its stage, a bar, and the time left. @param now monotonic ms. */
export function progressLines(now: () => number): (progress: Progress) => string {
  let stage = "";
  let since = 0;
  let doneBefore = 0;
  return ({ stage: current, done, total }) => {
    if (current !== stage) {
      stage = current;
      since = now();
      doneBefore = done;
    }
    if (total === 0) return current;
    const share = Math.min(1, done / total);
    const full = Math.round(share * BAR_CHARS);
    const bar = "#".repeat(full) + ".".repeat(BAR_CHARS - full);
    const made = done - doneBefore;
    const isKnown = made > 0 && share >= MIN_SHARE;
    const left = isKnown ? `, ${clockTime(((now() - since) * (total - done)) / made)} left` : "";
    return `${current} [${bar}] ${Math.floor(share * 100)} %${left}`;
  };
}
