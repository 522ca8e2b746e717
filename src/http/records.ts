/** Results of operations as wire records, where they differ from the fields of the schemas. */

import type { Static } from "typebox";
import type { ApiKey, CreateKeyInput, KeyRing } from "../core/access/key-ring.ts";
import type { DocumentChunks } from "../core/documents/document-operations.ts";
import type { DocumentRow, ExtractionAccount } from "../core/documents/document.ts";
import type { IngestResult, JobView } from "../core/documents/ingest-jobs.ts";
import { ServiceError } from "../core/errors.ts";
import type { Fact } from "../core/facts/fact.ts";
import type { RecordedFact } from "../core/facts/record-fact.ts";
import type { AddedMemory } from "../core/memories/memory-ports.ts";
import { occurredAtOf, type SeenMemory } from "../core/memory.ts";
import type { PurgeStatus } from "../core/purge.ts";
import { CompactionRecord } from "../schemas/backups.ts";
import { DocumentRecord, type GetDocumentReply, IngestReply, type JobRecord } from "../schemas/document.ts";
import { FactRecord, RecordFactReply } from "../schemas/fact.ts";
import { type AddMemoryReply, MemoryRecord } from "../schemas/memory.ts";
import { formatTime, fromWire, toWire } from "../schemas/wire.ts";
import { CreateKeyBody, KeyRecord } from "../schemas/user.ts";
import { problemOf } from "./problem.ts";

/** A memory with the fields that every answer shows, named as in the core. */
export const seen = ({ superseded, ...memory }: SeenMemory) => ({
  ...memory,
  occurredAt: occurredAtOf(memory),
  supersededBy: superseded?.by ?? null,
  supersededAt: superseded?.at ?? null,
  supersededHow: superseded?.how ?? null,
});

/** A memory as every answer shows it. */
export const memoryRecord = (memory: SeenMemory): Static<typeof MemoryRecord> =>
  toWire(MemoryRecord, seen(memory));

export function addedRecord({ memory, deduplicated }: AddedMemory): Static<typeof AddMemoryReply> {
  return { ...memoryRecord(memory), deduplicated };
}

/** A fact as every answer shows it. */
export const factRecord = (fact: Fact): Static<typeof FactRecord> => toWire(FactRecord, fact);

export function recordedFactRecord(
  result: RecordedFact & { readonly similar?: readonly Fact[] },
): Static<typeof RecordFactReply> {
  const { fact, ...recorded } = result;
  return toWire(RecordFactReply, { ...fact, ...recorded });
}

/** A key as it goes over the wire: nothing of the key itself but how it begins. */
export const keyRecord = (keys: KeyRing, key: ApiKey): Static<typeof KeyRecord> =>
  toWire(KeyRecord, { ...key, state: keys.stateOf(key), lastUsedAt: keys.lastUse(key) });

export function compactionRecord({ last, ...status }: PurgeStatus): Static<typeof CompactionRecord> {
  return toWire(CompactionRecord, {
    ...status,
    ...(last && { last: { ...last.report, ...last, tookMs: Math.round(last.tookMs) } }),
  });
}

export function createKeyInput(body: Static<typeof CreateKeyBody>): CreateKeyInput {
  return { scope: "write", ...fromWire(CreateKeyBody, body) };
}

const MS_PER_SECOND = 1_000;

export function ingestReply({ document, memoryIds, deduplicated }: IngestResult): Static<typeof IngestReply> {
  return toWire(IngestReply, { ...account(document, memoryIds), deduplicated, document });
}

export const jobRecord = (job: JobView, requestId: string): Static<typeof JobRecord> => ({
  id: job.id,
  kind: job.kind,
  status: job.status,
  progress: { ...job.progress },
  ...(job.result && { result: ingestReply(job.result) }),
  ...(job.problem && {
    problem: problemOf(new ServiceError(job.problem.code, job.problem.message), requestId),
  }),
  created_at: formatTime(job.createdAt),
  ...(job.startedAt !== null && { started_at: formatTime(job.startedAt) }),
  ...(job.finishedAt !== null && { finished_at: formatTime(job.finishedAt) }),
});

export function documentRecord(
  document: DocumentRow,
  memoryIds = document.memoryIds,
): Static<typeof DocumentRecord> {
  const { title, author, date, language } = document.extraction;
  const own = { title, author, date: date === undefined ? undefined : formatTime(date), language };
  const said = Object.entries(own).filter(([, value]) => value !== undefined);
  return toWire(DocumentRecord, {
    ...account(document, memoryIds),
    title: title ?? null,
    metadata: { ...Object.fromEntries(said), ...document.metadata },
  });
}

export function documentWithChunks(found: DocumentChunks): Static<typeof GetDocumentReply> {
  const { document, hasOriginal, memoryIds, chunks, total } = found;
  return {
    ...documentRecord(document, memoryIds),
    has_original: hasOriginal,
    chunks: chunks.map(memoryRecord),
    chunk_total: total,
  };
}

function account(document: DocumentRow, memoryIds: readonly string[]) {
  const { strategy, rootMemoryId, extraction } = document;
  const childCount = strategy === "single" ? 0 : memoryIds.filter((id) => id !== rootMemoryId).length;
  return { ...document, memoryIds, childCount, extraction: extractionFields(extraction) };
}

/** An account of reading a document, with its fields named as on the wire. */
export const extractionFields = ({ kind: contentType, durationMs, ...extraction }: ExtractionAccount) => ({
  ...extraction,
  contentType,
  ...(durationMs !== undefined && { durationS: durationMs / MS_PER_SECOND }),
});

export const extractionOf = <T extends { contentType: ExtractionAccount["kind"]; durationS?: number }>({
  contentType: kind,
  durationS,
  ...extraction
}: T) => ({
  ...extraction,
  kind,
  ...(durationS !== undefined && { durationMs: Math.round(durationS * MS_PER_SECOND) }),
});
