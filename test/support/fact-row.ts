import type { Fact } from "../../src/core/facts/fact.ts";

/** "Ada lives in Paris", from 0 on, but for the fields given. */
export function factRow(fields: Partial<Fact> & Pick<Fact, "id">): Fact {
  return {
    version: 1,
    subject: "Ada",
    predicate: "lives in",
    object: "Paris",
    validFrom: 0,
    validTo: null,
    confidence: 1,
    metadata: {},
    userId: null,
    project: null,
    cardinality: "one",
    sourceMemoryId: null,
    supersededBy: null,
    derivedFrom: null,
    createdBy: null,
    recordedAt: 0,
    updatedAt: fields.version ?? 1,
    ...fields,
  };
}
