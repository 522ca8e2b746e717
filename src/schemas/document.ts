/** Documents on the wire: their ingestion, its jobs, and the record. */
import { type Static, Type } from "typebox";
import {
  Metadata,
  nullable,
  optional,
  ownedFields,
  Project,
  QueryProject,
  Tags,
  Time,
  UserId,
  wellFormed,
  writtenFields,
} from "./fields.ts";
import { MemoryRecord } from "./memory.ts";
import { pageQuery, pageReply } from "./page.ts";
import { Problem } from "./problem.ts";

const Language = wellFormed(
  Type.String({
    minLength: 1,
    maxLength: 64,
    description:
      "What is spoken in a recording, such as `en`, detected if absent; of several sound tracks the one in it is transcribed. The same as `metadata.language`.",
    examples: ["en"],
  }),
);

const writeFields = {
  metadata: optional(Metadata),
  language: optional(Language),
  tags: optional(Tags),
  user_id: optional(UserId),
  project: optional(Project),
};

const Url = Type.String({
  minLength: 1,
  maxLength: 8_192,
  description: "An `http` or `https` address.",
  examples: ["https://example.org/report.pdf"],
});

export const IngestBody = Type.Object(
  {
    text: optional(
      wellFormed(Type.String({ minLength: 1, description: "The text itself, plain or Markdown." })),
    ),
    url: optional(Url),
    ...writeFields,
  },
  {
    $id: "Ingest",
    description:
      "Exactly one of `text` and `url`; as multipart, of `file`, `text` and `url`, with JSON in `metadata` and `tags`. " +
      "`metadata.filename` names what has no name of its own; with `metadata.prefer_subtitles` a recording's subtitles are " +
      "read, if it has some, instead of what is transcribed.",
  },
);

export const IngestBytesBody = Type.Object(
  {
    content_type: Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "A kind (`pdf`, `docx`, `xlsx`, `pptx`, `epub`, `eml`, `ipynb`, `png`, `jpeg`, `webp`, `md`, `txt`, `html`, `audio`, `video`), a media type or a file extension.",
      examples: ["pdf"],
    }),
    data: Type.String({
      description:
        "The bytes in base64; line breaks, the URL alphabet, missing padding and a `data:` prefix are taken.",
    }),
    ...writeFields,
  },
  { $id: "IngestBytes", description: "`metadata.filename` names the document." },
);

export const IngestUrlBody = Type.Object({ url: Url, ...writeFields }, { $id: "IngestUrl" });

export const IngestHeaders = {
  prefer: Type.Optional(
    Type.String({
      description: "`respond-async`: do not wait; `wait=N`: wait so many seconds, 60 where left out.",
      examples: ["respond-async"],
    }),
  ),
};

const Id = Type.String({ description: "UUIDv7." });

const Extraction = Type.Object({
  content_type: Type.String({
    description:
      "The kind found in the bytes: pdf, docx, xlsx, pptx, epub, eml, ipynb, png, jpeg, webp, html, md, txt, srt, vtt, audio or video.",
  }),
  method: Type.String(),
  title: Type.Optional(Type.String()),
  author: Type.Optional(Type.String()),
  date: Type.Optional(Time),
  language: Type.Optional(Type.String()),
  pages: Type.Optional(Type.Integer({ description: "Pages or slides." })),
  confidence: Type.Optional(
    Type.Number({ description: "Of pictures: how sure it is that their text was read right, 0 to 1." }),
  ),
  duration_s: Type.Optional(Type.Number({ description: "Of recordings and subtitles." })),
  sound_track: Type.Optional(
    Type.Object(
      {
        number: Type.Integer({ description: "From 1, in the order of the file." }),
        count: Type.Integer({ description: "How many there are." }),
      },
      { description: "Of recordings with several sound tracks: which was transcribed." },
    ),
  ),
  char_count: Type.Integer(),
});

const outcomeFields = {
  root_memory_id: Type.String({ description: "The memory to delete to be rid of the document." }),
  memory_ids: Type.Array(Type.String(), { description: "In order, the root first where there is one." }),
  child_count: Type.Integer({ description: "Chunks, the root left out; 0 for `single`." }),
  strategy: Type.Enum(["single", "root-child"], { type: "string" }),
  total_tokens: Type.Integer({ description: "About: four characters count as one." }),
};
const sourceFields = {
  id: Id,
  sha256: Type.String(),
  bytes: Type.Integer(),
  filename: nullable(Type.String()),
  media_type: Type.String(),
};

export const IngestReply = Type.Object(
  {
    ...outcomeFields,
    deduplicated: Type.Boolean({
      description: "The same bytes were there for that user and project before.",
    }),
    document: Type.Object(sourceFields),
    extraction: Extraction,
  },
  { $id: "IngestResult" },
);

export const JobRecord = Type.Object(
  {
    id: Id,
    kind: Type.Literal("ingest"),
    status: Type.Enum(["queued", "running", "succeeded", "failed", "cancelled"], { type: "string" }),
    progress: Type.Object({
      stage: Type.String({
        description: "queued, fetching, reading, extracting, transcribing, embedding, storing, done.",
      }),
      done: Type.Integer({ description: "Bytes, pages, memories; while transcribing, seconds of sound." }),
      total: Type.Integer({ description: "0 where it is not known." }),
    }),
    result: Type.Optional(IngestReply),
    problem: Type.Optional(Problem),
    created_at: Time,
    started_at: Type.Optional(Time),
    finished_at: Type.Optional(Time),
  },
  { $id: "Job" },
);

export const DocumentRecord = Type.Object(
  {
    ...sourceFields,
    ...ownedFields,
    title: nullable(Type.String()),
    url: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    metadata: Type.Unsafe<{ readonly [key: string]: unknown }>({
      type: "object",
      description: "What was sent, over what the document says of itself.",
    }),
    ...outcomeFields,
    extraction: Extraction,
    ...writtenFields,
    created_at: Time,
    fetched_at: nullable(Time),
  },
  { $id: "Document" },
);

export const ListDocumentsReply = pageReply(DocumentRecord, "DocumentPage");
export const ListJobsReply = pageReply(JobRecord, "JobPage");

export const ListDocumentsQuery = Type.Object({
  ...pageQuery("Items"),
  user_id: Type.Optional(UserId),
  project: Type.Optional(QueryProject),
});

export const GetDocumentQuery = Type.Object({
  l: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000, description: "Chunks at most." }),
  ),
  u: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "Chunks to leave out.",
    }),
  ),
  user_id: Type.Optional(UserId),
});
export const GetDocumentReply = Type.Object(
  {
    ...DocumentRecord.properties,
    has_original: Type.Boolean({ description: "False for one that was imported without its original." }),
    chunks: Type.Array(MemoryRecord, { description: "In order; a page ends early at 8 MiB." }),
    chunk_total: Type.Integer(),
  },
  { $id: "DocumentWithChunks" },
);

export const DocumentParams = Type.Object({ id: Type.String({ description: "Id of a document." }) });
export const JobParams = Type.Object({ id: Type.String({ description: "Id of a job." }) });
export const DeleteDocumentReply = Type.Object(
  { ok: Type.Literal(true), id: Id, deleted: Type.Integer({ description: "How many memories went." }) },
  { $id: "DeletedDocument" },
);

export const RestoreOriginalReply = Type.Object(
  { ok: Type.Literal(true), id: Id },
  { $id: "RestoredOriginal" },
);

export type IngestFields = Static<typeof IngestBody>;
