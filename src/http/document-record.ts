import type { Static } from "typebox";
import type { DocumentChunks } from "../core/documents/document-operations.ts";
import type { DocumentRow, ExtractionAccount } from "../core/documents/document.ts";
import { ServiceError } from "../core/errors.ts";
import type { IngestResult, JobView } from "../core/documents/ingest-jobs.ts";
import type { GetDocumentReply } from "../schemas/document.ts";
import { DocumentRecord, IngestReply, type JobRecord } from "../schemas/document.ts";
import { formatTime } from "../schemas/time.ts";
import { toWire } from "../schemas/wire.ts";
import { memoryRecord } from "./records.ts";
import { problemOf } from "./problem.ts";

const MS_PER_SECOND = 1_000;

export function ingestReply({ document, memoryIds, deduplicated }: IngestResult): Static<typeof IngestReply> {
  return toWire(IngestReply, { ...account(document, memoryIds), deduplicated, document });
}

export function jobRecord(job: JobView, requestId: string): Static<typeof JobRecord> {
  return {
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
  };
}

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

export function documentWithChunks({
  document,
  hasOriginal,
  memoryIds,
  chunks,
  total,
}: DocumentChunks): Static<typeof GetDocumentReply> {
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
export function extractionFields({ kind: contentType, durationMs, ...extraction }: ExtractionAccount) {
  return {
    ...extraction,
    contentType,
    ...(durationMs !== undefined && { durationS: durationMs / MS_PER_SECOND }),
  };
}

export function extractionOf<T extends { contentType: ExtractionAccount["kind"]; durationS?: number }>({
  contentType: kind,
  durationS,
  ...extraction
}: T) {
  return {
    ...extraction,
    kind,
    ...(durationS !== undefined && { durationMs: Math.round(durationS * MS_PER_SECOND) }),
  };
}
