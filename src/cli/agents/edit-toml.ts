import { isDeepStrictEqual } from "node:util";
import { parse, stringify, TomlError } from "smol-toml";
import { isObject } from "../../config/narrow.ts";
import { type LaunchEntry, REMOTE_KEYS, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one table `[section.name]` in a TOML file. All other text stays byte for byte: only where statements begin
 * and end is read here, and what comes out is parsed and compared with what went in.
 */

type Table = Record<string, unknown>;

/** The table of this name; undefined if there is none. @throws {RefusedEdit} if the text is not TOML. */
export function readTomlEntry(text: string, section: string, name: string): LaunchEntry | undefined {
  return entryOf(valueOf(text), section, name);
}

/**
 * The text with the table's command set to `launch`; its other keys and its sub-tables stay. A table that changes goes
 * to the end of the file, without its own comments.
 * @throws {RefusedEdit} if the text is not TOML, or writes its servers in another way than as tables.
 */
export function withTomlEntry(text: string, section: string, name: string, launch: LaunchEntry): string {
  const before = valueOf(text);
  const current = entryOf(before, section, name) ?? {};
  const kept = Object.entries(current).filter(([key]) => !REMOTE_KEYS.includes(key));
  const wanted: Table = { ...launch, ...Object.fromEntries(kept), ...launch };
  if (isDeepStrictEqual(plain(wanted), plain(current))) return text;

  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const rest = withoutTables(text, section, name);
  const gap = rest === "" ? "" : rest.endsWith("\n") ? eol : eol + eol;
  const table = stringify({ [section]: { [name]: wanted } }).trim();
  const edited = `${rest}${gap}${table.replaceAll("\n", eol)}${eol}`;
  check(edited, before, section, name, wanted);
  return edited;
}

/** The text without the table and its sub-tables, or as it is if there is none. @throws {RefusedEdit} as above. */
export function withoutTomlEntry(text: string, section: string, name: string): string {
  const before = valueOf(text);
  if (entryOf(before, section, name) === undefined) return text;
  const edited = withoutTables(text, section, name);
  check(edited, before, section, name, undefined);
  return edited;
}

function withoutTables(text: string, section: string, name: string): string {
  let edited = text;
  for (const { path, start, end } of tablesOf(text).reverse()) {
    if (!isDeepStrictEqual(path.slice(0, 2), [section, name])) continue;
    const lineEnd = edited.indexOf("\n", end);
    // The empty line that set the table apart goes with it.
    const before = edited.slice(0, start).replace(/(?<=\n)\r?\n$/, "");
    edited = before + (lineEnd === -1 ? "" : edited.slice(lineEnd + 1));
  }
  return edited;
}

function check(edited: string, before: Table, section: string, name: string, wanted: unknown): void {
  let after: Table;
  try {
    after = valueOf(edited);
  } catch (error) {
    throw new RefusedEdit(`It does not write its servers as tables ([${section}.${name}])`, { cause: error });
  }
  const isWanted =
    isDeepStrictEqual(plain(entryOf(after, section, name)), plain(wanted)) &&
    isDeepStrictEqual(others(after, section, name), others(before, section, name));
  if (!isWanted) throw new RefusedEdit(`It does not write its servers as tables ([${section}.${name}])`);
}

/** Everything but the entry; a section that holds nothing is as good as none. */
function others(value: Table, section: string, name: string): unknown {
  const { [section]: servers, ...rest } = value;
  const { [name]: _, ...otherServers } = (servers ?? {}) as Table;
  return plain([rest, otherServers]);
}

/** Tables without the prototype that a library gave them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function valueOf(text: string): Table {
  try {
    return parse(text.replace(/^\ufeff/, ""), { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new RefusedEdit(`It is not TOML (line ${error.line})`, { cause: error });
  }
}

function entryOf(value: Table, section: string, name: string): Table | undefined {
  const servers = value[section] as Table | undefined;
  return servers?.[name] as Table | undefined;
}

interface TomlTable {
  readonly path: readonly string[];
  readonly start: number;
  /** Behind its last statement. */
  readonly end: number;
}

function tablesOf(text: string): TomlTable[] {
  const tables: { path: string[]; start: number; end: number }[] = [];
  for (const { start, end } of statementsOf(text)) {
    const table = tables.at(-1);
    if (text[start] === "[") tables.push({ path: pathOf(text.slice(start, end)), start, end });
    else if (table !== undefined) table.end = end;
  }
  return tables;
}

/** `[a."b.c"]` alone is a document, whose only keys are the path. */
function pathOf(header: string): string[] {
  const path: string[] = [];
  let value: unknown = valueOf(header);
  while (isObject(value)) {
    const [entry] = Object.entries(value);
    if (entry === undefined) break;
    path.push(entry[0]);
    value = entry[1];
  }
  return path;
}

/** Strings, comments, brackets and line breaks decide where a statement of valid TOML ends. */
const TOKEN =
  /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[[{]|[\]}]|\n/g;

/** Headers and pairs, without the white space and comments around them. */
function statementsOf(text: string): { readonly start: number; readonly end: number }[] {
  const statements: { start: number; end: number }[] = [];
  let depth = 0;
  let from = 0;
  const close = (to: number): void => {
    const part = text.slice(from, to);
    const start = from + (part.length - part.trimStart().length);
    const end = from + part.trimEnd().length;
    if (end > start) statements.push({ start, end });
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    else if (depth === 0 && (token === "\n" || token.startsWith("#"))) {
      close(index);
      from = index + token.length;
    }
  }
  close(text.length);
  return statements;
}
