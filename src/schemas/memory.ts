/** Memories on the wire: the record, and what adds, changes, deletes and reinforces one. */
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { batchOf, batchReply, MAX_BATCH_ITEMS, outcomes, pageQuery, pageReply } from "./page.ts";
import { Type } from "./typebox.ts";

export const DEFAULT_BOOST = 0.1;

const MemoryId = t.text("UUIDv7.", { examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] });
const Supersedes = Type.Unsafe<string | string[]>({
  type: ["string", "array"],
  items: { type: "string" },
  maxItems: 64,
  description:
    "Id, or ids, of the same user's memories that this one replaces: they stay, and rank behind it in questions about the present.",
});
const Version = t.whole("1 at first; every change of the memory adds 1.", { minimum: 1 });

const Source = t.object("The place in a document that a chunk was cut from.", {
  document_id: t.text(),
  filename: t.nullable(t.text()),
  media_type: t.text(),
  chunk_index: t.whole("From 0; −1 for the root, which is none of the chunks."),
  chunk_count: t.whole(),
  page: Type.Optional(t.whole("Where it begins, from 1.")),
  section: Type.Optional(t.text("Title and headings it stands under.")),
  start_ms: Type.Optional(t.whole()),
  end_ms: Type.Optional(t.whole()),
  url: Type.Optional(t.text()),
});

const recordFields = {
  id: MemoryId,
  content: t.text(),
  tags: Type.Array(t.text()),
  metadata: t.anyObject("Exactly as it was sent."),
  ...field.ownedFields,
  session_id: t.nullable(t.text()),
  occurred_at: t.time("When it happened; where nobody said, `created_at`."),
  primary_sector: field.SectorName,
  sectors: t.list(field.SectorName, "The primary sector first."),
  salience: t.share(),
  created_at: field.Time,
  updated_at: field.Time,
  last_seen_at: field.Time,
  version: Version,
  ...field.writtenFields,
  source: t.nullable(Source),
  supersedes: t.list(t.text(), "Ids of the memories that this one replaces, as its writer said."),
  superseded_by: t.nullable(t.text("Id of the later memory that took its place; null while it holds.")),
  superseded_at: t.nullable(field.Time),
  superseded_how: t.nullable(
    t.oneOf(
      ["told", "inferred"],
      "Whether the later memory says so, or reads so; `still_holds` rejects the guess.",
    ),
  ),
};

export const MemoryRecord = t.named("Memory", recordFields);

export const AddMemoryBody = t.named(
  "AddMemory",
  "A memory to keep. Fields that are not listed are ignored; `sector` forces the primary sector.",
  {
    content: field.Content,
    tags: t.optional(field.Tags),
    metadata: t.optional(field.Metadata),
    user_id: t.optional(field.UserId),
    project: t.optional(field.Project),
    session_id: t.optional(field.SessionId),
    occurred_at: t.optional(field.BodyTime),
    sector: t.optional(field.SectorName),
    supersedes: t.optional(Supersedes),
  },
);

const addedFields = {
  ...recordFields,
  deduplicated: t.flag(
    "True when the same user already has an identical memory: that one is returned and no second is made.",
  ),
};
export const AddMemoryReply = t.named("AddedMemory", addedFields);

export const AddMemoriesBody = t.named("AddMemories", { memories: batchOf(AddMemoryBody) });
export const AddMemoriesReply = batchReply(addedFields, "memory", "AddedMemories");

export const UpdateMemoryBody = t.named(
  "UpdateMemory",
  "What to change. `metadata` is replaced, not merged; null clears `occurred_at` and `project`; `user_id` changes nothing, " +
    "it is checked against the owner.",
  t.optionals({
    content: field.Content,
    tags: field.Tags,
    metadata: field.Metadata,
    occurred_at: field.BodyTime,
    project: field.Project,
    supersedes: Supersedes,
    still_holds: t.flag(
      "true: it holds, whatever seems to have taken its place; a guess so rejected is not made again.",
    ),
    user_id: field.UserId,
  }),
);
export const UpdateMemoryReply = t.named("UpdatedMemory", { ...recordFields, updated: Type.Literal(true) });

export const TagMemoriesBody = t.named(
  "TagMemories",
  "Memories, and the tags that they get and lose. With `user_id` another user's memory is not found.",
  {
    memories: Type.Array(
      Type.Object({
        id: MemoryId,
        version: t.optional(t.whole("The version that must still be current.", { minimum: 1 })),
      }),
      { maxItems: MAX_BATCH_ITEMS, [field.TOO_LARGE_KEYWORDS]: ["maxItems"] },
    ),
    add: t.optional(field.Tags),
    remove: t.optional(field.Tags),
    user_id: t.optional(field.UserId),
  },
);
export const TagMemoriesReply = t.named("TaggedMemories", {
  results: outcomes(
    {
      id: MemoryId,
      version: Version,
      tags: Type.Array(t.text()),
      changed: t.flag("False: it had those tags already, and keeps its version."),
    },
    "One per memory, in order: its tags with `status` 200, or a problem.",
  ),
  tagged: t.whole("Memories that have those tags now."),
  failed: t.whole(),
});

