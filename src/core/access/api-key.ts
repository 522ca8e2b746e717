/** The rights of a key: `write` changes one user's data, `admin` allows everything. Each includes those before it. */
export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** The stored form of a key, without the key itself. Times are epoch milliseconds UTC. */
export interface ApiKey {
  /** UUIDv7. */
  readonly id: string;
  /** Given by its owner; records written with the key name it as their writer. */
  readonly name: string;
  /** Its first characters, to recognise it by. */
  readonly prefix: string;
  /** SHA-256 of the whole key, hex. */
  readonly sha256: string;
  readonly scope: Scope;
  /** The user it is bound to; null: all users. */
  readonly userId: string | null;
  readonly createdAt: number;
  /** It is refused from then on; null: never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** To the hour, see `KeyRing.used`. */
  readonly lastUsedAt: number | null;
}

export type KeyState = "active" | "expired" | "revoked";

/** By the machine's clock: setting it back makes an expired key valid again. */
export function stateOf({ expiresAt, revokedAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}
