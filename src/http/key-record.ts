import type { Static } from "typebox";
import type { ApiKey } from "../core/access/api-key.ts";
import type { CreateKeyInput, KeyRing } from "../core/access/key-ring.ts";
import type { CreateKeyBody, KeyRecord } from "../schemas/keys.ts";
import { formatTime, parseTime } from "../schemas/time.ts";
import { present } from "./memory-input.ts";

export function createKeyInput(body: Static<typeof CreateKeyBody>): CreateKeyInput {
  const { name, scope, user_id: userId, expires_at: expiresAt } = body;
  return { name, scope: scope ?? "write", ...present({ userId, expiresAt: parseTime(expiresAt) }) };
}

/** A key as it goes over the wire: nothing of the key itself but how it begins. */
export function keyRecord(keys: KeyRing, key: ApiKey): Static<typeof KeyRecord> {
  const { id, name, prefix, scope, userId, createdAt, expiresAt, revokedAt } = key;
  return {
    id,
    name,
    prefix,
    scope,
    user_id: userId,
    state: keys.stateOf(key),
    created_at: formatTime(createdAt),
    expires_at: timeOrNull(expiresAt),
    revoked_at: timeOrNull(revokedAt),
    last_used_at: timeOrNull(keys.lastUse(key)),
  };
}

function timeOrNull(time: number | null): string | null {
  return time === null ? null : formatTime(time);
}
