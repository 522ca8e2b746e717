import type { MemoryRow } from "../../src/core/rows.ts";

export type RowFields = Partial<MemoryRow> & Pick<MemoryRow, "id">;

/** A memory row with ordinary values for what a test does not care about. */
export function memoryRow(fields: RowFields): MemoryRow {
  return {
    content: `the text of ${fields.id}`,
    tags: [],
    metadata: {},
    userId: null,
    project: null,
    sessionId: null,
    occurredAt: null,
    primarySector: "semantic",
    sectors: ["semantic"],
    createdAt: 0,
    updatedAt: 0,
    version: 1,
    createdBy: null,
    source: null,
    supersedes: [],
    order: 1,
    terms: "",
    traits: { asks: false, tellsTime: false, speaker: null, names: [], words: 3 },
    analyserVersion: 1,
    duplicateHash: `hash of ${fields.id}`,
    ...fields,
  };
}
