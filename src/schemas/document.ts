/** Documents on the wire: their ingestion, its jobs, and the record. */
import type { Static } from "typebox";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { MemoryRecord } from "./memory.ts";
import { pageQuery, pageReply, Problem } from "./page.ts";
import { Type } from "./typebox.ts";

const Language = field.wellFormed(
  t.text(
    "What is spoken in a recording, such as `en`, detected if absent; of several sound tracks the one in it is transcribed. The same as `metadata.language`.",
    { minLength: 1, maxLength: 64, examples: ["en"] },
  ),
);

const writeFields = t.optionals({
  metadata: field.Metadata,
  language: Language,
  tags: field.Tags,
  user_id: field.UserId,
  project: field.Project,
});

const Url = t.text("An `http` or `https` address.", {
  minLength: 1,
  maxLength: 8_192,
  examples: ["https://example.org/report.pdf"],
});

export const IngestBody = t.named(
  "Ingest",
  "Exactly one of `text` and `url`; as multipart, of `file`, `text` and `url`, with JSON in `metadata` and `tags`. " +
    "`metadata.filename` names what has no name of its own, `metadata.encoding` the encoding of a text that is not UTF-8 (`koi8-r`), `metadata.modified_at` when the file was changed, which is the time of its memories where it names none of its own; with `metadata.prefer_subtitles` a recording's subtitles are " +
    "read, if it has some, instead of what is transcribed.",
  {
    text: t.optional(field.wellFormed(t.text("The text itself, plain or Markdown.", { minLength: 1 }))),
    url: t.optional(Url),
    ...writeFields,
  },
);

export const IngestBytesBody = t.named("IngestBytes", "`metadata.filename` names the document.", {
  content_type: t.text(
    "A kind (`pdf`, `docx`, `xlsx`, `pptx`, `epub`, `odt`, `ods`, `odp`, `rtf`, `eml`, `mhtml`, `ipynb`, `png`, `jpeg`, `webp`, `md`, `txt`, `html`, `audio`, `video`), a media type or a file extension.",
    { minLength: 1, maxLength: 256, examples: ["pdf"] },
  ),
  data: t.text(
    "The bytes in base64; line breaks, the URL alphabet, missing padding and a `data:` prefix are taken.",
  ),
  ...writeFields,
});

export const IngestUrlBody = t.named("IngestUrl", { url: Url, ...writeFields });

export const IngestHeaders = t.partial({
  prefer: t.text("`respond-async`: do not wait; `wait=N`: wait so many seconds, 60 where left out.", {
    examples: ["respond-async"],
  }),
});

const Id = t.text("UUIDv7.");

const Extraction = Type.Object({
  content_type: t.text(
    "The kind found in the bytes: pdf, docx, xlsx, pptx, epub, odt, ods, odp, rtf, eml, mhtml, ipynb, png, jpeg, webp, html, md, txt, srt, vtt, audio or video.",
  ),
  method: t.text(
    "The reader; of texts whose encoding was guessed also its name: `plain-text, windows-1251`.",
  ),
  title: Type.Optional(t.text()),
  author: Type.Optional(t.text()),
  date: Type.Optional(field.Time),
  language: Type.Optional(t.text()),
  pages: Type.Optional(t.whole("Pages or slides.")),
  encoding: Type.Optional(t.text("Of texts whose encoding was guessed: its name.")),
  confidence: Type.Optional(
    t.number(
      "Of pictures, and of texts whose encoding was guessed: how sure it is that the text was read right, 0 to 1.",
    ),
  ),
  duration_s: Type.Optional(t.number("Of recordings and subtitles.")),
  sound_track: Type.Optional(
    t.object("Of recordings with several sound tracks: which was transcribed.", {
      number: t.whole("From 1, in the order of the file."),
      count: t.whole("How many there are."),
    }),
  ),
  char_count: t.whole(),
});

const outcomeFields = {
  root_memory_id: t.text("The memory to delete to be rid of the document."),
  memory_ids: t.list(t.text(), "In order, the root first where there is one."),
  child_count: t.whole("Chunks, the root left out; 0 for `single`."),
  strategy: t.oneOf(["single", "root-child"]),
  total_tokens: t.whole("About: four characters count as one."),
};
const sourceFields = {
  id: Id,
  sha256: t.text(),
  bytes: t.whole(),
  filename: t.nullable(t.text()),
  media_type: t.text(),
};

export const IngestReply = t.named("IngestResult", {
  ...outcomeFields,
  deduplicated: t.flag("The same bytes were there for that user and project before."),
  document: Type.Object(sourceFields),
  extraction: Extraction,
});

export const JobRecord = t.named("Job", {
  id: Id,
  kind: Type.Literal("ingest"),
  status: t.oneOf(["queued", "running", "succeeded", "failed", "cancelled"]),
  progress: Type.Object({
    stage: t.text("queued, fetching, reading, extracting, transcribing, embedding, storing, done."),
    done: t.whole("Bytes, pages, memories; while transcribing, seconds of sound."),
    total: t.whole("0 where it is not known."),
  }),
  result: Type.Optional(IngestReply),
  problem: Type.Optional(Problem),
  created_at: field.Time,
  started_at: Type.Optional(field.Time),
  finished_at: Type.Optional(field.Time),
});

export const DocumentRecord = t.named("Document", {
  ...sourceFields,
  ...field.ownedFields,
  title: t.nullable(t.text()),
  url: t.nullable(t.text()),
  tags: Type.Array(t.text()),
  metadata: t.anyObject("What was sent, over what the document says of itself."),
  ...outcomeFields,
  extraction: Extraction,
  ...field.writtenFields,
  created_at: field.Time,
  fetched_at: t.nullable(field.Time),
});

export const ListDocumentsReply = pageReply(DocumentRecord, "DocumentPage");
export const ListJobsReply = pageReply(JobRecord, "JobPage");

export const ListDocumentsQuery = t.query({
  ...pageQuery("Items"),
  user_id: field.UserId,
  project: field.QueryProject,
});

export const GetDocumentQuery = t.query({
  l: t.whole("Chunks at most.", { minimum: 1, maximum: 10_000, default: 1_000 }),
  u: t.whole("Chunks to leave out.", { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  user_id: field.UserId,
});
export const GetDocumentReply = t.named("DocumentWithChunks", {
  ...DocumentRecord.properties,
  has_original: t.flag("False for one that was imported without its original."),
  chunks: t.list(MemoryRecord, "In order; a page ends early at 8 MiB."),
  chunk_total: t.whole(),
});

export const DocumentParams = Type.Object({ id: t.text("Id of a document.") });
export const JobParams = Type.Object({ id: t.text("Id of a job.") });
export const DeleteDocumentReply = t.named("DeletedDocument", {
  ok: Type.Literal(true),
  id: Id,
  deleted: t.whole("How many memories went."),
});

export const RestoreOriginalReply = t.named("RestoredOriginal", { ok: Type.Literal(true), id: Id });

export type IngestFields = Static<typeof IngestBody>;
