import { type Command, InvalidArgumentError, Option } from "commander";
import { type ALL_SETTINGS, readSettings, type Settings } from "../../config/config.ts";
import { SECTORS } from "../../core/memory.ts";
import { momentOf, namesNoDay, ownTimeZone, parseLocalTime, wallTime } from "../../core/text/calendar.ts";
import { timeOfQuestion } from "../../core/text/time-expressions.ts";
import * as rules from "../../schemas/text-rules.ts";
import { EXTRA_TOOLS, type ExtraTool, readExtraTools } from "../../schemas/text-rules.ts";
import { usageFailure } from "./output.ts";
import { present } from "../../schemas/wire.ts";

/** The flags of all commands; each command declares which of them it takes. */
export interface Flags {
  readonly dataDir?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly user?: string;
  readonly project?: string;
  readonly session?: string;
  readonly tag?: string[];
  readonly sector?: (typeof SECTORS)[number];
  readonly client?: string;
  readonly byTime?: boolean;
  /** Times are RFC 3339 in UTC. */
  readonly from?: string;
  readonly to?: string;
  readonly at?: string;
  readonly knownAt?: string;
  readonly limit?: number;
  readonly cursor?: string;
  readonly metadata?: string;
  readonly since?: string;
  readonly occurredAt?: string;
  readonly asOf?: string;
  readonly timeZone?: string;
  readonly supersedes?: readonly string[];
  readonly file?: string;
  readonly k?: number;
  readonly minScore?: number;
  readonly all?: boolean;
  readonly query?: string;
  readonly maxTokens?: number;
  readonly erase?: boolean;
  /** A version of a memory. */
  readonly restore?: number;
  readonly confidence?: number;
  readonly source?: string;
  readonly many?: boolean;
  readonly subject?: string;
  readonly keepDocuments?: boolean;
  readonly includeFacts?: boolean;
  readonly backups?: boolean;
  readonly now?: boolean;
  readonly salvage?: string;
  readonly follow?: boolean;
  readonly lines?: number;
  readonly print?: boolean;
  readonly as?: string;
  readonly language?: string;
}

/** Adds a command that talks to the daemon of a data directory. */
export const addCommand = (parent: Command, name: string, description: string): Command =>
  withDataDir(parent.command(name).description(description));

export function withDataDir(command: Command): Command {
  return command
    .option("--data-dir <folder>", "choose the daemon by its data directory (MEMORYD_DATA_DIR)")
    .option("--config <file>", "read the data directory from this configuration file");
}

/** Adds settings as options, but for those that the command has; internal ones are hidden. */
export function withSettings(command: Command, settings: typeof ALL_SETTINGS): Command {
  // The descriptions name the choices.
  command.configureHelp({ optionDescription: ({ description }) => description });
  for (const { name, flag, variable, description, default: usual, choices, isInternal } of settings) {
    if (command.options.some((option) => option.attributeName() === name)) continue;
    const note =
      usual === "" || (Array.isArray(usual) && usual.length === 0) ? "" : `; default ${String(usual)}`;
    const option = new Option(`${flag} <value>`, `${description} (${variable}${note})`).hideHelp(
      isInternal === true,
    );
    command.addOption(choices.length > 0 ? option.choices(choices) : option);
  }
  return command;
}

export const settingsOf = ({ dataDir, config }: Pick<Flags, "dataDir" | "config">): Settings =>
  readSettings({ flags: dataDir === undefined ? {} : { dataDir }, configFile: config });

/** The data directory as flags for a program without these variables; none where the configuration file names it. */
export function dataDirWords({ dataDir, config: configFile }: Pick<Flags, "dataDir" | "config">): string[] {
  const chosen = settingsOf(present({ dataDir, config: configFile }));
  const usual = readSettings({ configFile, env: {} }).dataDir;
  return chosen.dataDir === usual ? [] : ["--data-dir", chosen.dataDir];
}

export function withOwner(command: Command, what: string): Command {
  return command
    .option("-u, --user <id>", `only this user's ${what}`, userId)
    .option("-p, --project <name>", `only ${what} of this project; "" for those without one`, projectOrNone);
}

export function withNewOwner(command: Command, what: string): Command {
  return command
    .option("-u, --user <id>", `give the ${what} to this user`, userId)
    .option("-p, --project <name>", `put the ${what} into this project`, project);
}

