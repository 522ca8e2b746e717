/** Values as people read them, in the browser's language and time zone. */
import type { Memory } from "../client/client.ts";

const day = new Intl.DateTimeFormat(undefined, {
  weekday: "long",
  year: "numeric",
  month: "long",
  day: "numeric",
});
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const month = new Intl.DateTimeFormat(undefined, { month: "short" });
const monthAndYear = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });
const whole = new Intl.NumberFormat();
const second = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const dayOf = (time: string): string => day.format(new Date(time));
export const minuteOf = (time: string | number): string => minute.format(new Date(time));
export const secondOf = (time: string): string => second.format(new Date(time));
export const dateOf = (time: string | number): string => date.format(new Date(time));
export const monthOf = (time: number): string => month.format(new Date(time));
export const clockOf = (time: string): string => clock.format(new Date(time));
export const countOf = (n: number): string => whole.format(n);

/** A day (`2026-12-24`), or a month (`2026-12`). */
export function namedDayOf(named: string): string {
  const [year = NaN, number = NaN, dayOfMonth] = named.split("-").map(Number);
  const at = new Date(year, number - 1, dayOfMonth ?? 1);
  return dayOfMonth === undefined ? monthAndYear.format(at) : dayOf(at.toISOString());
}

/** A note's text as it is; a part of a document in one line, without its markup. */
export const textOf = ({ content, source }: Pick<Memory, "content" | "source">, text = content): string =>
  source === null ? text : withoutMarkup(text);

function withoutMarkup(text: string): string {
  return text
    .replaceAll(/^#{1,6} +/gm, "")
    .replaceAll(/^ *[-*] +/gm, "")
    .replaceAll(/(?<!\s)\*+|\*+(?!\s)|`/g, "")
    .replaceAll(/[^\S\n]{0,8}\n\s*/g, " · ")
    .replaceAll(/!?\[([^[\]]{0,300})\]\([^()]{0,2000}\)/g, "$1");
}

export function bytesOf(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  let unit = 0;
  let value = bytes;
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  return new Intl.NumberFormat(undefined, {
    style: "unit",
    unit: units[unit],
    unitDisplay: unit === 0 ? "long" : "short",
    maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0,
  }).format(value);
}

/** `4:07` of milliseconds into a recording. */
export function positionOf(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A date field's value (`2026-05-04`) as the moment at which that day begins here; undefined for none. */
export function startOfDay(value: string | undefined, daysLater = 0): string | undefined {
  if (value === undefined || value === "") return undefined;
  const [year = NaN, month = NaN, dayOfMonth = NaN] = value.split("-").map(Number);
  const day = new Date(year, month - 1, dayOfMonth + daysLater);
  return Number.isNaN(day.getTime()) ? undefined : day.toISOString();
}

/** The value of a date field for a moment, by the time zone here. */
export function fieldDateOf(time: string | number): string {
  const at = new Date(time);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The value of a field for a day and a time of it. */
export function momentFieldOf(time: string): string {
  return `${fieldDateOf(time)}T${new Date(time).toTimeString().slice(0, "12:00".length)}`;
}

/** Words of less than this are in every text. */
const SHORTEST_MARKED = 3;
/** Common words of questions in several languages; they would mark half of every text. */
const UNMARKED = new Set(
  "the and for was are did does has had who how why what when where which with from that this der die das und wer wie was wann den dem les des que qui est pour los las una por con del".split(
    " ",
  ),
);
/** So much of a word must agree: "planted" is marked for "plant". */
const AGREEING = 5;

const plain = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The text in pieces, those marked that a word of the question stands in. */
export function marked(
  text: string,
  question: string,
): { readonly text: string; readonly isMarked: boolean }[] {
  const words = (question.match(/[\p{L}\p{N}]+/gu) ?? [])
    .map(plain)
    .filter((word) => word.length >= SHORTEST_MARKED && !UNMARKED.has(word));
  if (words.length === 0) return [{ text, isMarked: false }];
  return text.split(/([\p{L}\p{N}\p{M}]+)/u).flatMap((piece, index) => {
    if (piece === "") return [];
    const found = plain(piece);
    const isMarked =
      index % 2 === 1 &&
      words.some(
        (word) => found === word || (word.length >= AGREEING && found.startsWith(word.slice(0, AGREEING))),
      );
    return [{ text: piece, isMarked }];
  });
}

/** One line of at most so many characters. */
export function short(text: string, chars: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= chars ? line : `${line.slice(0, chars - 1)}…`;
}

export interface Piece {
  readonly text: string;
  readonly kind: "same" | "added" | "removed";
}

/** Pairs of words compared, at most: above, the texts are shown whole. */
const MOST_PAIRS = 1_000_000;

/** The edits from one text to another, word by word: the longest common subsequence stays. */
export function difference(before: string, after: string): Piece[] {
  if (before === after) return [{ text: after, kind: "same" }];
  const [a, b] = [before, after].map((text) => text.split(/(?<=\s)/)) as [string[], string[]];
  if (a.length * b.length > MOST_PAIRS)
    return [
      { text: before, kind: "removed" },
      { text: after, kind: "added" },
    ];
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pieces: { text: string; kind: Piece["kind"] }[] = [];
  const push = (text: string | undefined, kind: Piece["kind"]) => {
    const last = pieces.at(-1);
    if (last?.kind === kind) last.text += text ?? "";
    else pieces.push({ text: text ?? "", kind });
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push(a[i], "same");
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      push(a[i], "removed");
      i += 1;
    } else {
      push(b[j], "added");
      j += 1;
    }
  }
  return pieces;
}
