/** The lines of an export: what `GET /export` answers and `POST /import` takes back. */
import { type Static, Type } from "typebox";
import { EXPORT_FORMAT, EXPORT_VERSION } from "./export-format.ts";
import { CardinalityName, Confidence } from "./fact.ts";
import {
  BodyTime,
  EDGE_KIND_NAMES,
  ExportedContent,
  exportedWriter,
  FactObject,
  FactPredicate,
  FactSubject,
  Metadata,
  nullable,
  Project,
  QueryProject,
  SectorName,
  SECTOR_NAMES,
  SessionId,
  Tags,
  UserId,
  wellFormed,
  writerInBody,
} from "./fields.ts";
import { UUID_PATTERN } from "./text-rules.ts";
import { Problem } from "./problem.ts";

export const MAX_IMPORT_LINES = 1_000;

const Uuid = Type.String({ pattern: UUID_PATTERN });
const Weight = Type.Number({ minimum: 0, maximum: 1 });
const text = (maxLength: number) => wellFormed(Type.String({ maxLength }));
const whole = (minimum: number) => Type.Integer({ minimum, maximum: 2 ** 31 });
/** Unknown fields would be lost silently; a file of a later version has another number in its first line. */
const exactly = { additionalProperties: false };

export const ExportHeader = Type.Object({
  format: Type.Literal(EXPORT_FORMAT),
  version: Type.Literal(EXPORT_VERSION),
  exported_at: Type.Optional(BodyTime),
  memoryd: Type.Optional(Type.String({ description: "Version of the program that wrote it." })),
});

const Source = Type.Object(
  {
    document_id: Uuid,
    filename: nullable(text(256)),
    media_type: text(256),
    chunk_index: Type.Integer({ minimum: -1, maximum: 2 ** 31 }),
    chunk_count: whole(0),
    page: Type.Optional(whole(1)),
    section: Type.Optional(text(16_384)),
    start_ms: Type.Optional(whole(0)),
    end_ms: Type.Optional(whole(0)),
    url: Type.Optional(text(8_192)),
  },
  exactly,
);

export const MemoryLine = Type.Object(
  {
    type: Type.Literal("memory"),
    id: Uuid,
    content: ExportedContent,
    tags: Tags,
    metadata: Metadata,
    user_id: nullable(UserId),
    project: nullable(Project),
    session_id: nullable(SessionId),
    occurred_at: nullable(BodyTime),
    primary_sector: SectorName,
    sectors: Type.Array(SectorName, { minItems: 1, maxItems: SECTOR_NAMES.length }),
    salience: Type.Number({ minimum: 0, maximum: 1 }),
    created_at: BodyTime,
    updated_at: BodyTime,
    last_seen_at: BodyTime,
    version: whole(1),
    ...exportedWriter,
    source: nullable(Source),
    supersedes: Type.Optional(Type.Array(Uuid, { maxItems: 1_024 })),
  },
  { ...exactly, $id: "MemoryLine", description: "`salience` is as of `last_seen_at`." },
);

/** Hex, as it also names the file: nothing else may. */
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const MAX_NAMED_MEMORIES = 500_000;
const DOCUMENT_KINDS = ["pdf", "docx", "html", "md", "txt", "srt", "vtt", "audio", "video"] as const;

export const DocumentLine = Type.Object(
  {
    type: Type.Literal("document"),
    id: Uuid,
    sha256: Sha256,
    bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    filename: nullable(text(256)),
    media_type: text(256),
    url: nullable(text(8_192)),
    user_id: nullable(UserId),
    project: nullable(Project),
    tags: Tags,
    metadata: Metadata,
    root_memory_id: Uuid,
    memory_ids: Type.Array(Uuid, { minItems: 1, maxItems: MAX_NAMED_MEMORIES }),
    strategy: Type.Enum(["single", "root-child"], { type: "string" }),
    total_tokens: whole(0),
    extraction: Type.Object(
      {
        content_type: Type.Enum([...DOCUMENT_KINDS], { type: "string" }),
        method: text(256),
        title: Type.Optional(text(16_384)),
        author: Type.Optional(text(16_384)),
        date: Type.Optional(BodyTime),
        language: Type.Optional(text(256)),
        pages: Type.Optional(whole(0)),
        duration_s: Type.Optional(Type.Number({ minimum: 0, maximum: 2 ** 31 })),
        sound_track: Type.Optional(Type.Object({ number: whole(1), count: whole(1) }, exactly)),
        char_count: whole(0),
      },
      exactly,
    ),
    chunking_version: whole(0),
    ...exportedWriter,
    created_at: BodyTime,
    fetched_at: nullable(BodyTime),
  },
  { ...exactly, $id: "DocumentLine", description: "`metadata` is what the writer gave." },
);

export const FactLine = Type.Object(
  {
    type: Type.Literal("fact"),
    id: Uuid,
    subject: FactSubject,
    predicate: FactPredicate,
    object: FactObject,
    user_id: nullable(UserId),
    project: nullable(Project),
    cardinality: CardinalityName,
    recorded_at: BodyTime,
    // Not in files of the first version.
    ...writerInBody,
    versions: Type.Array(
      Type.Object(
        {
          valid_from: BodyTime,
          valid_to: nullable(BodyTime),
          confidence: Confidence,
          metadata: Metadata,
          source_memory_id: nullable(Uuid),
          superseded_by: nullable(Uuid),
          derived_from: nullable(Uuid),
          updated_at: BodyTime,
        },
        exactly,
      ),
      { minItems: 1, description: "What was recorded of it, oldest first." },
    ),
  },
  { ...exactly, $id: "FactLine" },
);

export const WaypointLine = Type.Object(
  {
    type: Type.Literal("waypoint"),
    source: Uuid,
    target: Uuid,
    kind: Type.Enum([...EDGE_KIND_NAMES], { type: "string" }),
    weight: Weight,
    created_at: BodyTime,
  },
  { ...exactly, $id: "WaypointLine" },
);

/** The last line: without it a file was cut off. */
export const EndLine = Type.Object(
  {
    type: Type.Literal("end"),
    memories: whole(0),
    documents: whole(0),
    waypoints: whole(0),
    facts: whole(0),
  },
  { $id: "EndLine" },
);

export const TRANSFER_LINES = {
  memory: MemoryLine,
  document: DocumentLine,
  fact: FactLine,
  waypoint: WaypointLine,
} as const;
export type TransferLine = Static<(typeof TRANSFER_LINES)[keyof typeof TRANSFER_LINES]>;

export const ExportQuery = Type.Object({
  user_id: Type.Optional(UserId),
  project: Type.Optional(QueryProject),
  waypoints: Type.Optional(
    Type.Boolean({ default: true, description: "Whether the links between memories come too." }),
  ),
});

export const ImportReply = Type.Object(
  {
    results: Type.Array(
      Type.Union([
        Type.Object({
          status: Type.Literal(200),
          id: Type.String(),
          outcome: Type.Enum(["added", "known"], { type: "string" }),
        }),
        Problem,
      ]),
      { description: "One a line, the first and the last line of the file left out, in order." },
    ),
    added: Type.Integer({ minimum: 0 }),
    known: Type.Integer({ minimum: 0, description: "What was there already; it stays as it is." }),
    failed: Type.Integer({ minimum: 0 }),
  },
  { $id: "Imported" },
);