export function withPeriod(command: Command, what: string): Command {
  return command
    .option(
      "--from <time>",
      `only ${what} at this time or later, such as 2022-09, yesterday, 7d or "last week"`,
      startTime,
    )
    .option("--to <time>", `only ${what} before this time`, endTime);
}

/* Values of options and arguments. What is thrown is printed with the option's name. */

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}; got ${text}.`);
  };
}

export function part(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError(`It must be a number from 0 to 1; got ${text}.`);
}

/** A time that is over. */
export function pastTime(text: string): string {
  const past = time(text);
  if (Date.parse(past) <= Date.now()) return past;
  throw new InvalidArgumentError(`It must be a time before now; got ${text}.`);
}

/** A time as a person writes it, as the API takes it. */
export function time(text: string): string {
  const date = new Date(parseLocalTime(text) ?? NaN);
  if (!Number.isNaN(date.getTime()) && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9_999)
    return date.toISOString();
  if (namesNoDay(text)) throw new InvalidArgumentError(`There is no such day; got ${text}.`);
  const hint = /^\d+m$/i.test(text) ? ` (${text}in is minutes, ${text}o months)` : "";
  throw new InvalidArgumentError(
    `It must be a time such as 2026-11-21, "2026-11-21 10:15", 2022-09, yesterday, 30min or 7d; got ${text}${hint}.`,
  );
}

/** As `time`; of a period in words, such as "last week", its beginning or its end. */
const edgeOf = (edge: "from" | "to") => (text: string) => {
  const moment = parseLocalTime(text) === undefined ? timeOfPeriod(text)?.[edge] : undefined;
  return moment === undefined || !Number.isFinite(moment) ? time(text) : new Date(moment).toISOString();
};
const startTime = edgeOf("from");
const endTime = edgeOf("to");

/** The period that words such as "last week" name, as a question would. */
function timeOfPeriod(text: string): { readonly from: number; readonly to: number } | undefined {
  const zone = ownTimeZone();
  if (!/\p{L}{3}/u.test(text)) return undefined;
  for (const words of [text, `in ${text}`]) {
    const named = timeOfQuestion(words, wallTime(Date.now(), zone));
    const isAll = named?.start === 0 && named.end === words.length;
    if (named !== undefined && isAll && Number.isFinite(named.from))
      return { from: momentOf(named.from, zone), to: momentOf(named.to, zone) };
  }
  return undefined;
}

/** When something ends, epoch milliseconds. */
export function expiry(text: string): number {
  const end = parseLocalTime(text, Date.now(), true);
  if (end !== undefined && end > Date.now()) return end;
  throw new InvalidArgumentError(
    `It must be a span such as 12h, 90d, 2w or 1y, or a date to come; got ${text}.`,
  );
}

export function textOf(rule: rules.TextRule): (text: string) => string {
  return (text) => {
    const fault = rules.textFault(text, rule);
    if (fault === undefined) return text;
    throw new InvalidArgumentError(`It ${fault}; for example ${JSON.stringify(rule.examples[0])}.`);
  };
}

export const userId = textOf(rules.USER_ID);
export const project = textOf(rules.PROJECT);
/** The empty text stands for none. */
const projectOrNone = textOf(rules.QUERY_PROJECT);
export const sessionId = textOf(rules.SESSION_ID);
const tag = textOf(rules.TAG);

export const tags = (value: string, earlier: readonly string[] = []): string[] => [...earlier, tag(value)];

/** The label of an encoding that the platform reads. */
export function encoding(text: string): string {
  try {
    return new TextDecoder(text).encoding;
  } catch {
    throw new InvalidArgumentError(
      `There is no encoding of this name; for example windows-1252, windows-1251, iso-8859-2, koi8-r, shift_jis or utf-16le.`,
    );
  }
}

export const sectorOption = (): Option =>
  new Option("--sector <name>", "only memories of this sector").choices(SECTORS);

/** The names that `--tools` takes, as a sentence has them. */
export const EXTRA_TOOL_NAMES = Object.keys(EXTRA_TOOLS)
  .filter((name) => name !== "list")
  .join(", ");

/** The tools that `--tools` names. @throws {CliFailure} for one that there is none of. */
export function extraToolsOf(list: string | undefined): readonly ExtraTool[] {
  const { extra, unknown } = readExtraTools(list ?? "");
  if (unknown === undefined) return extra;
  throw usageFailure(`There is no tool "${unknown}"; --tools takes ${EXTRA_TOOL_NAMES}.`);
}
