/** Memories on the wire: the record, and what adds, changes, deletes and reinforces one. */
import { Type } from "typebox";
import {
  BodyTime,
  Content,
  EDGE_KIND_NAMES,
  Metadata,
  nullable,
  optional,
  ownedFields,
  Project,
  SectorName,
  SessionId,
  Tags,
  Time,
  TOO_LARGE_KEYWORDS,
  UserId,
  writtenFields,
  QueryProject,
  queryTime,
  QueryTime,
  Tag,
  writerInQuery,
} from "./fields.ts";
import { Problem } from "./problem.ts";
import { pageQuery, pageReply } from "./page.ts";

export const MAX_BATCH_ITEMS = 1_000;
export const DEFAULT_BOOST = 0.1;

const MemoryId = Type.String({ description: "UUIDv7.", examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] });
const Supersedes = Type.Unsafe<string | string[]>({
  type: ["string", "array"],
  items: { type: "string" },
  maxItems: 64,
  description:
    "Id, or ids, of the same user's memories that this one replaces: they stay, and rank behind it in questions about the present.",
});
const Version = Type.Integer({ minimum: 1, description: "1 at first; every change of the memory adds 1." });

const Source = Type.Object(
  {
    document_id: Type.String(),
    filename: nullable(Type.String()),
    media_type: Type.String(),
    chunk_index: Type.Integer({ description: "From 0; −1 for the root, which is none of the chunks." }),
    chunk_count: Type.Integer(),
    page: Type.Optional(Type.Integer({ description: "Where it begins, from 1." })),
    section: Type.Optional(Type.String({ description: "Title and headings it stands under." })),
    start_ms: Type.Optional(Type.Integer()),
    end_ms: Type.Optional(Type.Integer()),
    url: Type.Optional(Type.String()),
  },
  { description: "The place in a document that a chunk was cut from." },
);

const recordFields = {
  id: MemoryId,
  content: Type.String(),
  tags: Type.Array(Type.String()),
  metadata: Type.Unsafe<{ readonly [key: string]: unknown }>({
    type: "object",
    description: "Exactly as it was sent.",
  }),
  ...ownedFields,
  session_id: nullable(Type.String()),
  occurred_at: Type.String({
    format: "date-time",
    description: "When it happened; where nobody said, `created_at`.",
  }),
  primary_sector: SectorName,
  sectors: Type.Array(SectorName, { description: "The primary sector first." }),
  salience: Type.Number({ minimum: 0, maximum: 1 }),
  created_at: Time,
  updated_at: Time,
  last_seen_at: Time,
  version: Version,
  ...writtenFields,
  source: nullable(Source),
  supersedes: Type.Array(Type.String(), {
    description: "Ids of the memories that this one replaces, as its writer said.",
  }),
  superseded_by: nullable(
    Type.String({ description: "Id of the later memory that took its place; null while it holds." }),
  ),
  superseded_at: nullable(Time),
  superseded_how: nullable(
    Type.Enum(["told", "inferred"], {
      type: "string",
      description: "Whether the later memory says so, or reads so; `still_holds` rejects the guess.",
    }),
  ),
};

export const MemoryRecord = Type.Object(recordFields, { $id: "Memory" });

export const AddMemoryBody = Type.Object(
  {
    content: Content,
    tags: optional(Tags),
    metadata: optional(Metadata),
    user_id: optional(UserId),
    project: optional(Project),
    session_id: optional(SessionId),
    occurred_at: optional(BodyTime),
    sector: optional(SectorName),
    supersedes: optional(Supersedes),
  },
  {
    $id: "AddMemory",
    description:
      "A memory to keep. Fields that are not listed are ignored; `sector` forces the primary sector.",
  },
);

const addedFields = {
  ...recordFields,
  deduplicated: Type.Boolean({
    description:
      "True when the same user already has an identical memory: that one is returned and no second is made.",
  }),
};
export const AddMemoryReply = Type.Object(addedFields, { $id: "AddedMemory" });

