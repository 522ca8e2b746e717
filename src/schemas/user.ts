/** Users on the wire: who has something stored, and the removal of all of it. */

import { BackupCopiesRecord, RenewsBackups } from "./backups.ts";
import { FactRecord } from "./fact.ts";
import * as field from "./fields.ts";
import { pageQuery, pageReply } from "./page.ts";
import * as t from "./shapes.ts";
import { Type } from "./typebox.ts";

/** A cursor holds the last user id: 256 characters of up to 4 bytes, in base64, and a count. */
const MAX_CURSOR_LENGTH = 1_400;

export const UserParams = Type.Object({ user_id: field.UserId });

export const ListUsersQuery = Type.Object(pageQuery("Users", MAX_CURSOR_LENGTH));

const MemoryTime = t.nullable(t.time("When it happened; null without a memory."));

export const ListUsersReply = pageReply(
  Type.Object({
    user_id: t.text(),
    memory_count: t.count(),
    fact_count: t.count("Past and future facts too."),
    document_count: t.count(),
    first_memory_at: MemoryTime,
    last_memory_at: MemoryTime,
  }),
  "UserPage",
  "In the order of their ids.",
  "Goes on where this page ends, whoever came or went since; null on the last.",
);

export const UserSummaryReply = t.named("UserSummary", {
  user_id: t.text(),
  summary: t.text("The highlights and what is true now, as one text."),
  highlights: t.records("What lasts and what is open, in words of the memories, in the order of time.", {
    memory_id: t.text(),
    text: t.text(),
  }),
  key_phrases: t.list(t.text(), "The most telling first."),
  facts: t.list(FactRecord, "Valid now; at most 20."),
  memory_count: t.count(),
  fact_count: t.count("Past and future facts too."),
  sectors: t.byName(t.count(), "Memories by primary sector."),
  top_tags: t.records({ tag: t.text(), count: t.count() }),
  first_memory_at: MemoryTime,
  last_memory_at: MemoryTime,
  updated_at: field.Time,
  stale: t.flag("Always false: a summary is made when it is asked for."),
});

const deleted = {
  keep: t.oneOf(["documents"], "`documents`: what was ingested stays, with its memories and originals."),
  include: t.oneOf(["facts"], "`facts`: the facts go too."),
};
const { UserId: user_id } = field;
export const DeleteUserMemoriesQuery = t.query({ ...deleted, backups: RenewsBackups, user_id });
export const DeleteUserMemoriesBody = t.optionalBody("DeleteUserMemories", { ...deleted, user_id });

export const DeleteUserMemoriesReply = t.named("DeletedUserMemories", {
  ok: Type.Literal(true),
  deleted: t.count("How many memories went."),
  deleted_documents: t.count(),
  deleted_facts: t.count(),
  backups: Type.Optional(BackupCopiesRecord),
});

const SCOPES = ["read", "write", "admin"] as const;
const Scope = t.oneOf(
  SCOPES,
  "`read` asks, `write` changes too, `admin` everything. Each holds those before it.",
);

export const KeyParams = Type.Object({ id: t.text("The key's id.") });

export const CreateKeyBody = Type.Object({
  name: field.KeyName,
  scope: t.optional(t.oneOf(SCOPES, "Default `write`.")),
  user_id: t.optional(
    t.text("Binds the key to this user; cannot stand with the scope `admin`.", field.UserId),
  ),
  expires_at: t.optional(field.BodyTime),
});

export const KeyRecord = t.named("Key", {
  id: t.text(),
  name: t.text(),
  prefix: t.text("How the key begins, to recognise it by."),
  scope: Scope,
  user_id: t.nullable(t.text("The one user whose data it reaches; null: everybody's.")),
  state: t.oneOf(["active", "expired", "revoked"]),
  created_at: field.Time,
  expires_at: t.nullable(field.Time),
  revoked_at: t.nullable(field.Time),
  last_used_at: t.nullable(t.time("To the hour.")),
});

export const CreateKeyReply = Type.Object({
  ...KeyRecord.properties,
  key: t.text("The key itself. It is shown this once and not kept."),
  first: t.flag("Whether nobody needed a key before."),
});

export const ListKeysReply = Type.Object({
  keys: t.list(KeyRecord, "Oldest first."),
  key_needed: t.flag("Whether requests need a key."),
});

export const RemoveKeysReply = Type.Object({
  ok: Type.Literal(true),
  deleted: t.count(),
  key_needed: t.flag("True where MEMORYD_API_KEY asks for one still."),
});
