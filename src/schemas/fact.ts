/** Facts on the wire: the record, and what records, changes, closes and erases one. */

import * as field from "./fields.ts";
import { batchOf, batchReply, pageQuery } from "./page.ts";
import * as t from "./shapes.ts";
import { FACT_PATTERN } from "./text-rules.ts";
import { Type } from "./typebox.ts";

const FactId = t.text("UUIDv7.", { examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] });
export const Confidence = Type.Number({ minimum: 0, maximum: 1, examples: [0.9] });
export const CardinalityName = t.oneOf(
  ["one", "many"],
  "`one` object at a time (lives in), or `many` side by side (speaks). Left out: what this user, project, subject and " +
    "predicate have, else `one`; the first holds, the other is 409.",
);

const recordFields = {
  id: FactId,
  subject: t.text(),
  predicate: t.text(),
  object: t.text(),
  valid_from: field.Time,
  valid_to: t.nullable(t.time("The first moment at which it is not true any more; null: open.")),
  confidence: Confidence,
  metadata: t.anyObject("Exactly as it was sent."),
  ...field.ownedFields,
  source_memory_id: t.nullable(t.text("The memory it was taken from.")),
  recorded_at: t.time("When it was first recorded."),
  updated_at: t.time("When this state of it was recorded."),
  superseded_by: t.nullable(t.text("The fact that ended it.")),
  derived_from: t.nullable(t.text("The fact whose later part it is.")),
  cardinality: t.oneOf(["one", "many"]),
  ...field.writtenFields,
};
export const FactRecord = t.named(
  "Fact",
  "Something that is true for a time, `[valid_from, valid_to)`.",
  recordFields,
);
export const FoundFact = t.named("FoundFact", {
  ...recordFields,
  score: t.share("How well it answers the question."),
});

export const RecordFactBody = t.named(
  "RecordFact",
  "A fact to record. `valid_from` is now where left out. Without `valid_to` it is open, or ends where the next one begins.",
  {
    subject: field.FactSubject,
    predicate: field.FactPredicate,
    object: field.FactObject,
    valid_from: t.optional(field.BodyTime),
    valid_to: t.optional(field.BodyTime),
    confidence: t.optional(Confidence),
    metadata: t.optional(field.Metadata),
    user_id: t.optional(field.UserId),
    project: t.optional(field.Project),
    source_memory_id: t.optional(
      t.text("A memory of the same user.", { examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] }),
    ),
    cardinality: t.optional(CardinalityName),
  },
);

const recordedFields = {
  ...recordFields,
  superseded: t.list(FactId, "Facts that it closed, split or replaced."),
  deduplicated: t.flag(
    "True when a fact with this object covers or touches the period: that one is returned.",
  ),
  similar: Type.Optional(
    t.records(
      "Facts of the same subject that may say the same in other words (`resides in`, `lives in`), at most 5. " +
        "Nothing was done to them: end what no longer holds. Not told for batches.",
      { id: FactId, predicate: t.text(), object: t.text() },
    ),
  ),
};
export const RecordFactReply = t.named("RecordedFact", recordedFields);

export const RecordFactsBody = t.named("RecordFacts", { facts: batchOf(RecordFactBody, ", in order") });
export const RecordFactsReply = batchReply(recordedFields, "fact", "RecordedFacts");

export const UpdateFactBody = t.named(
  "UpdateFact",
  "What to change. `metadata` is replaced, not merged; `user_id` changes nothing, it is checked against the owner.",
  t.optionals({
    confidence: Confidence,
    metadata: field.Metadata,
    user_id: field.UserId,
  }),
);

const Erase = t.flag("Remove the fact and all its versions for good.");
/** Input of a `DELETE`, in its query or its body. */
export const CloseFactQuery = t.query({ user_id: field.UserId, valid_to: field.QueryTime, erase: Erase });
export const CloseFactBody = t.optionalBody("CloseFact", {
  user_id: field.UserId,
  valid_to: field.BodyTime,
  erase: Erase,
});

export const FactParams = Type.Object({ id: t.text("Id of a fact.") });

// Reads of facts.
export const DEFAULT_VOLATILE = 10;
const MAX_VOLATILE = 1_000;

const at = Type.Optional(field.queryTime("What is true at that moment. "));
const known_at = Type.Optional(field.queryTime("What had been recorded by that moment, as it stood then. "));
const scope = { user_id: Type.Optional(field.UserId), project: Type.Optional(field.QueryProject) };
/** When, and whose. */
const asked = { at, known_at, ...scope };
const page = pageQuery("Facts");
const next_cursor = t.nullable(t.text("Goes on where this page ends (early at 8 MiB); null on the last."));
const counts = {
  count: t.count("How many are on this page."),
  total: t.count("How many match in all."),
  next_cursor,
};
const Facts = t.list(FactRecord, "Open ones first, then the newest `valid_from`.");

