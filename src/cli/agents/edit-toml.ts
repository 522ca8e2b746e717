import { isDeepStrictEqual } from "node:util";
import { parse, stringify, TomlError } from "smol-toml";
import { type Fields, isObject } from "../../config/narrow.ts";
import { type EntryFormat, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one table `[section.name]` in a TOML file. All other text stays byte for byte: only headers are read here. A
 * line of a list that looks like a header would end a table too soon: what comes out is compared with what went in.
 */
export const TOML_ENTRIES: EntryFormat = {
  parse: valueOf,
  /** A table that changes goes to the end of the file, without its own comments. */
  put(text, [section, name], entry) {
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const rest = withoutTables(text, section, name);
    const gap = rest === "" ? "" : rest.endsWith("\n") ? eol : eol + eol;
    const table = stringify({ [section]: { [name]: entry } }).trim();
    return `${rest}${gap}${table.replaceAll("\n", eol)}${eol}`;
  },
  take: (text, [section, name]) => withoutTables(text, section, name),
};

/**
 * The text without the table and its sub-tables, each from its header to its last statement, with the empty line before it.
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

function valueOf(text: string): Fields {
  try {
    // Cloned because the parser makes objects without a prototype, which equal no others.
    return structuredClone(parse(text.replace(/^\ufeff/, ""), { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new RefusedEdit(`It is not TOML (line ${error.line})`, { cause: error });
  }
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
