import { isDeepStrictEqual } from "node:util";
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  parse,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isObject } from "../../config/is-object.ts";
import { type LaunchEntry, type Launch, REMOTE_KEYS, RefusedEdit } from "./known-agents.ts";

/**
 * Changes of one entry in a JSON file that may have comments and trailing commas. Text that is not the entry's stays
 * byte for byte; `jsonc-parser`'s own `modify` would move or drop the comment behind the entry before.
 */

const SETTINGS = { allowTrailingComma: true, disallowComments: false } as const;

/** The entry of this name under `section`; undefined if there is none. @throws {RefusedEdit} if the text is not such a file. */
export function readJsonEntry(text: string, section: string, name: string): LaunchEntry | undefined {
  const { body } = split(text);
  const value: unknown = (sectionOf(valueOf(body), section) ?? {})[name];
  return isObject(value) ? value : undefined;
}

/**
 * The text with the entry's command set to `launch`. An entry that is there keeps its other keys, such as `env`, unless
 * it was a remote one.
 * @throws {RefusedEdit} if the text is not such a file, or cannot be changed without a loss.
 */
export function withJsonEntry(text: string, section: string, name: string, launch: Launch): string {
  const { mark, body } = split(text);
  const before = valueOf(body);
  const current = (sectionOf(before, section) ?? {})[name];
  const isLocal = isObject(current) && !REMOTE_KEYS.some((key) => Object.hasOwn(current, key));
  let edited = body.trim() === "" ? `{}${eolOf(body)}` : body;
  if (isLocal) {
    for (const [key, value] of Object.entries(launch)) edited = set(edited, [section, name, key], value);
  } else {
    edited = set(edited, [section, name], launch);
  }

  const servers = { ...sectionOf(before, section), [name]: isLocal ? { ...current, ...launch } : launch };
  check(edited, { ...before, [section]: servers });
  return mark + edited;
}

/**
 * The text without the entry, or as it is if there is none. The section goes too if it is empty then and came with the
 * entry.
 * @param earlier the text before it was last changed here, if that is known.
 * @throws {RefusedEdit} as above.
 */
export function withoutJsonEntry(text: string, section: string, name: string, earlier?: string): string {
  const { mark, body } = split(text);
  const before = valueOf(body);
  const { [name]: removed, ...rest } = sectionOf(before, section) ?? {};
  if (removed === undefined) return text;
  let edited = remove(body, [section, name]);
  check(edited, { ...before, [section]: rest });
  if (isBlank(edited, section) && cameWithEntry(text, section, name, earlier)) {
    edited = remove(edited, [section]);
    const { [section]: _, ...others } = before;
    check(edited, others);
  }
  return mark + edited;
}

/** Whether a section has nothing in it, not even a comment. */
function isBlank(text: string, section: string): boolean {
  const node = findNodeAtLocation(treeOf(text), [section]);
  return node !== undefined && /^\{\s*\}$/.test(text.slice(node.offset, node.offset + node.length));
}

/** Known of a file that was without the section, and of one that holds nothing but what is written into a new one. */
function cameWithEntry(text: string, section: string, name: string, earlier: string | undefined): boolean {
  if (earlier === undefined) {
    const entry = readJsonEntry(text, section, name);
    return entry !== undefined && text === set("{}\n", [section, name], entry);
  }
  try {
    return sectionOf(valueOf(split(earlier).body), section) === undefined;
  } catch (error) {
    if (error instanceof RefusedEdit) return false;
    throw error;
  }
}

/** A key that stands in the file twice, say, is found here: the first is changed, and the last one counts. */
function check(edited: string, expected: Record<string, unknown>): void {
  if (!isDeepStrictEqual(valueOf(edited), expected)) throw new RefusedEdit("It has something in it twice");
}

function split(text: string): { readonly mark: string; readonly body: string } {
  return text.startsWith("\ufeff") ? { mark: "\ufeff", body: text.slice(1) } : { mark: "", body: text };
}

function valueOf(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, SETTINGS);
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new RefusedEdit(`It is not JSON (${printParseErrorCode(error.error)} in line ${line})`);
  }
  if (!isObject(value)) throw new RefusedEdit("It does not hold a JSON object");
  return value;
}

function sectionOf(value: Record<string, unknown>, section: string): Record<string, unknown> | undefined {
  const found = value[section];
  if (found === undefined || isObject(found)) return found;
  throw new RefusedEdit(`Its "${section}" is not an object`);
}

