/** Records of an export as lines of JSON, and back. */
import type { Static } from "typebox";
import type { Fact } from "../core/facts/fact.ts";
import type { MemorySource } from "../core/memory.ts";
import type {
  FactTransfer,
  MemoryTransfer,
  TransferRecord,
  WaypointTransfer,
} from "../core/transfer/transfer-record.ts";
import { formatTime, parseTime } from "../schemas/time.ts";
import type { FactLine, MemoryLine, TransferLine, WaypointLine } from "../schemas/transfer.ts";
import { sourceRecord } from "./memory-record.ts";
import { present } from "./memory-input.ts";

export function lineOf(record: TransferRecord): TransferLine {
  switch (record.kind) {
    case "memory":
      return memoryLine(record);
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
    case "fact":
      return factTransfer(line);
    case "waypoint":
      return waypointTransfer(line);
  }
}

function memoryLine({ memory, signals }: MemoryTransfer): Static<typeof MemoryLine> {
  return {
    type: "memory",
    id: memory.id,
    content: memory.content,
    tags: [...memory.tags],
    metadata: memory.metadata,
    user_id: memory.userId,
    project: memory.project,
    session_id: memory.sessionId,
    occurred_at: maybe(memory.occurredAt),
    primary_sector: memory.primarySector,
    sectors: [...memory.sectors],
    salience: signals.salience,
    created_at: formatTime(memory.createdAt),
    updated_at: formatTime(memory.updatedAt),
    last_seen_at: formatTime(signals.lastSeenAt),
    version: memory.version,
    created_by: memory.createdBy,
    source: memory.source && sourceRecord(memory.source),
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
