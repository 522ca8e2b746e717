import type { Static } from "typebox";
import type { AddedMemory } from "../core/memories/added-memory.ts";
import type { ListedMemories } from "../core/memories/list-memories.ts";
import { occurredAtOf, type MemorySource, type SeenMemory } from "../core/memory.ts";
import type { ListMemoriesReply } from "../schemas/list-memories.ts";
import type { AddMemoryReply, MemoryRecord } from "../schemas/memory.ts";
import { formatTime } from "../schemas/time.ts";
import { writeCursor } from "./cursor.ts";

/** A memory as every answer shows it. */
export function memoryRecord(memory: SeenMemory): Static<typeof MemoryRecord> {
  return {
    id: memory.id,
    content: memory.content,
    tags: [...memory.tags],
    metadata: memory.metadata,
    user_id: memory.userId,
    project: memory.project,
    session_id: memory.sessionId,
    occurred_at: formatTime(occurredAtOf(memory)),
    primary_sector: memory.primarySector,
    sectors: [...memory.sectors],
    salience: memory.salience,
    created_at: formatTime(memory.createdAt),
    updated_at: formatTime(memory.updatedAt),
    last_seen_at: formatTime(memory.lastSeenAt),
    version: memory.version,
    created_by: memory.createdBy,
    source: memory.source && sourceRecord(memory.source),
  };
}

/** A page of memories as lists answer it. @param skipped how many the pages before held. */
export function memoryPage(
  { items, total, nextBefore }: ListedMemories,
  limit: number,
  skipped: number,
): Static<typeof ListMemoriesReply> {
  return {
    items: items.map(memoryRecord),
    total,
    limit,
    offset: skipped,
    next_cursor:
      nextBefore === undefined ? null : writeCursor({ before: nextBefore, skipped: skipped + items.length }),
  };
}

export function addedRecord({ memory, deduplicated }: AddedMemory): Static<typeof AddMemoryReply> {
  return { ...memoryRecord(memory), deduplicated };
}

/** Where a memory was cut from, as answers show it. */
function sourceRecord(source: MemorySource) {
  return {
    document_id: source.documentId,
    filename: source.filename,
    media_type: source.mediaType,
    chunk_index: source.chunkIndex,
    chunk_count: source.chunkCount,
    ...(source.page !== undefined && { page: source.page }),
    ...(source.section !== undefined && { section: source.section }),
    ...(source.startMs !== undefined && { start_ms: source.startMs }),
    ...(source.endMs !== undefined && { end_ms: source.endMs }),
    ...(source.url !== undefined && { url: source.url }),
  };
}
