/** Earlier versions of memories, the trash, and taking changes back. */

import * as field from "./fields.ts";
import { MemoryRecord, UpdateMemoryBody } from "./memory.ts";
import { pageQuery, pageReply } from "./page.ts";
import * as t from "./shapes.ts";
import { Type } from "./typebox.ts";

const ChangedBy = t.nullable(t.text("The client; null where it is not known."));

export const MemoryHistoryQuery = t.query({ ...pageQuery("Versions"), user_id: field.UserId });
const { user_id: _owner, still_holds: _holds, supersedes: _others, ...changes } = UpdateMemoryBody.properties;
const changeable = Object.entries(MemoryRecord.properties).filter(([name]) => name in changes);
const MemoryVersion = t.named("MemoryVersion", {
  version: Type.Integer({ minimum: 1 }),
  ...(Object.fromEntries(changeable) as Pick<typeof MemoryRecord.properties, keyof typeof changes>),
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

export const TrashQuery = t.query({ ...pageQuery("Entries"), user_id: field.UserId });
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
  client: t.text(
    "Whose changes. Without the scope `admin` those made under the key's name alone, not under another in `x-memoryd-client`; left out, these. With it, left out, everybody's.",
    field.ClientName,
  ),
  since: {
    ...field.BodyTime,
    description: "Changes at that moment or later; two hours ago if left out.",
  },
  user_id: field.UserId,
  kinds: Type.Array(ChangeKind, {
    minItems: 1,
    description:
      "Only these; `added` alone removes the memories that were added, and leaves the rest. All if left out.",
  }),
  dry_run: t.flag("Only says what it would do."),
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

const TABLES = ["memory", "fact", "document", "job"] as const;
/** Same as in `core/feed.ts`. */
type Kind = `${(typeof TABLES)[number]}.${(typeof CHANGE_KINDS)[number]}` | "user.erased";
const KINDS = [
  ...TABLES.flatMap((table) => CHANGE_KINDS.map((how) => `${table}.${how}` as const)),
  "user.erased",
];

const Position = t.text("Opaque, the same for the same change; ends with the daemon's process.");
const since = (start: string) =>
  Type.Optional(
    t.text(`Changes after this position; \`0\` is the beginning. ${start}`, {
      minLength: 1,
      maxLength: 64,
      examples: ["0"],
    }),
  );
const user_id = field.UserId;

export const ListChangesQuery = t.query({
  since: since("The default."),
  l: t.whole("Changes on a page, at most; `limit` is the same.", {
    minimum: 1,
    maximum: 1_000,
    default: 100,
  }),
  user_id,
});

export const FollowChangesQuery = t.query({
  since: since("Left out: only what comes from now on. `Last-Event-ID` takes its place."),
  user_id,
});

export const FollowChangesHeaders = t.query({
  "last-event-id": t.text("The last position that was received: goes on behind it.", { maxLength: 64 }),
});

export const ChangeRecord = t.named("Change", {
  position: Position,
  kind: Type.Unsafe<Kind>({ type: "string", enum: KINDS, examples: ["memory.added"] }),
  id: t.text("Of the memory, fact, document or job; for `user.erased` the user's."),
  user_id: t.nullable(t.text()),
  at: field.Time,
});

export const ListChangesReply = t.named("Changes", {
  items: t.list(ChangeRecord, "Oldest first."),
  next: t.text("`since` of the next page."),
  reset: t.flag(
    "Changes after `since` are missing: they are older than what is kept, or than the daemon's start. Read what you need " +
      "anew and go on from `next`.",
  ),
});
