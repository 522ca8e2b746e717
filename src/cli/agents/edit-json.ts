import { isDeepStrictEqual } from "node:util";
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { isObject } from "../../config/narrow.ts";
import { type EntryFormat, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one entry in a JSON file that may have comments and trailing commas. Text that is not the entry's stays
 * byte for byte; `jsonc-parser`'s own `modify` would move or drop the comment behind the entry before.
 */

const SETTINGS = { allowTrailingComma: true, disallowComments: false } as const;
const BYTE_ORDER_MARK = "\ufeff";

export const JSON_ENTRIES: EntryFormat = {
  parse: valueOf,
  /** Key by key where it was there, so that its comments stay; a new entry goes before the others. */
  put(text, path, entry, before) {
    if (before === undefined) return set(orEmptyObject(text), path, entry);
    return Object.entries(entry).reduce(
      (edited, [key, value]) =>
        isDeepStrictEqual(before[key], value) ? edited : set(edited, [...path, key], value),
      text,
    );
  },
  take: (text, path) => remove(text, path),
};

/** The text, or where it is blank, an empty object. */
export const orEmptyObject = (text: string): string =>
  text.replace(BYTE_ORDER_MARK, "").trim() === "" ? `${text.trim()}{}\n` : text;

/** The object that the file holds; an empty file holds one too. @throws {RefusedEdit} for anything else. */
export function valueOf(text: string): Record<string, unknown> {
  const body = text.replace(BYTE_ORDER_MARK, " ");
  if (body.trim() === "") return {};
  const errors: ParseError[] = [];
  const tree = parseTree(body, errors, SETTINGS);
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new RefusedEdit(`It is not JSON (${printParseErrorCode(error.error)} in line ${line})`);
  }
  // Cloned because `getNodeValue` makes objects without a prototype, which equal no others; `parse` makes a key
  // `__proto__` their prototype.
  const value: unknown = tree && structuredClone(getNodeValue(tree));
  if (!isObject(value)) throw new RefusedEdit("It does not hold a JSON object");
  return value;
}

type Path = readonly (string | number)[];

/** Adds an element before the others of an array. */
export const addElement = (text: string, path: Path, value: unknown): string => add(text, path, "", value);

/** Replaces the value at a path, or adds it before the other properties of its parent, which is made where there is none. */
export function set(text: string, path: Path, value: unknown): string {
  const found = nodeAt(text, path);
  const parent = path.slice(0, -1);
  if (found === undefined && parent.length > 0 && nodeAt(text, parent) === undefined)
    return set(text, parent, { [String(path.at(-1))]: value });
  if (found === undefined) return add(text, parent, `${JSON.stringify(path.at(-1))}: `, value);
  return replace(text, found.offset, found.length, written(text, found.parent?.parent, value));
}

/** Adds a property, or with the label "" an element, before the others of the object or array at a path. */
function add(text: string, path: Path, label: string, value: unknown): string {
  const parent = nodeAt(text, path);
  if (parent === undefined) throw new RefusedEdit("It does not hold a JSON object");
  const [first] = parent.children ?? [];
  const item = label + written(text, parent, value);
  const eol = eolOf(text);
  const indent = indentIn(text, parent);
  if (first === undefined) {
    const brace = parent.offset + parent.length - 1;
    const start = text.slice(0, brace).trimEnd();
    return start + eol + indent + item + eol + indentAt(text, parent.offset) + text.slice(brace);
  }
  const line = lineOf(text, first.offset);
  if (text.slice(line, first.offset).trim() !== "") return replace(text, first.offset, 0, `${item}, `);
  let at = line;
  // Comments above a property are about it.
  while (/^[ \t]*\/\//.test(text.slice(lineOf(text, at - 1), at))) at = lineOf(text, at - 1);
  return replace(text, at, 0, `${indent}${item},${eol}`);
}

/** A value as the file would have it inside of `parent`: on one line where its neighbours are. */
function written(text: string, parent: Node | undefined, value: unknown): string {
  if (parent === undefined) return JSON.stringify(value);
  const isOneLine =
    (parent.children?.length ?? 0) > 0 &&
    !text.slice(parent.offset, parent.offset + parent.length).includes("\n");
  if (isOneLine) return JSON.stringify(value);
  const indent = indentIn(text, parent);
  const step = indent.slice(indentAt(text, parent.offset).length);
  return JSON.stringify(value, null, step).replaceAll("\n", eolOf(text) + indent);
}

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

const indentIn = (text: string, parent: Node): string =>
  indentAt(text, parent.offset) + (/^[ \t]+(?=\S)/m.exec(text)?.[0] ?? "  ");

/** Takes a property or an element out; what then holds white space only becomes `{}` or `[]`. */
export function remove(text: string, path: Path): string {
  const node = nodeAt(text, path);
  const item = node?.parent?.type === "property" ? node.parent : node;
  const siblings = item?.parent?.children ?? [];
  if (item?.parent === undefined) return text;
  const previous = siblings[siblings.indexOf(item) - 1];
  const end = item.offset + item.length;
  const comma = commaAfter(text, end);
  const line = lineOf(text, item.offset);
  const to = comma === undefined ? end : comma + 1;
  const { offset, length } = item.parent;
  const rest = text.slice(offset + 1, item.offset) + text.slice(to, offset + length - 1);
  if (rest.trim() === "") return replace(text, offset + 1, length - 2, "");
  const restOfLine = /^[ \t]*\r?\n/.exec(text.slice(to))?.[0];
  const without =
    text.slice(line, item.offset).trim() === "" && restOfLine !== undefined
      ? text.slice(0, line) + text.slice(to + restOfLine.length)
      : text.slice(0, item.offset) + text.slice(to).replace(comma === undefined ? "" : /^ /, "");
  if (comma !== undefined || previous === undefined) return without;
  const stray = commaAfter(text, previous.offset + previous.length);
  return stray === undefined ? without : replace(without, stray, 1, "");
}

/** Offset of the comma after a value, past comments; undefined if something else comes first. */
function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  const offset = scanner.getTokenOffset();
  return text[offset] === "," ? offset : undefined;
}

function nodeAt(text: string, path: Path): Node | undefined {
  const root = parseTree(text.replace(BYTE_ORDER_MARK, " "), [], SETTINGS);
  return root && findNodeAtLocation(root, [...path]);
}

/** The start of the line that an offset is in. */
export const lineOf = (text: string, offset: number): number =>
  offset <= 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(lineOf(text, offset)))?.[0] ?? "";

const replace = (text: string, offset: number, length: number, content: string): string =>
  text.slice(0, offset) + content + text.slice(offset + length);
