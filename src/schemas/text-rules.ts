/**
 * Rules for texts of fields. Plain data, apart from the schemas made of it: the command line checks
 * arguments before it sends anything, and TypeBox takes longer to load than most commands take.
 */

import type { TLocalizedValidationError } from "typebox/error";
import { QUERY_TIME_PATTERN, TIME_PATTERN } from "./wire.ts";

/** How many matches a question gets that says nothing of it, and at most. */
export const DEFAULT_MATCHES = 8;
export const MOST_MATCHES = 200;

/** Half of a UTF-16 pair is in no such text: it has no UTF-8 form, so it could not be kept as sent. */
export interface TextRule {
  readonly minLength: number;
  /** Code points, as `minLength`. */
  readonly maxLength: number;
  /** Source of a regular expression with the flag `u`. */
  readonly pattern?: string;
  readonly description: string;
  readonly examples: readonly string[];
}

// Neither lookahead nor surrogates: a client's regular expressions may know neither.
const PLAIN = "[^\\u0000-\\u001f\\u007f-\\u009f]";
const PLAIN_NOT_DOT = "[^.\\u0000-\\u001f\\u007f-\\u009f]";
const PLAIN_PATTERN = `^${PLAIN}*$`;
/** Anything but `.` and `..`, which are no steps of an address. */
const USER_ID_PATTERN = `^([.]?${PLAIN_NOT_DOT}${PLAIN}*|[.][.]${PLAIN}+)$`;

/** Newlines and tabs may stand in it, no other control character. */
const LINES_PATTERN = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$";

/** A character that can be seen stands in it: no space, no filler and no mark of formatting. */
export const NOT_BLANK_PATTERN =
  "[^\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f" +
  "\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0]";

/** An id as it is kept: UUIDv7, lower case. */
export const UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

/** An id in any case, of any version. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Names of backups, which are names of folders. */
export const BACKUP_NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

/** Descriptions of patterns, to follow "must". */
export const PATTERN_MEANINGS: ReadonlyMap<string, string> = new Map([
  [PLAIN_PATTERN, "must not contain control characters"],
  [LINES_PATTERN, "must not contain control characters other than newlines and tabs"],
  [NOT_BLANK_PATTERN, "must not be blank"],
  [
    BACKUP_NAME_PATTERN,
    "must be letters, digits, `.`, `_` and `-`, at most 64, with a letter or digit first",
  ],
  [UUID_PATTERN, "must be a UUID of version 7 in lower case"],
  [USER_ID_PATTERN, 'must not be "." or ".." and must not contain control characters'],
  [
    TIME_PATTERN,
    "must be a date (2026-11-21), an RFC 3339 time (2026-11-21T10:15:00Z) or a number of epoch milliseconds",
  ],
  [
    QUERY_TIME_PATTERN,
    "must be a date (2026-11-21), an RFC 3339 time (2026-11-21T10:15:00Z) or epoch milliseconds of ten digits or more",
  ],
]);

/** A name of at most 256 characters on one line, where `rule` does not say otherwise. */
function name(description: string, example: string, rule: Partial<TextRule> = {}): TextRule {
  return { minLength: 1, maxLength: 256, pattern: PLAIN_PATTERN, description, examples: [example], ...rule };
}

export const USER_ID = name("Whose it is. A memory without one belongs to nobody.", "ada", {
  pattern: USER_ID_PATTERN,
});
export const PROJECT = name("A second, softer scope beside the user.", "garden");
/** A project in a query string, where there is no null. */
export const QUERY_PROJECT = name("Empty (`project=`) for those without a project.", "garden", {
  minLength: 0,
});
export const SESSION_ID = name(
  "A conversation or a piece of work: its memories are linked in the order they were added.",
  "2026-11-21-standup",
);
export const CLIENT_NAME = name("The client that wrote it.", "notes-import");
export const KEY_NAME = name(
  "What the key is called; stands in `created_by` where a client does not name itself.",
  "laptop",
  { maxLength: 64 },
);
export const TAG = name("A tag.", "allotment");

export const FACT_SUBJECT = name("What the fact is about; case and spaces around it do not count.", "Ada", {
  maxLength: 1_024,
});
export const FACT_PREDICATE = name(
  "What is said of it; case and spaces around it do not count.",
  "lives in",
  { maxLength: 1_024 },
);
export const FACT_OBJECT = name("What the predicate says; case counts.", "London", {
  maxLength: 8_192,
  pattern: LINES_PATTERN,
});
export const FACT_PATTERN: TextRule = {
  minLength: 1,
  maxLength: 256,
  description: "With `*` (any text) and `?` (one character) for the whole field, else part of it; any case.",
  examples: ["lond*"],
};

