import { parse } from "yaml";
import { type Fields, isObject } from "../config/narrow.ts";
import { parseQueryTime, parseTime } from "../schemas/wire.ts";
import { jsonOf } from "./own-files.ts";

/** The front matter of a note, and the note's text without it. */
export interface FrontMatter {
  /** Every field, as YAML reads it. */
  readonly fields: Fields;
  /** Fields without a meaning of their own here, as plain JSON. */
  readonly others: Fields;
  readonly title?: string;
  /** A list of texts, unless the fields hold something else; nothing in it is checked. */
  readonly tags: unknown;
  /** Epoch milliseconds where it is a time in a usual form, else as it stands; from the file's name where no field has one. */
  readonly date?: unknown;
  readonly yaml: string;
  readonly body: string;
}

/** Front matter that cannot be read; `fault` follows the name of the file. */
export type FaultyFrontMatter = Pick<FrontMatter, "yaml" | "body"> & { readonly fault: string };

export const MAX_FRONT_MATTER_CHARS = 128 * 1_024;
const MAX_ALIASES = 100;

const DATE_NAMES = ["occurred_at", "date", "created", "created_at"];
const READ_HERE = new Set([...DATE_NAMES, "tags", "tag", "title"]);
/** A number below this is seconds: as milliseconds it would lie in the spring of 1973. */
const SMALLEST_MILLISECONDS = 100_000_000_000;

/**
 * The fields between two lines of `---` at the beginning of a note, and what follows them. Without such fields the text is the
 * body.
 * @param name of the file, which may begin with its day; without its extension.
 */
export function readFrontMatter(text: string, name = ""): FrontMatter | FaultyFrontMatter {
  const day = /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(name)?.[0];
  const none = {
    fields: {},
    others: {},
    tags: [],
    yaml: "",
    ...(day !== undefined && { date: timeOf(day) }),
  };
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0].length;
  const rest = text.slice(opening ?? text.length);
  const closing = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m.exec(rest);
  if (closing === null) return { ...none, body: text };
  const yaml = rest.slice(0, closing.index);
  const body = rest.slice(closing.index + closing[0].length);
  if (yaml.length > MAX_FRONT_MATTER_CHARS)
    return { fault: `has front matter of more than ${MAX_FRONT_MATTER_CHARS} characters`, yaml, body };
  let fields: unknown;
  let plain: unknown;
  try {
    fields =
      parse(yaml, exactInteger, { maxAliasCount: MAX_ALIASES, logLevel: "error", intAsBigInt: true }) ?? {};
    // Nested beyond the stack, it is refused here.
    plain = JSON.parse(JSON.stringify(fields)) as unknown;
  } catch {
    return { fault: "has front matter that is not YAML", yaml, body };
  }
  // A rule, some text and another rule.
  if (!isObject(fields) || !isObject(plain)) return { ...none, body: text };
  const given = fields;
  const title = typeof given["title"] === "string" ? given["title"].trim() : "";
  const date = DATE_NAMES.map((field) => given[field]).find((value) => value !== undefined && value !== null);
  const others = Object.entries(plain).filter(([key, value]) => !READ_HERE.has(key) && value !== null);
  return {
    fields: given,
    others: Object.fromEntries(others),
    ...(title !== "" && { title }),
    tags: noteTags(given["tags"] ?? given["tag"]),
    ...((date ?? day) !== undefined && { date: timeOf(date ?? day) }),
    yaml,
    body,
  };
}

/** A whole number as such, or as text where it would be rounded, being beyond 2⁵³. */
function exactInteger(_key: unknown, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  return String(Number(value)) === String(value) ? Number(value) : String(value);
}

function noteTags(value: unknown): unknown {
  if (typeof value === "string") return tagsOf(value.includes(",") ? value : value.replaceAll(/\s+/g, ","));
  if (!Array.isArray(value)) return [];
  return value
    .filter((tag) => tag !== null)
    .map((tag) => (typeof tag === "object" ? (tag as unknown) : String(tag).replace(/^#/, "")));
}

/** `a, b; c` or a JSON list. */
export function tagsOf(text: string): unknown {
  const list = text.trim().startsWith("[") ? jsonOf(text) : undefined;
  if (list !== undefined) return list;
  return text.split(/[,;]/).flatMap((tag) => tag.trim().replace(/^#/, "") || []);
}

/** Epoch milliseconds where it is a time in one of the usual forms; else as it is, for the schema to refuse. */
export function timeOf(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "number")
    return Math.round(Math.abs(value) < SMALLEST_MILLISECONDS ? value * 1_000 : value);
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (/^-?\d{9,16}(\.\d+)?$/.test(text)) return timeOf(Number(text));
  return parseTime(text) ?? parseQueryTime(text) ?? value;
}
