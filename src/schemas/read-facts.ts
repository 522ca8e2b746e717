/** Requests and replies of the reads of facts. */
import { Type } from "typebox";
import { FactRecord } from "./fact.ts";
import {
  FactObject,
  FactPredicate,
  FactSubject,
  nullable,
  QueryProject,
  queryTime,
  QueryTime,
  Time,
  UserId,
  textField,
  writerInQuery,
} from "./fields.ts";
import { pageQuery } from "./page.ts";
import { FACT_PATTERN } from "./text-rules.ts";

export const DEFAULT_VOLATILE = 10;
const MAX_VOLATILE = 1_000;

const at = Type.Optional(queryTime("What is true at that moment. "));
const known_at = Type.Optional(queryTime("What had been recorded by that moment, as it stood then. "));
const scope = { user_id: Type.Optional(UserId), project: Type.Optional(QueryProject) };
const page = pageQuery("Facts");
const next_cursor = nullable(
  Type.String({ description: "Goes on where this page ends (early at 8 MiB); null on the last." }),
);
const Count = Type.Integer({ minimum: 0 });
const counts = {
  count: Type.Integer({ minimum: 0, description: "How many are on this page." }),
  total: Type.Integer({ minimum: 0, description: "How many match in all." }),
  next_cursor,
};
const Facts = Type.Array(FactRecord, { description: "Open ones first, then the newest `valid_from`." });

export const FindFactsQuery = Type.Object({
  subject: Type.Optional(FactSubject),
  predicate: Type.Optional(FactPredicate),
  object: Type.Optional(FactObject),
  at,
  known_at,
  min_confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  ...writerInQuery,
  recorded_from: Type.Optional(queryTime("First recorded at that moment or later. ")),
  ...scope,
  ...page,
});
export const FindFactsReply = Type.Object(
  {
    facts: Facts,
    ...counts,
    query: Type.Unsafe<{ readonly [name: string]: string | number }>({
      type: "object",
      additionalProperties: { type: ["string", "number"] },
      description: "The conditions as they were understood.",
    }),
  },
  { $id: "FactPage" },
);

export const CurrentFactQuery = Type.Object({
  subject: FactSubject,
  predicate: FactPredicate,
  at,
  known_at,
  ...scope,
});
export const GetFactQuery = Type.Object({ user_id: Type.Optional(UserId), known_at });
export const OneFactReply = Type.Object({ fact: FactRecord }, { $id: "OneFact" });

export const FactTimelineQuery = Type.Object({
  subject: FactSubject,
  predicate: Type.Optional(FactPredicate),
  from: Type.Optional(QueryTime),
  to: Type.Optional(QueryTime),
  at,
  known_at,
  ...scope,
  ...page,
});
export const FactTimelineReply = Type.Object(
  {
    subject: Type.String(),
    timeline: Type.Array(
      Type.Object({
        timestamp: Type.String({
          format: "date-time",
          description: "When the change takes effect; of `updated` when it was recorded.",
        }),
        change_type: Type.Enum(["created", "updated", "invalidated", "superseded"], { type: "string" }),
        fact: FactRecord,
      }),
      { description: "Ascending." },
    ),
    ...counts,
  },
  { $id: "FactTimeline" },
);

export const SearchFactsQuery = Type.Object({
  pattern: textField(FACT_PATTERN),
  field: Type.Optional(
    Type.Enum(["subject", "predicate", "object", "any"], { type: "string", default: "any" }),
  ),
  at,
  known_at,
  ...scope,
  ...page,
});
export const SearchFactsReply = Type.Object(
  { pattern: Type.String(), field: Type.String(), facts: Facts, ...counts },
  { $id: "FoundFacts" },
);

export const CompareFactsQuery = Type.Object({
  subject: Type.Optional(FactSubject),
  predicate: Type.Optional(FactPredicate),
  time1: Type.Optional(QueryTime),
  time2: Type.Optional(QueryTime),
  from: Type.Optional(queryTime("The same as `time1`. ")),
  to: Type.Optional(queryTime("The same as `time2`. ")),
  known_at,
  ...scope,
  ...page,
});
export const CompareFactsReply = Type.Object(
  {
    time1: Time,
    time2: Time,
    added: Facts,
    removed: Facts,
    changed: Type.Array(Type.Object({ before: FactRecord, after: FactRecord })),
    unchanged: Facts,
    summary: Type.Object({ added: Count, removed: Count, changed: Count, unchanged: Count }),
    next_cursor,
  },
  { $id: "FactComparison" },
);

export const FactStatsQuery = Type.Object({ at, known_at, ...scope });
export const FactStatsReply = Type.Object(
  {
    total_facts: Count,
    active_facts: Count,
    historical_facts: Count,
    future_facts: Count,
    subjects: Count,
    predicates: Count,
    objects: Count,
    average_confidence: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    earliest: nullable(Time),
    latest: nullable(Time),
    top_predicates: Type.Array(Type.Object({ predicate: Type.String(), count: Count })),
  },
  { $id: "FactStats" },
);

export const FactSubjectsQuery = Type.Object({ at, known_at, ...scope, l: page.l, u: page.u });
export const FactSubjectsReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        subject: Type.String({ description: "As its newest fact writes it." }),
        fact_count: Type.Integer({ minimum: 1, description: "Past and future facts too." }),
        current_count: Type.Integer({ minimum: 0, description: "Valid now, or at `at`." }),
      }),
      { description: "Those with the most facts first." },
    ),
    total: Type.Integer({ minimum: 0, description: "How many subjects there are." }),
  },
  { $id: "FactSubjects" },
);

export const VolatileFactsQuery = Type.Object({
  subject: Type.Optional(FactSubject),
  predicate: Type.Optional(FactPredicate),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_VOLATILE, default: DEFAULT_VOLATILE })),
  from: Type.Optional(QueryTime),
  to: Type.Optional(QueryTime),
  at,
  known_at,
  ...scope,
});
export const VolatileFactsReply = Type.Object(
  {
    volatile_facts: Type.Array(
      Type.Object({
        subject: Type.String(),
        predicate: Type.String(),
        user_id: nullable(Type.String()),
        project: nullable(Type.String()),
        change_count: Count,
        average_confidence: Type.Number({ minimum: 0, maximum: 1 }),
        average_duration_days: Type.Number({ minimum: 0 }),
        last_changed_at: Time,
        current_object: nullable(Type.String()),
      }),
      { description: "The most changing first." },
    ),
    count: Count,
  },
  { $id: "VolatileFacts" },
);