/** Body of a request that may name the owner in its query or its body; the body may be absent. */
export const OwnerBody = t.optionalBody("Owner", { user_id: field.UserId });
export const OwnerQuery = t.query({ user_id: field.UserId });

const Trash = t.flag(
  "true: into the trash, where it can be restored for `--history-days`; else it goes for good.",
);
export const DeletionQuery = t.query({ user_id: field.UserId, trash: Trash });
export const DeletionBody = t.optionalBody("Deletion", { user_id: field.UserId, trash: Trash });

export const DeleteMemoryReply = t.named("DeletedMemory", {
  ok: Type.Literal(true),
  id: MemoryId,
  deleted: t.whole("How many memories went."),
});

export const ReinforceMemoryBody = t.named("ReinforceMemory", {
  id: Type.String({ minLength: 1, examples: ["019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e"] }),
  boost: t.optional(
    t.number(`${DEFAULT_BOOST} where left out; above 1 counts as 1.`, { minimum: 0, default: DEFAULT_BOOST }),
  ),
  user_id: t.optional(field.UserId),
});
export const ReinforceMemoryReply = t.named("ReinforcedMemory", {
  ok: Type.Literal(true),
  id: MemoryId,
  salience: t.share(),
});

export const RelatedMemoriesQuery = t.query({
  depth: t.whole("Steps over waypoints.", { minimum: 1, maximum: 3, default: 1 }),
  user_id: field.UserId,
});
const Waypoint = Type.Object({
  source: MemoryId,
  target: MemoryId,
  weight: t.share(),
  kind: t.oneOf(field.EDGE_KIND_NAMES),
});
export const RelatedMemoriesReply = t.named("RelatedMemories", {
  nodes: t.list(MemoryRecord, "The memory itself first; at most 200."),
  edges: Type.Array(Waypoint),
});

export const MemoryParams = Type.Object({ id: t.text("Id of a memory.") });

export const SectorsReply = t.named("Sectors", {
  sectors: t.records({ name: field.SectorName, description: t.text(), count: t.count() }),
});

export const ListMemoriesQuery = t.query({
  ...pageQuery("Memories"),
  sector: field.SectorName,
  user_id: field.UserId,
  project: field.QueryProject,
  tag: field.Tag,
  tags: Type.Array(field.Tag, {
    maxItems: 64,
    description: "With all of them: `tags=garden&tags=bees`.",
  }),
  order: t.oneOf(["added", "happened"], "The last added first, or what happened last (`occurred_at`)."),
  session_id: field.SessionId,
  ...field.writerInQuery,
  id_end: t.text("The last characters of the id, at least six.", { pattern: "^[0-9a-f-]{6,36}$" }),
  created_from: field.queryTime("Added at that moment or later. "),
  created_to: field.queryTime("Added before that moment. "),
  from: field.QueryTime,
  to: field.QueryTime,
});

const { l: _l, u: _u, cursor: _cursor, order: _order, ...listConditions } = ListMemoriesQuery.properties;

export const SupersededQuery = t.query({
  ...pageQuery("Pairs"),
  user_id: field.UserId,
  project: field.QueryProject,
  how: t.oneOf(["told", "inferred"], "Only what somebody said, or only guesses."),
});
export const SupersededReply = pageReply(
  t.named("SupersededPair", { older: MemoryRecord, newer: MemoryRecord }),
  "SupersededPage",
  "The last added earlier ones first. A guess is confirmed with `supersedes` of the newer one, and rejected with `still_holds` of the older one.",
);

export const ComingQuery = t.query({
  user_id: field.UserId,
  project: field.QueryProject,
  days: t.whole("Days from today on.", { minimum: 1, maximum: 366, default: 30 }),
  l: t.whole("Memories at most.", { minimum: 1, maximum: 100, default: 20 }),
  time_zone: field.TimeZone,
});
export const ComingReply = t.named("ComingMemories", {
  items: t.records("The soonest first.", {
    on: t.text("The first day from today on that it names: `2026-12-24`, or `2026-12` of a month."),
    memory: MemoryRecord,
  }),
});

/** A year of days. */
export const DEFAULT_COUNTS = 366;
export const CountMemoriesQuery = Type.Object({
  by: t.oneOf(
    ["day", "happened", "client", "project", "tag", "user"],
    "`day` of adding; the day it `happened`. A memory with several tags counts once for each.",
  ),
  time_zone: Type.Optional(field.TimeZone),
  l: Type.Optional(t.whole("Keys at most.", { minimum: 1, maximum: 10_000, default: DEFAULT_COUNTS })),
  ...listConditions,
});
export const CountMemoriesReply = t.named("MemoryCounts", {
  items: t.records("Days in their order, the last ones; other keys with the most first.", {
    key: t.nullable(t.text("`2026-11-22` of a day; null: memories without one.")),
    count: Type.Integer({ minimum: 1 }),
    first_at: t.time("When the first was added."),
    last_at: field.Time,
  }),
  total: t.count("How many keys there are."),
});

export const ListMemoriesReply = pageReply(
  MemoryRecord,
  "MemoryPage",
  "Newest first. A page ends early at 8 MiB.",
  "Goes on where this page ends, whatever was added since; null on the last.",
);
