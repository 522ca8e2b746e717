import { Type } from "typebox";
import { BodyTime, KeyName, nullable, optional, Time, UserId } from "./fields.ts";

const Scope = Type.Enum(["read", "write", "admin"], {
  type: "string",
  description: "`read` asks, `write` changes too, `admin` everything. Each holds those before it.",
});

export const KeyParams = Type.Object({ id: Type.String({ description: "The key's id." }) });

export const CreateKeyBody = Type.Object({
  name: KeyName,
  scope: optional(Type.Enum(["read", "write", "admin"], { ...Scope, description: "Default `write`." })),
  user_id: optional(
    Type.String({
      ...UserId,
      description: "Binds the key to this user; cannot stand with the scope `admin`.",
    }),
  ),
  expires_at: optional(BodyTime),
});

export const KeyRecord = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    prefix: Type.String({ description: "How the key begins, to recognise it by." }),
    scope: Scope,
    user_id: nullable(Type.String({ description: "The one user whose data it reaches; null: everybody's." })),
    state: Type.Enum(["active", "expired", "revoked"], { type: "string" }),
    created_at: Time,
    expires_at: nullable(Time),
    revoked_at: nullable(Time),
    last_used_at: nullable(Type.String({ ...Time, description: "To the hour." })),
  },
  { $id: "Key" },
);

export const CreateKeyReply = Type.Object({
  ...KeyRecord.properties,
  key: Type.String({ description: "The key itself. It is shown this once and not kept." }),
  first: Type.Boolean({ description: "Whether nobody needed a key before." }),
});

export const ListKeysReply = Type.Object({
  keys: Type.Array(KeyRecord, { description: "Oldest first." }),
  key_needed: Type.Boolean({ description: "Whether requests need a key." }),
});

export const RemoveKeysReply = Type.Object({
  ok: Type.Literal(true),
  deleted: Type.Integer({ minimum: 0 }),
  key_needed: Type.Boolean({ description: "True where MEMORYD_API_KEY asks for one still." }),
});
