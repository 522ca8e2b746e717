import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from "yaml";
import { type Fields, isObject } from "../../config/narrow.ts";
import { lineOf } from "./edit-json.ts";
import { type EntryFormat, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one entry of a section in a YAML file. All other text stays byte for byte: nodes tell where an entry begins
 * and ends.
 */
export const YAML_ENTRIES: EntryFormat = {
  parse: valueOf,
  /** Before the other entries; its own comments do not stay. */
  put(text, path, entry) {
    const [section, name] = path;
    const rest = YAML_ENTRIES.take(text, path);
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const pair = pairOf(rest, section);
    const map = isMap(pair?.value) ? pair.value : undefined;
    const [first] = map?.items ?? [];
    if (map?.flow === true) throw bracedSection(section);
    let at = first === undefined ? undefined : lineOf(rest, startOf(first));
    const indent = first === undefined ? "  " : rest.slice(at, startOf(first));
    // Comments above an entry are about it.
    while (at !== undefined && /^[ \t]*#/.test(rest.slice(lineOf(rest, at - 1), at)))
      at = lineOf(rest, at - 1);
    const lines = stringify({ [name]: entry }, { lineWidth: 0 })
      .trimEnd()
      .split("\n");
    const written = lines.map((line) => indent + line + eol).join("");
    const gap = rest === "" || rest.endsWith("\n") ? "" : eol;
    return at === undefined
      ? `${rest}${gap}${section}:${eol}${written}`
      : rest.slice(0, at) + written + rest.slice(at);
  },
  /** With the section where nothing else is in it. */
  take(text, [section, name]) {
    const pair = pairOf(text, section);
    const map = isMap(pair?.value) ? pair.value : undefined;
    const own = map?.items.find(({ key }) => isScalar(key) && key.value === name);
    const others = (map?.items.length ?? 0) - (own === undefined ? 0 : 1);
    const entry = others === 0 ? pair : own;
    if (entry === undefined) return text;
    if (map?.flow === true && others > 0) throw bracedSection(section);
    const start = lineOf(text, startOf(entry));
    const lineEnd = text.indexOf("\n", endOf(entry) - 1);
    return text.slice(0, start) + (lineEnd === -1 ? "" : text.slice(lineEnd + 1));
  },
};

const bracedSection = (section: string): RefusedEdit =>
  new RefusedEdit(`It does not write its ${section} line by line`);

function documentOf(text: string) {
  const document = parseDocument<YAMLMap>(text);
  const [error] = document.errors;
  if (error === undefined) return document;
  throw new RefusedEdit(`It is not YAML (line ${error.linePos?.[0].line ?? 1})`, { cause: error });
}

function valueOf(text: string): Fields {
  const value: unknown = documentOf(text).toJS() ?? {};
  if (!isObject(value)) throw new RefusedEdit("It does not hold names with values");
  return value;
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
