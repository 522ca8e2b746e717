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
  TimeZone,
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
import { batchOf, batchReply, MAX_BATCH_ITEMS, pageQuery, pageReply } from "./page.ts";

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

export const AddMemoriesBody = Type.Object({ memories: batchOf(AddMemoryBody) }, { $id: "AddMemories" });
export const AddMemoriesReply = batchReply(addedFields, "memory", "AddedMemories");

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

export const TagMemoriesBody = Type.Object(
  {
    memories: Type.Array(
      Type.Object({
        id: MemoryId,
        version: optional(
          Type.Integer({ minimum: 1, description: "The version that must still be current." }),
        ),
      }),
      { maxItems: MAX_BATCH_ITEMS, [TOO_LARGE_KEYWORDS]: ["maxItems"] },
    ),
    add: optional(Tags),
    remove: optional(Tags),
    user_id: optional(UserId),
  },
  {
    $id: "TagMemories",
    description:
      "Memories, and the tags that they get and lose. With `user_id` another user's memory is not found.",
  },
);
export const TagMemoriesReply = Type.Object(
  {
    results: Type.Array(
      Type.Union([
        Type.Object({
          status: Type.Literal(200),
          id: MemoryId,
          version: Version,
          tags: Type.Array(Type.String()),
          changed: Type.Boolean({ description: "False: it had those tags already, and keeps its version." }),
        }),
        Problem,
      ]),
      { description: "One per memory, in order: its tags with `status` 200, or a problem." },
    ),
    tagged: Type.Integer({ description: "Memories that have those tags now." }),
    failed: Type.Integer(),
  },
  { $id: "TaggedMemories" },
);

/** Body of a request that may name the owner in its query or its body; the body may be absent. */
export const OwnerBody = Type.Unsafe<{ user_id?: string | null } | null>({
  ...nullable(Type.Object({ user_id: optional(UserId) })),
  $id: "Owner",
});
export const OwnerQuery = Type.Object({ user_id: Type.Optional(UserId) });

const Trash = Type.Boolean({
  description: "true: into the trash, where it can be restored for `--history-days`; else it goes for good.",
});
export const DeletionQuery = Type.Object({ user_id: Type.Optional(UserId), trash: Type.Optional(Trash) });
export const DeletionBody = Type.Unsafe<{ user_id?: string | null; trash?: boolean | null } | null>({
  ...nullable(Type.Object({ user_id: optional(UserId), trash: optional(Trash) })),
  $id: "Deletion",
});

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
const Waypoint = Type.Object({
  source: MemoryId,
  target: MemoryId,
  weight: Type.Number({ minimum: 0, maximum: 1 }),
  kind: Type.Enum([...EDGE_KIND_NAMES], { type: "string" }),
});
export const RelatedMemoriesReply = Type.Object(
  {
    nodes: Type.Array(MemoryRecord, { description: "The memory itself first; at most 200." }),
    edges: Type.Array(Waypoint),
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
  created_to: Type.Optional(queryTime("Added before that moment. ")),
  from: Type.Optional(QueryTime),
  to: Type.Optional(QueryTime),
});

const { l: _l, u: _u, cursor: _cursor, ...listConditions } = ListMemoriesQuery.properties;

export const CountMemoriesQuery = Type.Object({
  by: Type.Enum(["day", "client", "project", "tag", "user"], {
    type: "string",
    description: "`day` of adding; a memory with several tags counts once for each.",
  }),
  time_zone: Type.Optional(TimeZone),
  l: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 366, description: "Keys at most." })),
  ...listConditions,
});
export const CountMemoriesReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        key: nullable(Type.String({ description: "`2026-11-22` of a day; null: memories without one." })),
        count: Type.Integer({ minimum: 1 }),
        first_at: Type.String({ ...Time, description: "When the first was added." }),
        last_at: Time,
      }),
      { description: "Days in their order, the last ones; anything else with the most first." },
    ),
    total: Type.Integer({ minimum: 0, description: "How many keys there are." }),
  },
  { $id: "MemoryCounts" },
);

export const MAX_GRAPH_NODES = 5_000;
export const MemoryGraphQuery = Type.Object({
  around: Type.Optional(
    Type.String({
      description:
        "Id of a memory: it and those that waypoints lead to from it, nearest first; else the newest.",
    }),
  ),
  depth: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10, default: 2, description: "Steps over waypoints from `around`." }),
  ),
  l: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_GRAPH_NODES, default: 1_000, description: "Memories at most." }),
  ),
  ...listConditions,
});
export const MemoryGraphReply = Type.Object(
  {
    nodes: Type.Array(
      Type.Object({
        id: MemoryId,
        text: Type.String({ description: "The beginning of the content, in one line." }),
        primary_sector: SectorName,
        occurred_at: Time,
        ...ownedFields,
      }),
    ),
    edges: Type.Array(Waypoint, { description: "The waypoints between those memories." }),
    total: Type.Integer({ minimum: 0, description: "How many memories match the conditions." }),
  },
  { $id: "MemoryGraph" },
);

export const ListMemoriesReply = pageReply(
  MemoryRecord,
  "MemoryPage",
  "Newest first. A page ends early at 8 MiB.",
  "Goes on where this page ends, whatever was added since; null on the last.",
);
