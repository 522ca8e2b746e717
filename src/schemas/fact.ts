/** Facts on the wire: the record, and what records, changes, closes and erases one. */
import { Type } from "typebox";
import {
  BodyTime,
  FactObject,
  FactPredicate,
  FactSubject,
  Metadata,
  nullable,
  optional,
  ownedFields,
  Project,
  QueryTime,
  Time,
  UserId,
  writtenFields,
} from "./fields.ts";
import { batchOf, batchReply } from "./page.ts";

const FactId = Type.String({ description: "UUIDv7.", examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] });
export const Confidence = Type.Number({ minimum: 0, maximum: 1, examples: [0.9] });
export const CardinalityName = Type.Enum(["one", "many"], {
  type: "string",
  description:
    "`one` object at a time (lives in), or `many` side by side (speaks). Left out: what this user, project, subject and " +
    "predicate have, else `one`; the first holds, the other is 409.",
});

const recordFields = {
  id: FactId,
  subject: Type.String(),
  predicate: Type.String(),
  object: Type.String(),
  valid_from: Time,
  valid_to: nullable(
    Type.String({
      format: "date-time",
      description: "The first moment at which it is not true any more; null: open.",
    }),
  ),
  confidence: Confidence,
  metadata: Type.Unsafe<{ readonly [key: string]: unknown }>({
    type: "object",
    description: "Exactly as it was sent.",
  }),
  ...ownedFields,
  source_memory_id: nullable(Type.String({ description: "The memory it was taken from." })),
  recorded_at: Type.String({ format: "date-time", description: "When it was first recorded." }),
  updated_at: Type.String({ format: "date-time", description: "When this state of it was recorded." }),
  superseded_by: nullable(Type.String({ description: "The fact that ended it." })),
  derived_from: nullable(Type.String({ description: "The fact whose later part it is." })),
  cardinality: Type.Enum(["one", "many"], { type: "string" }),
  ...writtenFields,
};
export const FactRecord = Type.Object(recordFields, {
  $id: "Fact",
  description: "Something that is true for a time, `[valid_from, valid_to)`.",
});
export const FoundFact = Type.Object(
  {
    ...recordFields,
    score: Type.Number({ minimum: 0, maximum: 1, description: "How well it answers the question." }),
  },
  { $id: "FoundFact" },
);

export const RecordFactBody = Type.Object(
  {
    subject: FactSubject,
    predicate: FactPredicate,
    object: FactObject,
    valid_from: optional(BodyTime),
    valid_to: optional(BodyTime),
    confidence: optional(Confidence),
    metadata: optional(Metadata),
    user_id: optional(UserId),
    project: optional(Project),
    source_memory_id: optional(
      Type.String({
        description: "A memory of the same user.",
        examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"],
      }),
    ),
    cardinality: optional(CardinalityName),
  },
  {
    $id: "RecordFact",
    description:
      "A fact to record. `valid_from` is now where left out. Without `valid_to` it is open, or ends where the next one begins.",
  },
);

const recordedFields = {
  ...recordFields,
  superseded: Type.Array(FactId, { description: "Facts that it closed, split or replaced." }),
  deduplicated: Type.Boolean({
    description: "True when a fact with this object covers or touches the period: that one is returned.",
  }),
  similar: Type.Optional(
    Type.Array(Type.Object({ id: FactId, predicate: Type.String(), object: Type.String() }), {
      description:
        "Facts of the same subject that may say the same in other words (`resides in`, `lives in`), at most 5. " +
        "Nothing was done to them: end what no longer holds. Not told for batches.",
    }),
  ),
};
export const RecordFactReply = Type.Object(recordedFields, { $id: "RecordedFact" });

export const RecordFactsBody = Type.Object(
  { facts: batchOf(RecordFactBody, ", in order") },
  { $id: "RecordFacts" },
);
export const RecordFactsReply = batchReply(recordedFields, "fact", "RecordedFacts");

export const UpdateFactBody = Type.Object(
  { confidence: optional(Confidence), metadata: optional(Metadata), user_id: optional(UserId) },
  {
    $id: "UpdateFact",
    description:
      "What to change. `metadata` is replaced, not merged; `user_id` changes nothing, it is checked against the owner.",
  },
);

const Erase = Type.Boolean({ description: "Remove the fact and all its versions for good." });
/** Input of a `DELETE`, in its query or its body. */
export const CloseFactQuery = Type.Object({
  user_id: Type.Optional(UserId),
  valid_to: Type.Optional(QueryTime),
  erase: Type.Optional(Erase),
});
export const CloseFactBody = Type.Unsafe<{
  user_id?: string | null;
  valid_to?: string | number | null;
  erase?: boolean | null;
} | null>({
  ...nullable(
    Type.Object({ user_id: optional(UserId), valid_to: optional(BodyTime), erase: optional(Erase) }),
  ),
  $id: "CloseFact",
});

export const FactParams = Type.Object({ id: Type.String({ description: "Id of a fact." }) });
