import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import type { Static } from "typebox";
import { type ApiKey, type KeyFile, KeyRing, type NewKey } from "../core/access/key-ring.ts";
import type { Clock } from "../core/ports.ts";
import { createKeyInput, keyOf } from "../http/records.ts";
import { validator } from "../http/validation.ts";
import { CreateKeyBody, CreateKeyReply, KeyRecord, ListKeysReply } from "../schemas/user.ts";
import { toWire } from "../schemas/wire.ts";
import { refuseForeignDirectory } from "../storage/files/data-directory.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import { openKeyFile, readKeyFile } from "../storage/files/key-file.ts";
import { lockDataDirectory } from "../storage/files/lock.ts";
import { sha256, systemClock, uuidSource } from "./system.ts";

/** In bytes: twice as many hex digits. */
const PREFIX_BYTES = 4;
const SECRET_BYTES = 32;

/** A ring of keys that `file` keeps, which has `kept` now. */
export const keyRingOf = (
  file: KeyFile,
  kept: readonly ApiKey[] | undefined,
  clock: Clock = systemClock,
): KeyRing => new KeyRing({ file, clock, ids: uuidSource, sha256, newKey }, kept);

/** The keys of a data directory, whose lock the caller holds. @throws {ServiceError} STORE_UNUSABLE. */
export async function openKeyRing(dataDir: string): Promise<KeyRing> {
  const kept = await readKeyFile(nodeDisk, dataDir);
  return keyRingOf(openKeyFile(nodeDisk, dataDir), kept);
}

/** Operations on the keys of a data directory, with or without a running daemon, in the types of the API. */
export type KeyAdministration = ReturnType<typeof offlineKeys>;

/**
 * Works on the keys of a data directory that no daemon runs on; makes the directory where there is none.
 *
 * Each call throws STORE_UNUSABLE when the directory is in use or holds other things, or its keys are damaged; the last
 * does not keep `removeAll` from removing them.
 */
export function offlineKeys(dataDir: string) {
  const withRing = <T>(work: (ring: KeyRing) => T | Promise<T>) =>
    locked(dataDir, async () => work(await openKeyRing(dataDir)));
  return {
    list: () =>
      withRing((ring) =>
        toWire(ListKeysReply, { keys: ring.keys.map((key) => keyOf(ring, key)), keyNeeded: ring.isLocked }),
      ),
    create: (body: Static<typeof CreateKeyBody>) =>
      withRing(async (ring) => {
        const checked = checkKey(body, "");
        if ("error" in checked) throw checked.error;
        const first = !ring.isLocked;
        const { kept, key } = await ring.create(createKeyInput(body));
        return toWire(CreateKeyReply, { ...keyOf(ring, kept), key, first });
      }),
    revoke: (id: string) => withRing(async (ring) => toWire(KeyRecord, keyOf(ring, await ring.revoke(id)))),
    removeAll: () =>
      locked(dataDir, async () => {
        const deleted = await openKeyRing(dataDir).then(
          ({ keys }) => keys.length,
          () => 0,
        );
        await openKeyFile(nodeDisk, dataDir).remove();
        return { ok: true as const, deleted, key_needed: false as boolean };
      }),
  };
}

const checkKey = validator(CreateKeyBody, "The key");

async function locked<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  await openDataDirectory(dataDir);
  const lock = await lockDataDirectory(dataDir);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Makes the directory where there is none, for its owner alone. @throws {ServiceError} STORE_UNUSABLE. */
export async function openDataDirectory(dataDir: string): Promise<void> {
  await nodeDisk.makeDirectory(dataDir);
  await refuseForeignDirectory(nodeDisk, dataDir);
  if (process.platform !== "win32") await chmod(dataDir, 0o700);
}

function newKey(): NewKey {
  const prefix = `mk_${randomBytes(PREFIX_BYTES).toString("hex")}`;
  return { key: `${prefix}_${randomBytes(SECRET_BYTES).toString("base64url")}`, prefix };
}
