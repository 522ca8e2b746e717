import type { Static } from "typebox";
import type { DocumentChunks } from "../core/documents/document-chunks.ts";
import type { DocumentRow } from "../core/documents/document.ts";
import { ServiceError } from "../core/errors.ts";
import type { IngestResult, JobView } from "../core/documents/job-view.ts";
import type { DocumentRecord, GetDocumentReply, IngestReply, JobRecord } from "../schemas/document.ts";
import { formatTime } from "../schemas/time.ts";
import { memoryRecord } from "./records.ts";
import { problemOf } from "./problem.ts";

const MS_PER_SECOND = 1_000;

/** Its place in the order of adding is in no answer. */
type Recordable = Omit<DocumentRow, "order">;

export function ingestReply({ document, memoryIds, deduplicated }: IngestResult): Static<typeof IngestReply> {
  return {
    ...outcome(document, memoryIds),
    deduplicated,
    document: source(document),
    extraction: extraction(document),
  };
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
  document: Recordable,
  memoryIds = document.memoryIds,
): Static<typeof DocumentRecord> {
  const { title, author, date, language } = document.extraction;
  return {
    ...source(document),
    user_id: document.userId,
    project: document.project,
    title: title ?? null,
    url: document.url,
    tags: [...document.tags],
    metadata: {
      ...(title !== undefined && { title }),
      ...(author !== undefined && { author }),
      ...(date !== undefined && { date: formatTime(date) }),
      ...(language !== undefined && { language }),
      ...document.metadata,
    },
    ...outcome(document, memoryIds),
    extraction: extraction(document),
    created_by: document.createdBy,
    created_at: formatTime(document.createdAt),
    fetched_at: document.fetchedAt === null ? null : formatTime(document.fetchedAt),
  };
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

function source({ id, sha256, bytes, filename, mediaType }: Recordable) {
  return { id, sha256, bytes, filename, media_type: mediaType };
}

function outcome({ rootMemoryId, strategy, totalTokens }: Recordable, memoryIds: readonly string[]) {
  return {
    root_memory_id: rootMemoryId,
    memory_ids: [...memoryIds],
    child_count: strategy === "single" ? 0 : memoryIds.filter((id) => id !== rootMemoryId).length,
    strategy,
    total_tokens: totalTokens,
  };
}

function extraction({
  extraction: { kind, method, title, author, date, language, pages, durationMs, soundTrack, charCount },
}: Recordable) {
  return {
    content_type: kind,
    method,
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(date !== undefined && { date: formatTime(date) }),
    ...(language !== undefined && { language }),
    ...(pages !== undefined && { pages }),
    ...(durationMs !== undefined && { duration_s: durationMs / MS_PER_SECOND }),
    ...(soundTrack !== undefined && { sound_track: soundTrack }),
    char_count: charCount,
  };
}
