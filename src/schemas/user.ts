/** Users on the wire: who has something stored, and the removal of all of it. */
import { Type } from "typebox";
import { BackupCopiesRecord, RenewsBackups } from "./backups.ts";
import { FactRecord } from "./fact.ts";
import { nullable, optional, Time, UserId } from "./fields.ts";
import { pageQuery, pageReply } from "./page.ts";

/** A cursor holds the last user id: 256 characters of up to 4 bytes, in base64, and a count. */
const MAX_CURSOR_LENGTH = 1_400;

export const UserParams = Type.Object({ user_id: UserId });

export const ListUsersQuery = Type.Object(pageQuery("Users", MAX_CURSOR_LENGTH));

const Count = Type.Integer({ minimum: 0 });
const MemoryTime = nullable(
  Type.String({ ...Time, description: "When it happened; null without a memory." }),
);

export const ListUsersReply = pageReply(
  Type.Object({
    user_id: Type.String(),
    memory_count: Count,
    fact_count: Type.Integer({ minimum: 0, description: "Past and future facts too." }),
    document_count: Count,
    first_memory_at: MemoryTime,
    last_memory_at: MemoryTime,
  }),
  "UserPage",
  "In the order of their ids.",
  "Goes on where this page ends, whoever came or went since; null on the last.",
);

export const UserSummaryReply = Type.Object(
  {
    user_id: Type.String(),
    summary: Type.String({ description: "The highlights and what is true now, as one text." }),
    method: Type.Enum(["extractive", "language-model"], {
      type: "string",
      description:
        "`extractive`: chosen sentences; `language-model`: written by the model that the operator set up.",
    }),
    highlights: Type.Array(Type.Object({ memory_id: Type.String(), text: Type.String() }), {
      description: "Sentences of the user's memories that stand for the rest, in the order of time.",
    }),
    key_phrases: Type.Array(Type.String(), { description: "The most telling first." }),
    facts: Type.Array(FactRecord, { description: "Valid now; at most 20." }),
    memory_count: Count,
    fact_count: Type.Integer({ minimum: 0, description: "Past and future facts too." }),
    sectors: Type.Unsafe<Readonly<Record<string, number>>>({
      type: "object",
      additionalProperties: Count,
      description: "Memories by primary sector.",
    }),
    top_tags: Type.Array(Type.Object({ tag: Type.String(), count: Count })),
    first_memory_at: MemoryTime,
    last_memory_at: MemoryTime,
    updated_at: Time,
    stale: Type.Boolean({
      description: "Memories or facts changed since the sentences were chosen; all else is as of now.",
    }),
  },
  { $id: "UserSummary" },
);

const Keep = Type.Enum(["documents"], {
  type: "string",
  description: "`documents`: what was ingested stays, with its memories and originals.",
});
const Include = Type.Enum(["facts"], { type: "string", description: "`facts`: the facts go too." });

export const DeleteUserMemoriesQuery = Type.Object({
  keep: Type.Optional(Keep),
  include: Type.Optional(Include),
  backups: Type.Optional(RenewsBackups),
  user_id: Type.Optional(UserId),
});

export const DeleteUserMemoriesBody = Type.Unsafe<{
  keep?: "documents" | null;
  include?: "facts" | null;
  user_id?: string | null;
} | null>({
  ...nullable(Type.Object({ keep: optional(Keep), include: optional(Include), user_id: optional(UserId) })),
  $id: "DeleteUserMemories",
});

export const DeleteUserMemoriesReply = Type.Object(
  {
    ok: Type.Literal(true),
    deleted: Type.Integer({ minimum: 0, description: "How many memories went." }),
    deleted_documents: Count,
    deleted_facts: Count,
    backups: Type.Optional(BackupCopiesRecord),
  },
  { $id: "DeletedUserMemories" },
);
