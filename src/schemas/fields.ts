/** The fields that more than one request or answer has. */
import type { TSchema } from "typebox";
import { nullable, optional, text, time, wellFormed } from "./shapes.ts";

export { wellFormed } from "./shapes.ts";
import * as rules from "./text-rules.ts";
import * as times from "./wire.ts";
import { Type } from "./typebox.ts";

export const EDGE_KIND_NAMES = ["next", "similar", "same-document", "updates", "link"] as const;
/** Sectors of memory; the same list, in the same order, as the core's. */
export const SECTOR_NAMES = ["semantic", "episodic", "procedural", "emotional", "reflective"] as const;

/** Annotation: keywords whose breach is TOO_LARGE. `~refine/1` is the second refinement. */
export const TOO_LARGE_KEYWORDS = "x-too-large";

export const textField = (rule: rules.TextRule) => wellFormed(Type.String({ ...rule }));

export const UserId = textField(rules.USER_ID);
export const Project = textField(rules.PROJECT);
export const QueryProject = textField(rules.QUERY_PROJECT);
export const SessionId = textField(rules.SESSION_ID);
export const ClientName = textField(rules.CLIENT_NAME);
export const KeyName = textField(rules.KEY_NAME);
export const Tag = textField(rules.TAG);
export const Tags = Type.Array(Tag, { maxItems: 64 });

/** Owner and writer of a record in a reply; the writer in an export, a body and a query. */
export const ownedFields = { user_id: nullable(text()), project: nullable(text()) };
export const writtenFields = { created_by: nullable(text("The client that wrote it.")) };
export const exportedWriter = { created_by: nullable(ClientName) };
export const writerInBody = { created_by: optional(ClientName) };
export const writerInQuery = { created_by: Type.Optional(ClientName) };

export const FactSubject = textField(rules.FACT_SUBJECT);
export const FactPredicate = textField(rules.FACT_PREDICATE);
export const FactObject = textField(rules.FACT_OBJECT);

export const SectorName = Type.Enum([...SECTOR_NAMES], { type: "string", examples: ["episodic"] });

const CONTENT = {
  minLength: 1,
  maxLength: rules.MAX_CONTENT_CHARS,
  description: "The text, kept exactly as sent. More than 200 000 characters (code points) are 413.",
  examples: ["Planted garlic in bed three, 24 cloves, on the south side."],
  [TOO_LARGE_KEYWORDS]: ["maxLength"],
};
/** Text that must come back as it was sent: with every character, NUL too. */
export const Content = wellFormed(Type.String({ ...CONTENT, pattern: rules.NOT_BLANK_PATTERN }));
/** The same of an export: an earlier version took blank ones. */
export const ExportedContent = wellFormed(Type.String(CONTENT));

/** A JSON object without what cannot be kept as sent. */
export const keptExactly = <T extends TSchema>(schema: T) =>
  Type.Refine(
    schema,
    (value) => rules.metadataFault(value) === undefined,
    (value) => rules.metadataFault(value) ?? "",
  );

export const Metadata = Type.Refine(
  keptExactly(
    Type.Unsafe<rules.JsonObject>({
      type: "object",
      description: "Any JSON object up to 64 KiB (more is 413) and 64 levels; comes back exactly as sent.",
      examples: [{ bed: 3, cloves: 24 }],
      [TOO_LARGE_KEYWORDS]: ["~refine/1"],
    }),
  ),
  (value) => rules.metadataBytes(value) <= rules.MAX_METADATA_BYTES,
  () => `must not be larger than ${rules.MAX_METADATA_BYTES} bytes as JSON`,
);

const TIME_DESCRIPTION = "A date (midnight UTC), an RFC 3339 time (UTC where it has no offset)";

const NO_DAY = "must be a day that exists, in the years 0001 to 9999";

/** A time in a body; read it with `parseTime`. */
export const BodyTime = Type.Refine(
  Type.Unsafe<string | number>({
    [times.TIME_MARK]: true,
    type: ["string", "integer"],
    pattern: times.TIME_PATTERN,
    minimum: times.EARLIEST_TIME,
    maximum: times.LATEST_TIME,
    description: `${TIME_DESCRIPTION} or epoch milliseconds as a number.`,
    examples: ["2026-11-21T10:15:00Z"],
  }),
  // The pattern refuses what is no time at all.
  (value) => typeof value !== "string" || !times.namesNoDay(value),
  () => NO_DAY,
);

/** A time in a query string; read it with `parseQueryTime`. @param meaning what it is the time of. */
export function queryTime(meaning = "") {
  return Type.Refine(
    Type.Unsafe<string | number>({
      [times.TIME_MARK]: true,
      type: "string",
      description: `${meaning}${TIME_DESCRIPTION} or epoch milliseconds of ten digits or more.`,
      examples: ["2026-11-21"],
    }),
    (value) => typeof value !== "string" || times.parseQueryTime(value) !== undefined,
    (value) =>
      times.namesNoDay(String(value)) ? NO_DAY : (rules.PATTERN_MEANINGS.get(times.QUERY_TIME_PATTERN) ?? ""),
  );
}
export const QueryTime = queryTime();

/** A time in an answer. */
export const Time = time();

export const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'In which the question means "yesterday" or "in May"; the daemon\'s own if absent.',
  examples: ["Europe/Berlin"],
});