export const FindFactsQuery = t.query({
  subject: field.FactSubject,
  predicate: field.FactPredicate,
  object: field.FactObject,
  at,
  known_at,
  min_confidence: t.share(),
  ...field.writerInQuery,
  recorded_from: field.queryTime("First recorded at that moment or later. "),
  ...scope,
  ...page,
});
export const FindFactsReply = t.named("FactPage", {
  facts: Facts,
  ...counts,
  query: Type.Unsafe<{ readonly [name: string]: string | number }>({
    type: "object",
    additionalProperties: { type: ["string", "number"] },
    description: "The conditions as they were understood.",
  }),
});

export const CurrentFactQuery = Type.Object({
  subject: field.FactSubject,
  predicate: field.FactPredicate,
  ...asked,
});
export const GetFactQuery = t.query({ user_id: field.UserId, known_at });
export const OneFactReply = t.named("OneFact", { fact: FactRecord });

export const FactTimelineQuery = Type.Object({
  subject: field.FactSubject,
  predicate: Type.Optional(field.FactPredicate),
  from: Type.Optional(field.QueryTime),
  to: Type.Optional(field.QueryTime),
  ...asked,
  ...page,
});
export const FactTimelineReply = t.named("FactTimeline", {
  subject: t.text(),
  timeline: t.records("Ascending.", {
    timestamp: t.time("When the change takes effect; of `updated` when it was recorded."),
    change_type: t.oneOf(["created", "updated", "invalidated", "superseded"]),
    fact: FactRecord,
  }),
  ...counts,
});

export const SearchFactsQuery = Type.Object({
  pattern: field.textField(FACT_PATTERN),
  field: Type.Optional(
    Type.Enum(["subject", "predicate", "object", "any"], { type: "string", default: "any" }),
  ),
  ...asked,
  ...page,
});
export const SearchFactsReply = t.named("FoundFacts", {
  pattern: t.text(),
  field: t.text(),
  facts: Facts,
  ...counts,
});

export const CompareFactsQuery = t.query({
  subject: field.FactSubject,
  predicate: field.FactPredicate,
  time1: field.QueryTime,
  time2: field.QueryTime,
  from: field.queryTime("The same as `time1`. "),
  to: field.queryTime("The same as `time2`. "),
  known_at,
  ...scope,
  ...page,
});
export const CompareFactsReply = t.named("FactComparison", {
  time1: field.Time,
  time2: field.Time,
  added: Facts,
  removed: Facts,
  changed: t.records({ before: FactRecord, after: FactRecord }),
  unchanged: Facts,
  summary: Type.Object({ added: t.count(), removed: t.count(), changed: t.count(), unchanged: t.count() }),
  next_cursor,
});

export const FactStatsQuery = t.query(asked);
export const FactStatsReply = t.named("FactStats", {
  total_facts: t.count(),
  active_facts: t.count(),
  historical_facts: t.count(),
  future_facts: t.count(),
  subjects: t.count(),
  predicates: t.count(),
  objects: t.count(),
  average_confidence: t.nullable(t.share()),
  earliest: t.nullable(field.Time),
  latest: t.nullable(field.Time),
  top_predicates: t.records({ predicate: t.text(), count: t.count() }),
});

export const FactSubjectsQuery = t.query({ ...asked, l: page.l, u: page.u });
export const FactSubjectsReply = t.named("FactSubjects", {
  items: t.records("Those with the most facts first.", {
    subject: t.text("As its newest fact writes it."),
    fact_count: t.whole("Past and future facts too.", { minimum: 1 }),
    current_count: t.count("Valid now, or at `at`."),
  }),
  total: t.count("How many subjects there are."),
});

export const VolatileFactsQuery = t.query({
  subject: field.FactSubject,
  predicate: field.FactPredicate,
  limit: Type.Integer({ minimum: 1, maximum: MAX_VOLATILE, default: DEFAULT_VOLATILE }),
  from: field.QueryTime,
  to: field.QueryTime,
  ...asked,
});
export const VolatileFactsReply = t.named("VolatileFacts", {
  volatile_facts: t.records("The most changing first.", {
    subject: t.text(),
    predicate: t.text(),
    user_id: t.nullable(t.text()),
    project: t.nullable(t.text()),
    change_count: t.count(),
    average_confidence: t.share(),
    average_duration_days: Type.Number({ minimum: 0 }),
    last_changed_at: field.Time,
    current_object: t.nullable(t.text()),
  }),
  count: t.count(),
});
