import { Type } from "typebox";
import { nullable, Time, UserId } from "./fields.ts";

const TABLES = ["memory", "fact", "document", "job"] as const;
const WAYS = ["added", "updated", "deleted", "restored"] as const;
/** Same as in `core/feed.ts`. */
type Kind = `${(typeof TABLES)[number]}.${(typeof WAYS)[number]}` | "user.erased";
const KINDS = [...TABLES.flatMap((table) => WAYS.map((how) => `${table}.${how}` as const)), "user.erased"];

const Position = Type.String({ description: "Opaque; another one for each change, also after a restart." });
const since = (start: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `Changes after this position; \`0\` is the beginning. ${start}`,
      examples: ["0"],
    }),
  );
const user_id = Type.Optional(UserId);

export const ListChangesQuery = Type.Object({
  since: since("The default."),
  l: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 100,
      description: "Changes on a page, at most; `limit` is the same.",
    }),
  ),
  user_id,
});

export const FollowChangesQuery = Type.Object({
  since: since("Left out: only what comes from now on. `Last-Event-ID` takes its place."),
  user_id,
});

export const FollowChangesHeaders = Type.Object({
  "last-event-id": Type.Optional(
    Type.String({ maxLength: 64, description: "The last position that was received: goes on behind it." }),
  ),
});

export const ChangeRecord = Type.Object(
  {
    position: Position,
    kind: Type.Unsafe<Kind>({ type: "string", enum: KINDS, examples: ["memory.added"] }),
    id: Type.String({ description: "Of the memory, fact, document or job; for `user.erased` the user's." }),
    user_id: nullable(Type.String()),
    at: Time,
  },
  { $id: "Change" },
);

export const ListChangesReply = Type.Object(
  {
    items: Type.Array(ChangeRecord, { description: "Oldest first." }),
    next: Type.String({ description: "`since` of the next page." }),
    reset: Type.Boolean({
      description:
        "Changes after `since` are missing: they are older than what is kept, or the store was restored. Read what you need " +
        "anew and go on from `next`.",
    }),
  },
  { $id: "Changes" },
);
