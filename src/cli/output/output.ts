import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { shortened } from "../../core/text/text-size.ts";

/** The only place that writes to the terminal: answers to standard output, complaints to standard error. */

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const STYLES = { strong: [1, 22], faint: [2, 22] } as const;

/** Makes text stand out or recede where a person reads it; with NO_COLOR set to anything (https://no-color.org) it stays as it is. */
export function paint(style: keyof typeof STYLES, text: string): string {
  const { NO_COLOR = "", TERM } = process.env;
  if (text === "" || !process.stdout.isTTY || NO_COLOR !== "" || TERM === "dumb") return text;
  const [on, off] = STYLES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

/** Bytes as they are; resolves when there is room for more. */
export async function printBytes(bytes: Uint8Array): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function complain(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

const PROGRESS_CHARS = 72;

const PROGRESS_EVERY_MS = 10_000;
let nextProgressAt = Infinity;

/** From now on progress is written to a pipe or a file too, a line each ten seconds. */
export function writeProgressLines(): void {
  nextProgressAt = Date.now() + PROGRESS_EVERY_MS;
}

/** Shows a line in place of the one before on a terminal, where an empty line ends it; elsewhere as `writeProgressLines` says. */
export function showProgress(line: string): void {
  const short = oneLine(line).slice(0, PROGRESS_CHARS);
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${short}`);
  else if (short !== "" && Date.now() >= nextProgressAt) {
    nextProgressAt = Date.now() + PROGRESS_EVERY_MS;
    complain(short);
  }
}

/** True for an answer that begins with y; undefined without a terminal. */
export async function ask(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y/i.test(await terminal.question(question));
  } finally {
    terminal.close();
  }
}

/** Ends quietly when the reader of a pipe (`memoryd query … | head -1`) has gone, and with a sentence on what else is wrong. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    complain(`The output could not be written (${error.message}), so what was done is not shown.`);
    process.exit(1);
  });
  // The terminal is gone.
  process.stderr.on("error", () => {});
}

/** Text fit for a terminal: control characters become visible, white space single spaces. */
export const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .trim();

/** The same of a text that keeps its lines. */
export function lines(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .replace(/\n$/, "");
}

/** Names and values below each other, the values in one column; without those that are undefined. */
export function printTable(all: readonly (readonly [name: string, value: string | undefined])[]): void {
  const rows = all.filter(([, value]) => value !== undefined);
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) print(`  ${name.padEnd(width)}  ${value}`);
}

const LINE_CHARS = 100;

export const beginning = (text: string): string => shortened(oneLine(text), LINE_CHARS - 1);

/** ` #garden #todo` */
export const tagWords = (tags: readonly string[]): string => tags.map((tag) => ` #${oneLine(tag)}`).join("");

/** A number with its noun: `1 memory`, `12 memories`, `3 facts`. */
export const plural = (
  count: number,
  one: string,
  several = `${one.replace(/(?<![aeiou])y$/, "ie")}s`,
): string => `${count} ${count === 1 ? one : several}`;

/** Numbers with their nouns, without those of which there are none. */
export const counted = (numbers: { readonly [noun: string]: number }): string[] =>
  Object.entries(numbers).flatMap(([noun, number]) => (number === 0 ? [] : [plural(number, noun)]));

/** Items by a key, in the order of their first ones. */
export function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** A number of bytes with a unit: `812 B`, `4.2 kB`, `31.0 MB`. */
export function inBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Exit codes of every command, as `memoryd --help` lists them. */
export const EXIT = { success: 0, failure: 1, usage: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command. The message is one sentence for the person at the terminal, with the next step in it. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitCode: ExitCode;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: ExitCode } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? EXIT.failure;
  }
}

/** The text of bytes, a byte order mark included. @throws {CliFailure} with that sentence where they are not UTF-8. */
export function textIn(bytes: Uint8Array, sentence: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliFailure(sentence, { cause });
  }
}

/** The failure of a command that was called in a wrong way. */
export const usageFailure = (message: string, options: ErrorOptions = {}): CliFailure =>
  new CliFailure(message, { ...options, exitCode: EXIT.usage });

/** Ctrl-C ends the command, and not the work of the daemon. */
export function leaveToDaemon(sentence: string): void {
  process.once("SIGINT", () => {
    showProgress("");
    complain(`The daemon continues; ${sentence}`);
    process.exit(130);
  });
}

/** Times as people read them: in the time zone of this machine. The API has UTC. */

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
export const moment = (time: string | number): string => minute(time).replace(/ 00:00$/, "");
