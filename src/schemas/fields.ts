/** The fields that more than one request or answer has, and how optional ones are written. */
import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from "typebox";
import {
  CLIENT_NAME,
  FACT_OBJECT,
  FACT_PREDICATE,
  FACT_SUBJECT,
  hasLoneSurrogate,
  type JsonObject,
  KEY_NAME,
  MAX_METADATA_BYTES,
  metadataBytes,
  metadataFault,
  NOT_BLANK_PATTERN,
  PATTERN_MEANINGS,
  PROJECT,
  QUERY_PROJECT,
  SESSION_ID,
  TAG,
  type TextRule,
  USER_ID,
} from "./text-rules.ts";
import {
  EARLIEST_TIME,
  LATEST_TIME,
  parseQueryTime,
  parseTime,
  QUERY_TIME_PATTERN,
  TIME_PATTERN,
} from "./time.ts";
import { TIME_MARK } from "./wire.ts";

/** Sectors of memory; the same list, in the same order, as the core's. */
export const EDGE_KIND_NAMES = ["next", "similar", "same-document", "updates"] as const;
export const SECTOR_NAMES = ["semantic", "episodic", "procedural", "emotional", "reflective"] as const;

/** Annotation: keywords whose breach is TOO_LARGE. `~refine/1` is the second refinement. */
export const TOO_LARGE_KEYWORDS = "x-too-large";

export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const {
    type,
    enum: values,
    "~refine": refinements,
  } = schema as T & {
    type: string | string[];
    enum?: readonly unknown[];
    "~refine"?: unknown;
  };
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, "null"].flat(),
    ...(values && { enum: [...values, null] }),
    ...(refinements !== undefined && { "~refine": refinements }),
  });
}

/** A field that may be left out; null is the same as leaving it out. */
export function optional<T extends TSchema>(schema: T): TOptional<TUnsafe<Static<T> | null>> {
  return Type.Optional(nullable(schema));
}

/** Text without half of a UTF-16 pair: it has no UTF-8 form, so it could not be kept as sent. */
export function wellFormed<T extends TSchema>(schema: T) {
  return Type.Refine(
    schema,
    (text) => typeof text !== "string" || !hasLoneSurrogate(text),
    () => "must not contain a lone UTF-16 surrogate",
  );
}

export function textField(rule: TextRule) {
  return wellFormed(Type.String({ ...rule }));
}

export const UserId = textField(USER_ID);
export const Project = textField(PROJECT);
export const QueryProject = textField(QUERY_PROJECT);
export const SessionId = textField(SESSION_ID);
export const ClientName = textField(CLIENT_NAME);
export const KeyName = textField(KEY_NAME);
export const Tag = textField(TAG);
export const Tags = Type.Array(Tag, { maxItems: 64 });

/** Owner and writer of a record in a reply; the writer in an export, a body and a query. */
export const ownedFields = { user_id: nullable(Type.String()), project: nullable(Type.String()) };
export const writtenFields = {
  created_by: nullable(Type.String({ description: "The client that wrote it." })),
};
export const exportedWriter = { created_by: nullable(ClientName) };
export const writerInBody = { created_by: optional(ClientName) };
export const writerInQuery = { created_by: Type.Optional(ClientName) };

export const FactSubject = textField(FACT_SUBJECT);
export const FactPredicate = textField(FACT_PREDICATE);
export const FactObject = textField(FACT_OBJECT);

export const SectorName = Type.Enum([...SECTOR_NAMES], { type: "string", examples: ["episodic"] });

const CONTENT = {
  minLength: 1,
  maxLength: 200_000,
  description: "The text, kept exactly as sent. More than 200 000 characters (code points) are 413.",
  examples: ["Planted garlic in bed three, 24 cloves, on the south side."],
  [TOO_LARGE_KEYWORDS]: ["maxLength"],
};
/** Text that must come back as it was sent: with every character, NUL too. */
export const Content = wellFormed(Type.String({ ...CONTENT, pattern: NOT_BLANK_PATTERN }));
/** The same of an export: an earlier version took blank ones. */
export const ExportedContent = wellFormed(Type.String(CONTENT));

/** A check asks more than once; of the same value once is enough. */
const metadataFaults = new WeakMap<object, string | undefined>();
function faultOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return metadataFault(value);
  if (!metadataFaults.has(value)) metadataFaults.set(value, metadataFault(value));
  return metadataFaults.get(value);
}

export const Metadata = Type.Refine(
  Type.Refine(
    Type.Unsafe<JsonObject>({
      type: "object",
      description: "Any JSON object up to 64 KiB (more is 413) and 64 levels; comes back exactly as sent.",
      examples: [{ bed: 3, cloves: 24 }],
      [TOO_LARGE_KEYWORDS]: ["~refine/1"],
    }),
    (value) => faultOf(value) === undefined,
    (value) => faultOf(value) ?? "",
  ),
  // A fault is reported by the check before; beyond it the size may not even be computable.
  (value) => !isObject(value) || faultOf(value) !== undefined || metadataBytes(value) <= MAX_METADATA_BYTES,
  () => `must not be larger than ${MAX_METADATA_BYTES} bytes as JSON`,
);

const TIME_DESCRIPTION = "A date (midnight UTC), an RFC 3339 time (UTC where it has no offset)";

/** A time in a body; read it with `parseTime`. */
export const BodyTime = Type.Refine(
  Type.Unsafe<string | number>({
    [TIME_MARK]: true,
    type: ["string", "integer"],
    pattern: TIME_PATTERN,
    minimum: EARLIEST_TIME,
    maximum: LATEST_TIME,
    description: `${TIME_DESCRIPTION} or epoch milliseconds as a number.`,
    examples: ["2026-11-21T10:15:00Z"],
  }),
  // The pattern refuses what is no time at all.
  (value) => typeof value !== "string" || !matches(TIME_PATTERN, value) || parseTime(value) !== undefined,
  () => "must be a day that exists, in the years 0001 to 9999",
);

/** A time in a query string; read it with `parseQueryTime`. @param meaning what it is the time of. */
export function queryTime(meaning = "") {
  return Type.Refine(
    Type.Unsafe<string | number>({
      [TIME_MARK]: true,
      type: "string",
      description: `${meaning}${TIME_DESCRIPTION} or epoch milliseconds of ten digits or more.`,
      examples: ["2026-11-21"],
    }),
    (value) => typeof value !== "string" || parseQueryTime(value) !== undefined,
    () => PATTERN_MEANINGS.get(QUERY_TIME_PATTERN) ?? "",
  );
}
export const QueryTime = queryTime();

/** A time in an answer. */
export const Time = Type.String({ format: "date-time", description: "RFC 3339, UTC, with milliseconds." });

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(pattern, "u").test(text);
}

export const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'In which the question means "yesterday" or "in May"; the daemon\'s own if absent.',
  examples: ["Europe/Berlin"],
});