function set(text: string, path: readonly string[], value: unknown): string {
  const root = treeOf(text);
  const found = findNodeAtLocation(root, [...path]);
  if (found !== undefined) {
    const layout = layoutOf(text, found.parent ?? root);
    return replace(text, found.offset, found.length, layout.write(value));
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth -= 1;
  const parent = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
  const key = path[depth];
  if (parent === undefined || key === undefined) throw new RefusedEdit("It does not hold a JSON object");
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return insert(text, parent, key, nested);
}

/** Puts a property last, behind all comments. */
function insert(text: string, parent: Node, key: string, value: unknown): string {
  const brace = parent.offset + parent.length - 1;
  const layout = layoutOf(text, parent.children?.[0] ?? parent);
  const last = parent.children?.at(-1);
  const lastEnd = last === undefined ? undefined : last.offset + last.length;
  const hasTrailingComma = lastEnd !== undefined && commaAfter(text, lastEnd) !== undefined;
  const property = `${JSON.stringify(key)}:${layout.isOneLine ? "" : " "}${layout.write(value)}${hasTrailingComma ? "," : ""}`;

  const contentEnd = text.slice(0, brace).trimEnd().length;
  const around = layout.isOneLine
    ? property
    : `${layout.eol}${layout.indent}${property}${layout.eol}${layout.outerIndent}`;
  const withProperty = layout.isOneLine
    ? replace(text, contentEnd, 0, around)
    : replace(text, contentEnd, brace - contentEnd, around);
  return lastEnd === undefined || hasTrailingComma ? withProperty : replace(withProperty, lastEnd, 0, ",");
}

function remove(text: string, path: readonly string[]): string {
  const property = findNodeAtLocation(treeOf(text), [...path])?.parent;
  const siblings = property?.parent?.children ?? [];
  if (property === undefined) return text;
  const previous = siblings[siblings.indexOf(property) - 1];

  const end = property.offset + property.length;
  const comma = commaAfter(text, end);
  const lineStart = text.lastIndexOf("\n", property.offset - 1) + 1;
  const isFirstInLine = text.slice(lineStart, property.offset).trim() === "";
  let from = property.offset;
  let to = comma === undefined ? end : comma + 1;
  const rest = /^[ \t]*(?:\r?\n)/.exec(text.slice(to))?.[0];
  if (isFirstInLine && rest !== undefined) {
    from = lineStart;
    to += rest.length;
  }
  const without = replace(text, from, to - from, "");
  if (comma !== undefined || previous === undefined) return without;
  const stray = commaAfter(text, previous.offset + previous.length);
  return stray === undefined ? without : replace(without, stray, 1, "");
}

/** Where the comma behind a value is, past comments; undefined if something else comes first. */
function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  const offset = scanner.getTokenOffset();
  return text[offset] === "," ? offset : undefined;
}

interface Layout {
  readonly eol: string;
  readonly isOneLine: boolean;
  readonly indent: string;
  /** Of the line with the object's closing brace. */
  readonly outerIndent: string;
  write(value: unknown): string;
}

/** How an object's properties are laid out, told by one of them, or by the object if it has none. */
function layoutOf(text: string, at: Node): Layout {
  const parent = at.type === "property" ? at.parent : at.type === "object" ? at : at.parent?.parent;
  const unit = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? "  ";
  const eol = eolOf(text);
  const inside = parent === undefined ? "" : text.slice(parent.offset, parent.offset + parent.length);
  const isEmpty = (parent?.children ?? []).length === 0;
  const isOneLine = !inside.includes("\n") && (isEmpty ? text.trim() !== "{}" && !text.includes("\n") : true);
  const outerIndent = indentAt(text, parent?.offset ?? 0);
  const own = at.type === "property" ? indentAt(text, at.offset) : "";
  const indent = own.length > outerIndent.length ? own : outerIndent + unit;
  return {
    eol,
    isOneLine,
    indent,
    outerIndent,
    write: (value) =>
      isOneLine ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll("\n", eol + indent),
  };
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function treeOf(text: string): Node {
  const root = parseTree(text, [], SETTINGS);
  if (root?.type !== "object") throw new RefusedEdit("It does not hold a JSON object");
  return root;
}

function replace(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}
