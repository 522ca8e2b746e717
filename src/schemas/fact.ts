/** Facts on the wire: the record, and what records, changes, closes and erases one. */
import { Type } from "typebox";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { batchOf, batchReply } from "./page.ts";

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
  {
    confidence: t.optional(Confidence),
    metadata: t.optional(field.Metadata),
    user_id: t.optional(field.UserId),
  },
);

const Erase = t.flag("Remove the fact and all its versions for good.");
/** Input of a `DELETE`, in its query or its body. */
export const CloseFactQuery = Type.Object({
  user_id: Type.Optional(field.UserId),
  valid_to: Type.Optional(field.QueryTime),
  erase: Type.Optional(Erase),
});
export const CloseFactBody = t.optionalBody("CloseFact", {
  user_id: t.optional(field.UserId),
  valid_to: t.optional(field.BodyTime),
  erase: t.optional(Erase),
});

export const FactParams = Type.Object({ id: t.text("Id of a fact.") });