export const AddMemoriesBody = Type.Object(
  {
    memories: Type.Array(AddMemoryBody, {
      maxItems: MAX_BATCH_ITEMS,
      description: "Judged one by one: what is wrong with one does not keep the others out.",
      [TOO_LARGE_KEYWORDS]: ["maxItems"],
    }),
  },
  { $id: "AddMemories" },
);
export const AddMemoriesReply = Type.Object(
  {
    results: Type.Array(Type.Union([Type.Object({ status: Type.Literal(200), ...addedFields }), Problem]), {
      description: "One an item, in order: the memory with `status` 200, or a problem.",
    }),
    added: Type.Integer({ description: "Items accepted, deduplicated ones included." }),
    failed: Type.Integer(),
  },
  { $id: "AddedMemories" },
);

export const UpdateMemoryBody = Type.Object(
  {
    content: optional(Content),
    tags: optional(Tags),
    metadata: optional(Metadata),
    occurred_at: optional(BodyTime),
    project: optional(Project),
    supersedes: optional(Supersedes),
    still_holds: optional(
      Type.Boolean({
        description:
          "true: it holds, whatever seems to have taken its place; a guess so rejected is not made again.",
      }),
    ),
    user_id: optional(UserId),
  },
  {
    $id: "UpdateMemory",
    description:
      "What to change. `metadata` is replaced, not merged; null clears `occurred_at` and `project`; `user_id` changes nothing, " +
      "it is checked against the owner.",
  },
);
export const UpdateMemoryReply = Type.Object(
  { ...recordFields, updated: Type.Literal(true) },
  { $id: "UpdatedMemory" },
);

/** Of a request that may name the owner in its query or its body, and may have no body at all. */
export const OwnerBody = Type.Unsafe<{ user_id?: string | null } | null>({
  ...nullable(Type.Object({ user_id: optional(UserId) })),
  $id: "Owner",
});
export const OwnerQuery = Type.Object({ user_id: Type.Optional(UserId) });

export const DeleteMemoryReply = Type.Object(
  { ok: Type.Literal(true), id: MemoryId, deleted: Type.Integer({ description: "How many memories went." }) },
  { $id: "DeletedMemory" },
);

export const ReinforceMemoryBody = Type.Object(
  {
    id: Type.String({ minLength: 1, examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] }),
    boost: optional(
      Type.Number({
        minimum: 0,
        description: `${DEFAULT_BOOST} where left out; above 1 counts as 1.`,
        default: DEFAULT_BOOST,
      }),
    ),
    user_id: optional(UserId),
  },
  { $id: "ReinforceMemory" },
);
export const ReinforceMemoryReply = Type.Object(
  { ok: Type.Literal(true), id: MemoryId, salience: Type.Number({ minimum: 0, maximum: 1 }) },
  { $id: "ReinforcedMemory" },
);

export const RelatedMemoriesQuery = Type.Object({
  depth: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3, default: 1, description: "Steps over waypoints." }),
  ),
  user_id: Type.Optional(UserId),
});
export const RelatedMemoriesReply = Type.Object(
  {
    nodes: Type.Array(MemoryRecord, { description: "The memory itself first; at most 200." }),
    edges: Type.Array(
      Type.Object({
        source: MemoryId,
        target: MemoryId,
        weight: Type.Number({ minimum: 0, maximum: 1 }),
        kind: Type.Enum([...EDGE_KIND_NAMES], { type: "string" }),
      }),
    ),
  },
  { $id: "RelatedMemories" },
);

export const MemoryParams = Type.Object({ id: Type.String({ description: "Id of a memory." }) });

export const SectorsReply = Type.Object(
  {
    sectors: Type.Array(
      Type.Object({ name: SectorName, description: Type.String(), count: Type.Integer({ minimum: 0 }) }),
    ),
  },
  { $id: "Sectors" },
);

export const ListMemoriesQuery = Type.Object({
  ...pageQuery("Memories"),
  sector: Type.Optional(SectorName),
  user_id: Type.Optional(UserId),
  project: Type.Optional(QueryProject),
  tag: Type.Optional(Tag),
  session_id: Type.Optional(SessionId),
  ...writerInQuery,
  id_end: Type.Optional(
    Type.String({
      pattern: "^[0-9a-f-]{6,36}$",
      description: "The last characters of the id, at least six.",
    }),
  ),
  created_from: Type.Optional(queryTime("Added at that moment or later. ")),
  from: Type.Optional(QueryTime),
  to: Type.Optional(QueryTime),
});

export const ListMemoriesReply = pageReply(
  MemoryRecord,
  "MemoryPage",
  "Newest first. A page ends early at 8 MiB.",
  "Goes on where this page ends, whatever was added since; null on the last.",
);
