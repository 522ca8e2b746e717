import { Type } from "typebox";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";

const TABLES = ["memory", "fact", "document", "job"] as const;
const WAYS = ["added", "updated", "deleted", "restored"] as const;
/** Same as in `core/feed.ts`. */
type Kind = `${(typeof TABLES)[number]}.${(typeof WAYS)[number]}` | "user.erased";
const KINDS = [...TABLES.flatMap((table) => WAYS.map((how) => `${table}.${how}` as const)), "user.erased"];

const Position = t.text("Opaque; another one for each change, also after a restart.");
const since = (start: string) =>
  Type.Optional(
    t.text(`Changes after this position; \`0\` is the beginning. ${start}`, {
      minLength: 1,
      maxLength: 64,
      examples: ["0"],
    }),
  );
const user_id = Type.Optional(field.UserId);

export const ListChangesQuery = Type.Object({
  since: since("The default."),
  l: Type.Optional(
    t.whole("Changes on a page, at most; `limit` is the same.", { minimum: 1, maximum: 1_000, default: 100 }),
  ),
  user_id,
});

export const FollowChangesQuery = Type.Object({
  since: since("Left out: only what comes from now on. `Last-Event-ID` takes its place."),
  user_id,
});

export const FollowChangesHeaders = Type.Object({
  "last-event-id": Type.Optional(
    t.text("The last position that was received: goes on behind it.", { maxLength: 64 }),
  ),
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
    "Changes after `since` are missing: they are older than what is kept, or the store was restored. Read what you need " +
      "anew and go on from `next`.",
  ),
});
