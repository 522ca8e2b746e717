import { isDeepStrictEqual } from "node:util";
import { parse, stringify, TomlError } from "smol-toml";
import { isObject } from "../../config/narrow.ts";
import { type LaunchEntry, REMOTE_KEYS, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one table `[section.name]` in a TOML file. All other text stays byte for byte: only headers are read here, and what
 * comes out is parsed and compared with what went in.
 */

type Table = Record<string, unknown>;

/** The table of this name; undefined if there is none. @throws {RefusedEdit} if the text is not TOML. */
export const readTomlEntry = (text: string, section: string, name: string): LaunchEntry | undefined =>
  entryOf(valueOf(text), section, name);

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

/**
 * The text without the table and its sub-tables, each from its header to its last statement, with the empty line before it. A line of
 * a list that looks like a header would end a table too soon: `check` finds that.
 */
function withoutTables(text: string, section: string, name: string): string {
  const kept: string[] = [];
  let behind: string[] = [];
  let isOwn = false;
  let isText = false;
  for (const line of text.split(/(?<=\n)/)) {
    const path = isText ? undefined : pathOf(line);
    if (((line.match(/"""|'''/g)?.length ?? 0) & 1) === 1) isText = !isText;
    if (path !== undefined) {
      kept.push(...behind.splice(0));
      isOwn = isDeepStrictEqual(path.slice(0, 2), [section, name]);
      if (isOwn && /^\r?\n$/.test(kept.at(-1) ?? "")) kept.pop();
    }
    if (!isOwn) kept.push(line);
    else if (/^\s*(?:#|$)/.test(line)) behind.push(line);
    else behind = [];
  }
  return [...kept, ...behind].join("");
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

/** The path of a header; undefined for other lines. `[a."b.c"]` alone is a document, whose only keys are the path. */
function pathOf(line: string): string[] | undefined {
  if (!/^[ \t]*\[/.test(line)) return undefined;
  const path: string[] = [];
  try {
    let value: unknown = valueOf(line);
    while (isObject(value)) {
      const [entry] = Object.entries(value);
      if (entry === undefined) break;
      path.push(entry[0]);
      value = entry[1];
    }
  } catch {
    return undefined;
  }
  return path;
}
