/** The lines of an export: what `GET /export` answers and `POST /import` takes back. */
import type { Static } from "typebox";
import { EXPORT_FORMAT, EXPORT_VERSION } from "./wire.ts";
import { CardinalityName, Confidence } from "./fact.ts";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { UUID_PATTERN } from "./text-rules.ts";
import { outcomes } from "./page.ts";
import { Type } from "./typebox.ts";

export const MAX_IMPORT_LINES = 1_000;

const Uuid = Type.String({ pattern: UUID_PATTERN });
const Weight = t.share();
const text = (maxLength: number) => field.wellFormed(Type.String({ maxLength }));
const whole = (minimum: number) => Type.Integer({ minimum, maximum: 2 ** 31 });
/** Unknown fields would be lost silently; a file of a later version has another number in its first line. */
const exactly = { additionalProperties: false };

export const ExportHeader = Type.Object({
  format: Type.Literal(EXPORT_FORMAT),
  version: Type.Literal(EXPORT_VERSION),
  exported_at: Type.Optional(field.BodyTime),
  memoryd: Type.Optional(t.text("Version of the program that wrote it.")),
});

const Source = Type.Object(
  {
    document_id: Uuid,
    filename: t.nullable(text(256)),
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
    content: field.ExportedContent,
    tags: field.Tags,
    metadata: field.Metadata,
    user_id: t.nullable(field.UserId),
    project: t.nullable(field.Project),
    session_id: t.nullable(field.SessionId),
    occurred_at: t.nullable(field.BodyTime),
    primary_sector: field.SectorName,
    sectors: Type.Array(field.SectorName, { minItems: 1, maxItems: field.SECTOR_NAMES.length }),
    salience: t.share(),
    created_at: field.BodyTime,
    updated_at: field.BodyTime,
    last_seen_at: field.BodyTime,
    version: whole(1),
    ...field.exportedWriter,
    source: t.nullable(Source),
    supersedes: Type.Optional(Type.Array(Uuid, { maxItems: 1_024 })),
  },
  { ...exactly, $id: "MemoryLine", description: "`salience` is as of `last_seen_at`." },
);

/** Hex, as it also names the file: nothing else may. */
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const MAX_NAMED_MEMORIES = 500_000;
/** All that there are: one that is missing could be written and not be read back. */
const DOCUMENT_KINDS = [
  ...([
    "pdf",
    "docx",
    "xlsx",
    "pptx",
    "epub",
    "html",
    "md",
    "txt",
    "srt",
    "vtt",
    "odt",
    "ods",
    "odp",
    "rtf",
    "eml",
    "mhtml",
    "ipynb",
  ] as const),
  ...(["png", "jpeg", "webp", "audio", "video"] as const),
] as const;

export const DocumentLine = Type.Object(
  {
    type: Type.Literal("document"),
    id: Uuid,
    sha256: Sha256,
    bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    filename: t.nullable(text(256)),
    media_type: text(256),
    url: t.nullable(text(8_192)),
    user_id: t.nullable(field.UserId),
    project: t.nullable(field.Project),
    tags: field.Tags,
    metadata: field.Metadata,
    root_memory_id: Uuid,
    memory_ids: Type.Array(Uuid, { minItems: 1, maxItems: MAX_NAMED_MEMORIES }),
    strategy: t.oneOf(["single", "root-child"]),
    total_tokens: whole(0),
    extraction: Type.Object(
      {
        content_type: t.oneOf(DOCUMENT_KINDS),
        method: text(256),
        title: Type.Optional(text(16_384)),
        author: Type.Optional(text(16_384)),
        date: Type.Optional(field.BodyTime),
        language: Type.Optional(text(256)),
        pages: Type.Optional(whole(0)),
        confidence: Type.Optional(t.share()),
        duration_s: Type.Optional(Type.Number({ minimum: 0, maximum: 2 ** 31 })),
        sound_track: Type.Optional(Type.Object({ number: whole(1), count: whole(1) }, exactly)),
        encoding: Type.Optional(text(40)),
        char_count: whole(0),
      },
      exactly,
    ),
    chunking_version: whole(0),
    ...field.exportedWriter,
    created_at: field.BodyTime,
    fetched_at: t.nullable(field.BodyTime),
  },
  { ...exactly, $id: "DocumentLine", description: "`metadata` is what the writer gave." },
);

export const FactLine = Type.Object(
  {
    type: Type.Literal("fact"),
    id: Uuid,
    subject: field.FactSubject,
    predicate: field.FactPredicate,
    object: field.FactObject,
    user_id: t.nullable(field.UserId),
    project: t.nullable(field.Project),
    cardinality: CardinalityName,
    recorded_at: field.BodyTime,
    // Not in files of the first version.
    ...field.writerInBody,
    versions: Type.Array(
      Type.Object(
        {
          valid_from: field.BodyTime,
          valid_to: t.nullable(field.BodyTime),
          confidence: Confidence,
          metadata: field.Metadata,
          source_memory_id: t.nullable(Uuid),
          superseded_by: t.nullable(Uuid),
          derived_from: t.nullable(Uuid),
          updated_at: field.BodyTime,
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
    kind: t.oneOf(field.EDGE_KIND_NAMES),
    weight: Weight,
    created_at: field.BodyTime,
  },
  { ...exactly, $id: "WaypointLine" },
);

/** The last line: without it a file was cut off. */
export const EndLine = t.named("EndLine", {
  type: Type.Literal("end"),
  memories: whole(0),
  documents: whole(0),
  waypoints: whole(0),
  facts: whole(0),
});

export const TRANSFER_LINES = {
  memory: MemoryLine,
  document: DocumentLine,
  fact: FactLine,
  waypoint: WaypointLine,
} as const;
export type TransferLine = Static<(typeof TRANSFER_LINES)[keyof typeof TRANSFER_LINES]>;

export const ExportQuery = t.query({
  user_id: field.UserId,
  project: field.QueryProject,
  waypoints: t.flag("Whether the links between memories come too.", { default: true }),
});

export const ImportReply = t.named("Imported", {
  results: outcomes(
    { id: t.text(), outcome: t.oneOf(["added", "known"]) },
    "One a line, the first and the last line of the file left out, in order.",
  ),
  added: t.count(),
  known: t.count("What was there already; it stays as it is."),
  failed: t.count(),
});
