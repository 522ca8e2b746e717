/** What a key allows: `write` all that changes one user's data, `admin` everything. Each holds those before it. */
export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** A key as it is kept; the key itself is known to its holder alone. Times are epoch milliseconds UTC. */
export interface ApiKey {
  /** UUIDv7. */
  readonly id: string;
  /** What its owner calls it; it stands for the writer of what comes with the key. */
  readonly name: string;
  /** Its first characters, to recognise it by. */
  readonly prefix: string;
  /** Of the whole key, hex. */
  readonly sha256: string;
  readonly scope: Scope;
  /** The one user whose data it reaches; null: everybody's. */
  readonly userId: string | null;
  readonly createdAt: number;
  /** From then on it is refused; null: never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** To the hour, see `KeyRing.used`. */
  readonly lastUsedAt: number | null;
}

export type KeyState = "active" | "expired" | "revoked";

/** Goes by the machine's clock: one set back makes an expired key good again for as long. */
export function stateOf({ expiresAt, revokedAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}
