/** Records of an export as lines of JSON, and back. */
import type { Static } from "typebox";
import type { Fact } from "../core/facts/fact.ts";
import type { MemorySource } from "../core/memory.ts";
import type {
  DocumentTransfer,
  FactTransfer,
  MemoryTransfer,
  TransferRecord,
  WaypointTransfer,
} from "../core/transfer/transfer-record.ts";
import { formatTime, parseTime } from "../schemas/time.ts";
import type { DocumentLine, FactLine, MemoryLine, TransferLine, WaypointLine } from "../schemas/transfer.ts";
import { documentRecord } from "./document-record.ts";
import { memoryRecord } from "./memory-record.ts";
import { present } from "./memory-input.ts";

const MS_A_SECOND = 1_000;

export function lineOf(record: TransferRecord): TransferLine {
  switch (record.kind) {
    case "memory":
      return memoryLine(record);
    case "document":
      return documentLine(record);
    case "fact":
      return factLine(record.versions);
    case "waypoint": {
      const { createdAt, ...edge } = record.edge;
      return { type: "waypoint", ...edge, created_at: formatTime(createdAt) };
    }
  }
}

/** Of a line that fits its schema. */
export function recordOf(line: TransferLine): TransferRecord {
  switch (line.type) {
    case "memory":
      return memoryTransfer(line);
    case "document":
      return documentTransfer(line);
    case "fact":
      return factTransfer(line);
    case "waypoint":
      return waypointTransfer(line);
  }
}

function memoryLine({ memory, signals }: MemoryTransfer): Static<typeof MemoryLine> {
  return {
    type: "memory",
    ...memoryRecord({ ...memory, ...signals, order: 0 }),
    metadata: memory.metadata,
    // What the writer said, and not what stands in for it.
    occurred_at: maybe(memory.occurredAt),
  };
}

function memoryTransfer(line: Static<typeof MemoryLine>): MemoryTransfer {
  return {
    kind: "memory",
    memory: {
      id: line.id,
      content: line.content,
      tags: line.tags,
      metadata: line.metadata,
      userId: line.user_id,
      project: line.project,
      sessionId: line.session_id,
      occurredAt: maybeTime(line.occurred_at),
      primarySector: line.primary_sector,
      sectors: line.sectors,
      createdAt: time(line.created_at),
      updatedAt: time(line.updated_at),
      version: line.version,
      createdBy: line.created_by,
      source: line.source && sourceOf(line.source),
    },
    signals: { salience: line.salience, lastSeenAt: time(line.last_seen_at) },
  };
}

function sourceOf(source: NonNullable<Static<typeof MemoryLine>["source"]>): MemorySource {
  return {
    documentId: source.document_id,
    filename: source.filename,
    mediaType: source.media_type,
    chunkIndex: source.chunk_index,
    chunkCount: source.chunk_count,
    ...present({
      page: source.page,
      section: source.section,
      startMs: source.start_ms,
      endMs: source.end_ms,
      url: source.url,
    }),
  };
}

function documentLine({ document }: DocumentTransfer): Static<typeof DocumentLine> {
  const { title: _title, child_count: _count, extraction, ...record } = documentRecord(document);
  return {
    type: "document",
    ...record,
    // Without what the document says of itself, which stands in `extraction`.
    metadata: document.metadata,
    extraction: { ...extraction, content_type: document.extraction.kind },
    chunking_version: document.chunkingVersion,
  };
}

function documentTransfer(line: Static<typeof DocumentLine>): DocumentTransfer {
  const {
    content_type: kind,
    method,
    title,
    author,
    date,
    language,
    pages,
    duration_s,
    sound_track: soundTrack,
    char_count,
  } = line.extraction;
  return {
    kind: "document",
    document: {
      id: line.id,
      sha256: line.sha256,
      bytes: line.bytes,
      filename: line.filename,
      mediaType: line.media_type,
      url: line.url,
      userId: line.user_id,
      project: line.project,
      tags: line.tags,
      metadata: line.metadata,
      extraction: {
        kind,
        method,
        ...present({ title, author, language, pages, soundTrack }),
        ...(date !== undefined && { date: time(date) }),
        ...(duration_s !== undefined && { durationMs: Math.round(duration_s * MS_A_SECOND) }),
        charCount: char_count,
      },
      strategy: line.strategy,
      rootMemoryId: line.root_memory_id,
      memoryIds: line.memory_ids,
      totalTokens: line.total_tokens,
      chunkingVersion: line.chunking_version,
      createdBy: line.created_by,
      createdAt: time(line.created_at),
      fetchedAt: maybeTime(line.fetched_at),
    },
  };
}

function factLine(versions: readonly Fact[]): Static<typeof FactLine> {
  const [first] = versions;
  if (first === undefined) throw new TypeError("a fact has at least one version");
  return {
    type: "fact",
    id: first.id,
    subject: first.subject,
    predicate: first.predicate,
    object: first.object,
    user_id: first.userId,
    project: first.project,
    cardinality: first.cardinality,
    recorded_at: formatTime(first.recordedAt),
    created_by: first.createdBy,
    versions: versions.map((fact) => ({
      valid_from: formatTime(fact.validFrom),
      valid_to: maybe(fact.validTo),
      confidence: fact.confidence,
      metadata: fact.metadata,
      source_memory_id: fact.sourceMemoryId,
      superseded_by: fact.supersededBy,
      derived_from: fact.derivedFrom,
      updated_at: formatTime(fact.updatedAt),
    })),
  };
}

function factTransfer(line: Static<typeof FactLine>): FactTransfer {
  return {
    kind: "fact",
    versions: line.versions.map((version, i) => ({
      id: line.id,
      version: i + 1,
      subject: line.subject,
      predicate: line.predicate,
      object: line.object,
      validFrom: time(version.valid_from),
      validTo: maybeTime(version.valid_to),
      confidence: version.confidence,
      metadata: version.metadata,
      userId: line.user_id,
      project: line.project,
      cardinality: line.cardinality,
      sourceMemoryId: version.source_memory_id,
      supersededBy: version.superseded_by,
      derivedFrom: version.derived_from,
      createdBy: line.created_by ?? null,
      recordedAt: time(line.recorded_at),
      updatedAt: time(version.updated_at),
    })),
  };
}

function waypointTransfer({
  source,
  target,
  kind,
  weight,
  created_at,
}: Static<typeof WaypointLine>): WaypointTransfer {
  return { kind: "waypoint", edge: { source, target, kind, weight, createdAt: time(created_at) } };
}

function maybe(value: number | null): string | null {
  return value === null ? null : formatTime(value);
}

function maybeTime(value: string | number | null): number | null {
  return value === null ? null : time(value);
}

/** The schema has seen to it that it is one. */
function time(value: string | number): number {
  return parseTime(value) ?? 0;
}
