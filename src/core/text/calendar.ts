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
export function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

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

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
