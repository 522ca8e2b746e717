/** Earlier versions of memories, the trash, and taking changes back. */
import { Type } from "typebox";
import { BodyTime, ClientName, nullable, optional, Time, UserId } from "./fields.ts";
import { MemoryRecord } from "./memory.ts";
import { pageQuery, pageReply } from "./page.ts";

const Count = Type.Integer({ minimum: 0 });
const ChangedBy = nullable(Type.String({ description: "The client; null where it is not known." }));

export const MemoryHistoryQuery = Type.Object({
  ...pageQuery("Versions"),
  user_id: Type.Optional(UserId),
});
const MemoryVersion = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    content: Type.String(),
    tags: Type.Array(Type.String()),
    metadata: MemoryRecord.properties.metadata,
    project: nullable(Type.String()),
    occurred_at: Time,
    changed_at: Time,
    changed_by: ChangedBy,
    change: Type.Enum(["created", "updated", "restored"], {
      type: "string",
      description: "How it became the present version.",
    }),
  },
  { $id: "MemoryVersion" },
);
export const MemoryHistoryReply = pageReply(
  MemoryVersion,
  "MemoryHistory",
  "Newest first; the first is the present one.",
);

export const RestoreVersionBody = Type.Object(
  { version: Type.Integer({ minimum: 1 }), user_id: optional(UserId) },
  { $id: "RestoreVersion" },
);

export const ErasedReply = Type.Object(
  { ok: Type.Literal(true), deleted: Count },
  { $id: "Erased", description: "How many went for good: versions, or memories of the trash." },
);

export const TrashQuery = Type.Object({ ...pageQuery("Entries"), user_id: Type.Optional(UserId) });
const TrashedMemory = Type.Object(
  {
    ...MemoryRecord.properties,
    deleted_at: Time,
    deleted_by: ChangedBy,
    purge_after: Type.String({
      format: "date-time",
      description: "When it goes for good; later where the clock jumps.",
    }),
    memories: Type.Integer({ minimum: 1, description: "How many come back with it: of a document all." }),
  },
  { $id: "TrashedMemory" },
);
export const TrashReply = pageReply(
  TrashedMemory,
  "Trash",
  "Last deleted first; a document is one entry, with its first memory.",
);

const CHANGE_KINDS = ["added", "updated", "deleted", "restored"] as const;
const ChangeKind = Type.Enum(CHANGE_KINDS, { type: "string" });

export const UndoFields = Type.Object(
  {
    client: optional({
      ...ClientName,
      description:
        "Whose changes. Without the scope `admin` those made under the key's name alone, not under another in `x-memoryd-client`; left out, these. With it, left out, everybody's.",
    }),
    since: optional({
      ...BodyTime,
      description: "Changes at that moment or later; two hours ago if left out.",
    }),
    user_id: optional(UserId),
    kinds: optional(
      Type.Array(ChangeKind, {
        minItems: 1,
        description:
          "Only these; `added` alone removes the memories that were added, and leaves the rest. All if left out.",
      }),
    ),
    dry_run: optional(Type.Boolean({ description: "Only says what it would do." })),
  },
  { $id: "Undo" },
);
export const UndoBody = nullable(UndoFields);
export const UndoReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        kind: Type.Enum(CHANGE_KINDS, {
          type: "string",
          description: "What was done to it, and is taken back.",
        }),
        id: Type.String(),
        text: Type.String({ description: "The beginning of its text before." }),
        done: Type.Boolean({ description: "Whether it was taken back; with `dry_run`, would be." }),
        reason: Type.Optional(Type.String({ description: "Why it was left as it is." })),
      }),
      { description: "A document is one item, with its first memory." },
    ),
  },
  { $id: "Undone" },
);
