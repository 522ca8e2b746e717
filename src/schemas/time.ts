/** How times stand in requests and answers; inside they are epoch milliseconds UTC. */

/** 0001-01-01T00:00:00.000Z: times outside four-digit years could not be written as RFC 3339 again. */
export const EARLIEST_TIME = -62_135_596_800_000;
/** 9999-12-31T23:59:59.999Z. */
export const LATEST_TIME = 253_402_300_799_999;

const DATE = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]";
/** The shape of a time as text: a date, or RFC 3339 with an optional offset. The day may not exist. */
export const TIME_PATTERN = `^${DATE}([Tt ]${CLOCK}:[0-5][0-9]([.][0-9]+)?([Zz]|[+-]${CLOCK})?)?$`;
/** The same, or epoch milliseconds of ten digits or more (fewer would be read as a year by a person). */
export const QUERY_TIME_PATTERN = `^-?[0-9]{10,16}$|${TIME_PATTERN}`;

const PARTS =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))?)?$/;

/**
 * Epoch milliseconds of a time in a body: `YYYY-MM-DD` (midnight UTC), RFC 3339 (UTC where it has no offset,
 * digits past milliseconds cut), or a whole number of epoch milliseconds. Undefined for anything else, for a
 * day that does not exist, and for years outside 0001 … 9999.
 */
export function parseTime(value: unknown): number | undefined {
  const time = typeof value === "string" ? parseText(value) : value;
  return typeof time === "number" && Number.isInteger(time) && time >= EARLIEST_TIME && time <= LATEST_TIME
    ? time
    : undefined;
}

/** The same of a query parameter, where epoch milliseconds are ten digits or more. */
export function parseQueryTime(value: string): number | undefined {
  if (/^-?\d{10,16}$/.test(value)) return parseTime(Number(value));
  // An offset's "+" that nobody encoded arrives as a space.
  return parseTime(value.replace(/ (?=\d{2}:\d{2}$)/, "+"));
}

/** RFC 3339 in UTC with milliseconds. */
export function formatTime(time: number): string {
  return new Date(time).toISOString();
}

function parseText(text: string): number | undefined {
  const match = PARTS.exec(text);
  if (match === null) return undefined;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const milliseconds = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  if (hour > 23 || minute > 59 || second > 59 || part(10) > 23 || part(11) > 59) return undefined;

  const date = new Date(0);
  // Unlike Date.UTC, this does not take the years 0 … 99 for 1900 … 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offsetMinutes = (match[9] === "-" ? -1 : 1) * (part(10) * 60 + part(11));
  return date.setUTCHours(hour, minute - offsetMinutes, second, milliseconds);
}
