import { Type } from "typebox";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";

const Scope = t.oneOf(
  ["read", "write", "admin"],
  "`read` asks, `write` changes too, `admin` everything. Each holds those before it.",
);

export const KeyParams = Type.Object({ id: t.text("The key's id.") });

export const CreateKeyBody = Type.Object({
  name: field.KeyName,
  scope: t.optional(Type.Enum(["read", "write", "admin"], { ...Scope, description: "Default `write`." })),
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
