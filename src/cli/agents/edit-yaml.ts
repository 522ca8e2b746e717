import { isDeepStrictEqual } from "node:util";
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from "yaml";
import { isObject } from "../../config/narrow.ts";
import { type LaunchEntry, REMOTE_KEYS, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one entry of a section in a YAML file. All other text stays byte for byte: nodes tell where an entry begins
 * and ends, and what comes out is parsed and compared with what went in.
 */

type Values = Record<string, unknown>;

/** The entry of this name; undefined if there is none. @throws {RefusedEdit} if the text is not such a file. */
export function readYamlEntry(text: string, section: string, name: string): LaunchEntry | undefined {
  const entry = entriesOf(valueOf(text), section)[name];
  return isObject(entry) ? entry : undefined;
}

/**
 * The text with the entry set to `launch`; its other keys stay, its own comments do not. A new entry goes before the others.
 * @throws {RefusedEdit} if the text is not such a file, or writes the section in braces.
 */
export function withYamlEntry(text: string, section: string, name: string, launch: LaunchEntry): string {
  const before = valueOf(text);
  const { [name]: current, ...others } = entriesOf(before, section);
  const kept = Object.entries(isObject(current) ? current : {}).filter(([key]) => !REMOTE_KEYS.includes(key));
  const wanted = { ...launch, ...Object.fromEntries(kept), ...launch };
  if (isDeepStrictEqual(current, wanted)) return text;

  const rest = withoutYamlEntry(text, section, name);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const pair = pairOf(rest, section);
  const map = isMap(pair?.value) ? pair.value : undefined;
  const [first] = map?.items ?? [];
  if (map?.flow === true) throw bracedSection(section);
  let at = first === undefined ? undefined : lineOf(rest, startOf(first));
  const indent = first === undefined ? "  " : rest.slice(at, startOf(first));
  // Comments above an entry are about it.
  while (at !== undefined && /^[ \t]*#/.test(rest.slice(lineOf(rest, at - 1), at))) at = lineOf(rest, at - 1);
  const lines = stringify({ [name]: wanted }, { lineWidth: 0 })
    .trimEnd()
    .split("\n");
  const written = lines.map((line) => indent + line + eol).join("");
  const gap = rest === "" || rest.endsWith("\n") ? "" : eol;
  const edited =
    at === undefined
      ? `${rest}${gap}${section}:${eol}${written}`
      : rest.slice(0, at) + written + rest.slice(at);
  check(edited, { ...before, [section]: { ...others, [name]: wanted } });
  return edited;
}

/** The text without the entry, and without the section if that is empty then. @throws {RefusedEdit} as above. */
export function withoutYamlEntry(text: string, section: string, name: string): string {
  const before = valueOf(text);
  const { [name]: removed, ...others } = entriesOf(before, section);
  const pair = pairOf(text, section);
  const isEmpty = Object.keys(others).length === 0;
  if (pair === undefined || (removed === undefined && !isEmpty)) return text;
  const map = isMap(pair.value) ? pair.value : undefined;
  const entry = isEmpty ? pair : map?.items.find(({ key }) => isScalar(key) && key.value === name);
  if (entry === undefined || (map?.flow === true && !isEmpty)) throw bracedSection(section);
  const start = lineOf(text, startOf(entry));
  const lineEnd = text.indexOf("\n", endOf(entry) - 1);
  const edited = text.slice(0, start) + (lineEnd === -1 ? "" : text.slice(lineEnd + 1));
  const { [section]: _, ...rest } = before;
  check(edited, isEmpty ? rest : { ...rest, [section]: others });
  return edited;
}

const bracedSection = (section: string): RefusedEdit =>
  new RefusedEdit(`It does not write its ${section} line by line`);

function check(edited: string, expected: Values): void {
  if (!isDeepStrictEqual(valueOf(edited), expected))
    throw new RefusedEdit("It is written in a way that cannot be changed here");
}

function documentOf(text: string) {
  const document = parseDocument<YAMLMap>(text);
  const [error] = document.errors;
  if (error === undefined) return document;
  throw new RefusedEdit(`It is not YAML (line ${error.linePos?.[0].line ?? 1})`, { cause: error });
}

function valueOf(text: string): Values {
  const value: unknown = documentOf(text).toJS() ?? {};
  if (!isObject(value)) throw new RefusedEdit("It does not hold names with values");
  return value;
}

function entriesOf(value: Values, section: string): Values {
  const found = value[section] ?? {};
  if (isObject(found)) return found;
  throw new RefusedEdit(`Its "${section}" does not hold names with values`);
}

function pairOf(text: string, section: string): Pair | undefined {
  const { contents } = documentOf(text);
  if (isMap(contents) && contents.flow === true) throw bracedSection(section);
  return contents?.items.find(({ key }) => isScalar(key) && key.value === section);
}

const startOf = ({ key }: Pair): number => (isScalar(key) ? (key.range?.[0] ?? 0) : 0);

/** Behind the last character of the value. */
function endOf({ key, value }: Pair): number {
  const node = (value ?? key) as { readonly range?: readonly number[] | null };
  return node.range?.[1] ?? 0;
}

const lineOf = (text: string, offset: number): number =>
  offset <= 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
