import { parse as parseToml } from "smol-toml";
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
  /** Epoch milliseconds; from the file's name where no field has a time that can be read. */
  readonly date?: number;
  readonly yaml: string;
  readonly body: string;
}

/** Front matter that cannot be read; `fault` follows the name of the file. */
export type FaultyFrontMatter = Pick<FrontMatter, "yaml" | "body"> & { readonly fault: string };

export const MAX_FRONT_MATTER_CHARS = 128 * 1_024;
const MAX_ALIASES = 100;
/** Deeper ones are not read: readers recurse, and V8 ends the process where it has to compile a pattern at the end of the stack. */
const MAX_NESTING = 500;
/** As many lists or keys within each other on one line. */
const NESTED_LISTS = /(?:[-?][ \t]+){500}/;

const DATE_NAMES = ["occurred_at", "date", "created", "created_at"];
const READ_HERE = new Set([...DATE_NAMES, "tags", "tag", "title"]);
/** A number below this is seconds: as milliseconds it would lie in the spring of 1973. */
const SMALLEST_MILLISECONDS = 100_000_000_000;

/** How front matter stands before a text: between lines of `---` or `+++`, as a JSON object, or in the lines of Logseq. */
const FORMS: readonly (readonly [form: RegExp, read: (text: string) => unknown])[] = [
  [/(?<![\s\S])---[ \t]*\r?\n([\s\S]*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m, readYaml],
  [/(?<![\s\S])\+\+\+[ \t]*\r?\n([\s\S]*?)^\+\+\+[ \t]*(?:\r?\n|$)/m, readToml],
  [/(?<![\s\S])(\{[ \t]*\r?\n[\s\S]*?^\})[ \t]*(?:\r?\n|$)/m, readJson],
  [/^((?:[a-z][\w-]*:: .*(?:\r?\n|$))+)/i, readProperties],
];

/**
 * The fields before a note's text, in YAML, TOML, JSON or as properties of Logseq, and what follows them. Without such fields the
 * text is the body.
 * @param name of the file, which may begin with its day; without its extension.
 */
export function readFrontMatter(text: string, name = ""): FrontMatter | FaultyFrontMatter {
  const day = dayIn(name);
  const none = { fields: {}, others: {}, tags: [], yaml: "", ...(day !== undefined && { date: day }) };
  const [form, read] = FORMS.find(([form]) => form.test(text)) ?? [];
  const [whole, yaml] = form?.exec(text) ?? [];
  if (read === undefined || whole === undefined || yaml === undefined) return { ...none, body: text };
  // Properties of Logseq are what the note says, too.
  const body = read === readProperties ? text : text.slice(whole.length);
  if (yaml.length > MAX_FRONT_MATTER_CHARS)
    return { fault: `has front matter of more than ${MAX_FRONT_MATTER_CHARS} characters`, yaml, body };
  let fields: unknown;
  let plain: unknown;
  try {
    if (isNestedTooDeep(yaml)) throw new RangeError("nested too deep");
    fields = read(yaml) ?? {};
    plain = JSON.parse(JSON.stringify(fields, exactInteger)) as unknown;
  } catch {
    return { fault: "has front matter that is not YAML", yaml, body };
  }
  // A rule, some text and another rule; or JSON that is the whole note.
  const isWhole = read === readJson && body.trim() === "";
  if (!isObject(fields) || !isObject(plain) || isWhole) return { ...none, body: text };
  const given = fields;
  const title = typeof given["title"] === "string" ? given["title"].trim() : "";
  const dateName = DATE_NAMES.find((field) => typeof dateOf(given[field]) === "number");
  const date = dateName === undefined ? day : (dateOf(given[dateName]) as number);
  // A date that cannot be read is kept as it was written.
  const isKept = (key: string) =>
    !READ_HERE.has(key) || (DATE_NAMES.includes(key) && typeof dateOf(given[key]) !== "number");
  const others = Object.entries(plain).filter(([key, value]) => value !== null && isKept(key));
  return {
    fields: given,
    others: Object.fromEntries(others),
    ...(title !== "" && { title }),
    tags: noteTags(given["tags"] ?? given["tag"]),
    ...(date !== undefined && { date }),
    yaml,
    body,
  };
}

function isNestedTooDeep(text: string): boolean {
  let depth = 0;
  for (const [sign] of text.matchAll(/[[\]{}]/g)) {
    depth += sign === "[" || sign === "{" ? 1 : -1;
    if (depth > MAX_NESTING) return true;
  }
  return NESTED_LISTS.test(text);
}

/** YAML, where people also type signs that YAML gives a meaning (`title: Re: boat`): such lines are read as texts. */
function readYaml(text: string): unknown {
  const options = { maxAliasCount: MAX_ALIASES, logLevel: "error", intAsBigInt: true } as const;
  try {
    return parse(text, exactInteger, options);
  } catch {
    const quoted = text.replace(/^([^\s:#-][^:\n]*):[ \t]+(\S.*)$/gm, (line, key: string, value: string) => {
      try {
        // What refers to other lines, or goes on in them, is no text.
        if (!/^[&*|>]|^[[{](?!.*[\]}]$)/.test(value)) parse(line, { logLevel: "error" });
        return line;
      } catch {
        return `${key}: ${JSON.stringify(value.trim())}`;
      }
    });
    return parse(quoted, exactInteger, { ...options, uniqueKeys: false });
  }
}

function readToml(text: string): unknown {
  return parseToml(text, { integersAsBigInt: "asNeeded" });
}

/** A text where it is an object of other things, as code in a note may be. */
function readJson(text: string): unknown {
  const fields = jsonOf(text);
  return isObject(fields) && ["title", ...DATE_NAMES, "tags"].some((name) => name in fields) ? fields : text;
}

function readProperties(text: string): Fields {
  const lines = text.trimEnd().split(/\r?\n/);
  return Object.fromEntries(lines.map((line) => line.split(/:: (.*)/, 2)));
}

/** The day that a name begins with: `2024-03-09`, `2024_03_09` or `20240309`, also with a time behind it. */
function dayIn(name: string): number | undefined {
  const [, year, , month, day] =
    /^((?:19|20)\d{2})([-_]?)(\d{2})\2(\d{2})(?:\d{4}(?:\d{2})?)?(?!\d)/.exec(name) ?? [];
  return parseTime(`${year}-${month}-${day}`);
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
  return text
    .replace(/^\s*\[|\]\s*$/g, "")
    .split(/[,;]/)
    .flatMap((tag) => tag.trim().replace(/^#/, "") || []);
}

/** As programs write times: without seconds, with a space before the offset, or an offset without colon. */
const CLOCK_TIME =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(?:(Z|UTC)|([+-]\d{2}):?(\d{2}))?$/i;

/** Epoch milliseconds where it is a time in one of the usual forms; else as it is, for the schema to refuse. */
export function timeOf(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "number")
    return Math.round(Math.abs(value) < SMALLEST_MILLISECONDS ? value * 1_000 : value);
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (/^-?\d{9,16}(\.\d+)?$/.test(text)) return timeOf(Number(text));
  const [, day, clock, seconds = ":00", , hours, minutes] = CLOCK_TIME.exec(text) ?? [];
  const offset = hours === undefined ? "Z" : `${hours}:${minutes}`;
  const spelt = day === undefined ? text : `${day}T${clock}${seconds}${offset}`;
  return parseTime(spelt) ?? parseQueryTime(text) ?? value;
}

/** `March 5th, 2024 3:04 PM`, `Tue, 5 Mar 2024 15:04:00 +0100`. */
const NAMED_MONTH =
  /^(?:[a-z]{3,9},? )?(?:([a-z]{3,9})\.? \d{1,2}(?:st|nd|rd|th)?|\d{1,2} ([a-z]{3,9})),? \d{4}(?:,? \d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?)?( (?:[+-]\d{4}|GMT|UTC))?$/i;
const MONTHS = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

/** As `timeOf`, also as people write days in notes: without signs, day first with dots, with the month's name, or as a link. */
function dateOf(value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return timeOf(value);
  const text = String(value)
    .trim()
    .replace(/^\[\[(.*)\]\]$/, "$1");
  if (/^\d{8}(?:\d{4}(?:\d{2})?)?$/.test(text)) return dayIn(text) ?? text;
  const [, day = "", month = "", year] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text) ?? [];
  if (year !== undefined) return timeOf(`${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`);
  const [, before, after, offset] = NAMED_MONTH.exec(text) ?? [];
  if (!MONTHS.test(before ?? after ?? "")) return timeOf(typeof value === "number" ? value : text);
  const zone = offset === undefined ? " UTC" : "";
  return parseTime(Date.parse(text.replace(/(\d)(?:st|nd|rd|th)\b/, "$1") + zone)) ?? text;
}
