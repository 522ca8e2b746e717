/** Earlier versions of memories, the trash, and taking changes back. */
import { Type } from "typebox";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { MemoryRecord } from "./memory.ts";
import { pageQuery, pageReply } from "./page.ts";

const ChangedBy = t.nullable(t.text("The client; null where it is not known."));

export const MemoryHistoryQuery = Type.Object({
  ...pageQuery("Versions"),
  user_id: Type.Optional(field.UserId),
});
const MemoryVersion = t.named("MemoryVersion", {
  version: Type.Integer({ minimum: 1 }),
  content: t.text(),
  tags: Type.Array(t.text()),
  metadata: MemoryRecord.properties.metadata,
  project: t.nullable(t.text()),
  occurred_at: field.Time,
  changed_at: field.Time,
  changed_by: ChangedBy,
  change: t.oneOf(["created", "updated", "restored"], "How it became the present version."),
});
export const MemoryHistoryReply = pageReply(
  MemoryVersion,
  "MemoryHistory",
  "Newest first; the first is the present one.",
);

export const RestoreVersionBody = t.named("RestoreVersion", {
  version: Type.Integer({ minimum: 1 }),
  user_id: t.optional(field.UserId),
});

export const ErasedReply = t.named("Erased", "How many went for good: versions, or memories of the trash.", {
  ok: Type.Literal(true),
  deleted: t.count(),
});

export const TrashQuery = Type.Object({ ...pageQuery("Entries"), user_id: Type.Optional(field.UserId) });
const TrashedMemory = t.named("TrashedMemory", {
  ...MemoryRecord.properties,
  deleted_at: field.Time,
  deleted_by: ChangedBy,
  purge_after: t.time("When it goes for good; later where the clock jumps."),
  memories: t.whole("How many come back with it: of a document all.", { minimum: 1 }),
});
export const TrashReply = pageReply(
  TrashedMemory,
  "Trash",
  "Last deleted first; a document is one entry, with its first memory.",
);

const CHANGE_KINDS = ["added", "updated", "deleted", "restored"] as const;
const ChangeKind = t.oneOf(CHANGE_KINDS);

export const UndoFields = t.closed("Undo", {
  client: t.optional({
    ...field.ClientName,
    description:
      "Whose changes. Without the scope `admin` those made under the key's name alone, not under another in `x-memoryd-client`; left out, these. With it, left out, everybody's.",
  }),
  since: t.optional({
    ...field.BodyTime,
    description: "Changes at that moment or later; two hours ago if left out.",
  }),
  user_id: t.optional(field.UserId),
  kinds: t.optional(
    Type.Array(ChangeKind, {
      minItems: 1,
      description:
        "Only these; `added` alone removes the memories that were added, and leaves the rest. All if left out.",
    }),
  ),
  dry_run: t.optional(t.flag("Only says what it would do.")),
});
export const UndoBody = t.nullable(UndoFields);
export const UndoReply = t.named("Undone", {
  items: t.records("A document is one item, with its first memory.", {
    kind: t.oneOf(CHANGE_KINDS, "What was done to it, and is taken back."),
    id: t.text(),
    text: t.text("The beginning of its text before."),
    done: t.flag("Whether it was taken back; with `dry_run`, would be."),
    reason: Type.Optional(t.text("Why it was left as it is.")),
  }),
});
