import { conflict, notFound, wrongField } from "../errors.ts";
import type { Given } from "../memory.ts";
import type { Clock, IdSource } from "../ports.ts";
import { inTurns } from "../at-once.ts";

/** Storage of keys. */
export interface KeyFile {
  /** Replaces all keys atomically; durable when it resolves. */
  write(keys: readonly ApiKey[]): Promise<void>;
  /** Removes the file; durable when it resolves. */
  remove(): Promise<void>;
}

interface KeyRingPorts {
  readonly file: KeyFile;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Hex. */
  readonly sha256: (text: string) => string;
  /** A new key, random enough that it cannot be guessed. */
  readonly newKey: () => NewKey;
}

/** A key, and its first characters, independent of the rest. */
export type NewKey = { readonly key: string; readonly prefix: string };

export type CreateKeyInput = Pick<ApiKey, "name" | "scope"> & Given<Pick<ApiKey, "userId" | "expiresAt">>;

/** Includes revoked and expired keys: a request compares its key with each. */
export const MAX_KEYS = 1_000;
const CANNOT = "The key cannot be made";
const HOUR_MS = 60 * 60 * 1_000;

/**
 * The keys of a store. The first key locks the store, which stays locked when all keys are revoked or expired: only
 * `unlock` opens it. A change takes effect when it is on the disk.
 */
export class KeyRing {
  readonly #ports: KeyRingPorts;
  /** Undefined: not locked. */
  #keys: readonly ApiKey[] | undefined;
  /** Uses since the last write, by id. */
  readonly #uses = new Map<string, number>();
  /** Each change sees the result of the one before. */
  readonly #change = inTurns();

  /** @param kept the content of the `KeyFile`; undefined without one. */
  constructor(ports: KeyRingPorts, kept: readonly ApiKey[] | undefined) {
    this.#ports = ports;
    this.#keys = kept;
  }

  /** Whether a key is needed. */
  get isLocked(): boolean {
    return this.#keys !== undefined;
  }

  /** All keys, oldest first, whatever their state. */
  get keys(): readonly ApiKey[] {
    return this.#keys ?? [];
  }

  /** By the machine's clock: setting it back makes an expired key valid again. */
  stateOf({ expiresAt, revokedAt }: ApiKey): "active" | "expired" | "revoked" {
    if (revokedAt !== null) return "revoked";
    return expiresAt !== null && expiresAt <= this.#ports.clock.now() ? "expired" : "active";
  }

  /** When it was last used, to the hour. */
  lastUse({ id, lastUsedAt }: ApiKey): number | null {
    return this.#uses.get(id) ?? lastUsedAt;
  }

  /** Makes a key, which is answered once and not kept; the first one locks the store. @throws {ServiceError} INVALID_REQUEST; CONFLICT (name, 1 000 keys). */
  create({ name, scope, userId, expiresAt }: CreateKeyInput) {
    return this.#change(async () => {
      const now = this.#ports.clock.now();
      if (scope === "admin" && userId !== undefined)
        throw wrongField(CANNOT, "/user_id", "cannot stand with the scope admin, which is about all users");
      if (expiresAt !== undefined && expiresAt <= now)
        throw wrongField(CANNOT, "/expires_at", "must lie in the future");
      if (this.keys.some((key) => key.name === name && this.stateOf(key) === "active"))
        throw conflict("There is a key of this name. Revoke that one, or choose another name.");
      const { key, prefix } = this.#ports.newKey();
      const kept: ApiKey = {
        id: this.#ports.ids.newId(now),
        name,
        prefix,
        sha256: this.#ports.sha256(key),
        scope,
        userId: userId ?? null,
        createdAt: now,
        expiresAt: expiresAt ?? null,
        revokedAt: null,
        lastUsedAt: null,
      };
      await this.#write([...this.#withRoomForOne(), kept]);
      return { kept, key };
    });
  }

  /** Revokes a key: it is refused once this resolves. @throws {ServiceError} NOT_FOUND. */
  revoke(id: string): Promise<ApiKey> {
    return this.#change(async () => {
      const key = this.keys.find((each) => each.id === id);
      if (key === undefined) throw notFound("There is no key with this id.");
      if (key.revokedAt !== null) return key;
      const revoked = { ...key, revokedAt: this.#ports.clock.now() };
      await this.#write(this.keys.map((each) => (each === key ? revoked : each)));
      return this.keys.find((each) => each.id === id) ?? revoked;
    });
  }

  /** Removes all keys, and with them the lock. Returns the number of keys. */
  unlock(): Promise<number> {
    return this.#change(async () => {
      const { length } = this.keys;
      await this.#ports.file.remove();
      this.#keys = undefined;
      this.#uses.clear();
      return length;
    });
  }

  /** Takes over what other processes wrote. @param read answers the content of the `KeyFile` now. */
  refresh(read: () => Promise<readonly ApiKey[] | undefined>): Promise<void> {
    return this.#change(async () => {
      this.#keys = await read();
    });
  }

  /** Notes a request with the key, without a write: call `saveUses` now and then. */
  used({ id, lastUsedAt }: ApiKey): void {
    const hour = Math.floor(this.#ports.clock.now() / HOUR_MS) * HOUR_MS;
    if (hour !== lastUsedAt) this.#uses.set(id, hour);
  }

  /** Writes when keys were last used, if that has changed by an hour or more. */
  saveUses(): Promise<void> {
    if (this.#uses.size === 0) return Promise.resolve();
    return this.#change(async () => {
      if (this.keys.length > 0) await this.#write(this.keys);
    });
  }

  async #write(keys: readonly ApiKey[]): Promise<void> {
    const written = new Map(this.#uses);
    const all = keys.map((key) => ({ ...key, lastUsedAt: written.get(key.id) ?? key.lastUsedAt }));
    await this.#ports.file.write(all);
    this.#keys = all;
    for (const [id, hour] of written) if (this.#uses.get(id) === hour) this.#uses.delete(id);
  }

  #withRoomForOne(): readonly ApiKey[] {
    if (this.keys.length < MAX_KEYS) return this.keys;
    const oldest = this.keys.find((key) => this.stateOf(key) !== "active");
    if (oldest === undefined)
      throw conflict(`There are ${MAX_KEYS} keys, the most there can be. Revoke some.`);
    return this.keys.filter((key) => key !== oldest);
  }
}

/** The rights of a key: `write` changes one user's data, `admin` allows everything. Each includes those before it. */
const SCOPES = ["read", "write", "admin"] as const;
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
