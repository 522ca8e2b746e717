import type { Static } from "typebox";
import type { Fact } from "../core/facts/fact.ts";
import type { RecordedFact } from "../core/facts/record-fact.ts";
import type { FactRecord, RecordFactReply } from "../schemas/fact.ts";
import { formatTime } from "../schemas/time.ts";

/** A fact as every answer shows it. */
export function factRecord(fact: Fact): Static<typeof FactRecord> {
  return {
    id: fact.id,
    subject: fact.subject,
    predicate: fact.predicate,
    object: fact.object,
    valid_from: formatTime(fact.validFrom),
    valid_to: fact.validTo === null ? null : formatTime(fact.validTo),
    confidence: fact.confidence,
    metadata: fact.metadata,
    user_id: fact.userId,
    project: fact.project,
    source_memory_id: fact.sourceMemoryId,
    recorded_at: formatTime(fact.recordedAt),
    updated_at: formatTime(fact.updatedAt),
    superseded_by: fact.supersededBy,
    derived_from: fact.derivedFrom,
    cardinality: fact.cardinality,
    created_by: fact.createdBy,
  };
}

export function recordedFactRecord(recorded: RecordedFact): Static<typeof RecordFactReply> {
  const { fact, superseded, deduplicated } = recorded;
  return { ...factRecord(fact), superseded: [...superseded], deduplicated };
}