/** Why a text breaks its rule, in words that follow its name; undefined where it does not. */
export function textFault(text: string, { minLength, maxLength, pattern }: TextRule): string | undefined {
  // A string is asked for its code points by iteration; one that is short in UTF-16 need not be.
  const length = text.length <= maxLength ? text.length : Array.from(text).length;
  if (minLength > 0 && length === 0) return "must not be empty";
  if (length > maxLength) return `must not have more than ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern, "u").test(text))
    return PATTERN_MEANINGS.get(pattern) ?? "has another form";
  return hasLoneSurrogate(text) ? "must not contain a lone UTF-16 surrogate" : undefined;
}

/** Longest text of a memory, code points. */
export const MAX_CONTENT_CHARS = 200_000;

/** Rules for metadata that make it come back exactly as it was sent. */

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export const MAX_METADATA_BYTES = 64 * 1024;
/** Nesting that every encoder and parser on the way takes. */
export const MAX_METADATA_DEPTH = 64;

const LONE_SURROGATE = /\p{Cs}/u;

/** True where half a UTF-16 pair stands alone: it has no UTF-8 form, so it could not be kept as sent. */
export const hasLoneSurrogate = (text: string): boolean => LONE_SURROGATE.test(text);

/** Why a JSON value cannot be kept exactly, or undefined when it can. Takes any depth. */
export function metadataFault(value: unknown): string | undefined {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next;
    if (typeof value === "string" && hasLoneSurrogate(value))
      return "must not contain a lone UTF-16 surrogate";
    if (typeof value === "number" && !Number.isFinite(value))
      return "must not contain a number beyond 1.8e308";
    if (typeof value !== "object" || value === null) continue;
    if (depth >= MAX_METADATA_DEPTH) return `must not be nested deeper than ${MAX_METADATA_DEPTH} levels`;
    if (Array.isArray(value)) {
      for (const child of value as unknown[]) waiting.push({ value: child, depth: depth + 1 });
      continue;
    }
    for (const [key, child] of Object.entries(value)) {
      if (key === "__proto__") return 'must not contain the key "__proto__"';
      if (hasLoneSurrogate(key)) return "must not contain a lone UTF-16 surrogate";
      waiting.push({ value: child, depth: depth + 1 });
    }
  }
  return undefined;
}

/** Size as compact JSON in UTF-8. Of a value without a `metadataFault`. */
export const metadataBytes = (value: JsonObject): number =>
  new TextEncoder().encode(JSON.stringify(value)).length;

/** Groups of tools that `--tools` and `?tools=` add, by name. Apart from the tools, which take long to load. */
export const EXTRA_TOOLS = {
  list: "memory_list",
  reinforce: "memory_reinforce",
  timeline: "fact_timeline",
  summary: "memory_summary",
  ingest_text: "ingest_text",
  ingest_url: "ingest_url",
} as const;
export type ExtraTool = keyof typeof EXTRA_TOOLS;

/** Tools that every connection has: naming them adds nothing. */
const ALWAYS = /^(?:memory_(?:search|get|add|update|delete)|fact_(?:record|end|lookup))$/;

/** Reads a list as `--tools` has it, separated by commas, by short names or those that agents see. @returns the first name that is none, as `unknown`. */
export function readExtraTools(
  list: string,
):
  | { readonly extra: ExtraTool[]; readonly unknown?: undefined }
  | { readonly extra?: undefined; readonly unknown: string } {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !ALWAYS.test(name))
    .map((name) => Object.entries(EXTRA_TOOLS).find(([, seen]) => seen === name)?.[0] ?? name);
  const unknown = names.find((name) => !Object.hasOwn(EXTRA_TOOLS, name));
  return unknown === undefined ? { extra: names as ExtraTool[] } : { unknown };
}

// Violations of a schema as messages per field.
interface FieldFault {
  /** JSON pointer. */
  readonly path: string;
  /** Follows the path in a sentence: "is missing", "must be a string". */
  readonly message: string;
}

/** An object can have a million unknown keys; more are not reported. */
const MAX_FAULTS = 20;

/** The first faults. @param path of the value that was checked. */
export const fieldFaults = (errors: readonly TLocalizedValidationError[], path = ""): FieldFault[] =>
  errors.flatMap((error) => faultsOf(error, path)).slice(0, MAX_FAULTS);

function faultsOf(error: TLocalizedValidationError, path: string): FieldFault[] {
  const at = path + error.instancePath;
  switch (error.keyword) {
    case "required":
      return error.params.requiredProperties.map((name) => ({
        path: `${at}/${pointerStep(name)}`,
        message: "is missing",
      }));
    case "boolean":
      return [{ path: at, message: "is not known here" }];
    case "additionalProperties":
      // The fields are named by the errors of the kind before that come with it.
      return [];
    default:
      return [{ path: at, message: message(error) }];
  }
}

function message(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case "type": {
      const names = [error.params.type].flat().filter((name) => name !== "null");
      return `must be ${names.map((name) => (/^[aio]/.test(name) ? `an ${name}` : `a ${name}`)).join(" or ")}`;
    }
    case "enum":
      return `must be one of ${error.params.allowedValues
        .filter((value) => value !== null)
        .map(String)
        .join(", ")}`;
    case "minLength":
    case "minItems":
      return error.params.limit === 1 ? "must not be empty" : error.message;
    case "pattern":
      return PATTERN_MEANINGS.get(String(error.params.pattern)) ?? error.message;
    default:
      return error.message;
  }
}

/** A name as a step of a JSON pointer (RFC 6901). */
export const pointerStep = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** The name that a step stands for. */
export const stepName = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");
