import { join } from "node:path";
import type { ApiKey, KeyFile } from "../../core/access/key-ring.ts";
import { storeUnusable } from "../../core/errors.ts";
import { diskFull, isFull, writeRefused } from "../journal/journal.ts";
import {
  decodeChecksummed,
  encodeChecksummed,
  arrayOf,
  isSha256,
  isText,
  isTime,
  matches,
  objectOf,
  orNull,
} from "./shapes.ts";
import { type Disk, replaceFile } from "./disk.ts";

/** In the data directory. Where it stands, a key is needed. */
export const KEY_FILE_NAME = "KEYS";

const FORMAT = 1;

/** True for a list of keys, as they are stored. */
export const isKeys = arrayOf(
  objectOf({
    id: isText,
    name: isText,
    prefix: isText,
    sha256: isSha256,
    scope: matches(/^(read|write|admin)$/),
    userId: orNull(isText),
    createdAt: isTime,
    expiresAt: orNull(isTime),
    revokedAt: orNull(isTime),
    lastUsedAt: orNull(isTime),
  }),
);

/** The keys in a data directory, in one small checksummed file. */
export function openKeyFile(disk: Disk, directory: string): KeyFile {
  const path = join(directory, KEY_FILE_NAME);
  return {
    write: (keys) =>
      replaceFile(disk, path, encodeChecksummed("keys", FORMAT, keys)).catch((error: unknown) => {
        throw isFull(error) ? diskFull(error) : writeRefused(error);
      }),
    async remove() {
      await disk.remove(path);
      await disk.syncDirectory(directory);
    },
  };
}

/**
 * The stored keys; undefined if no key was ever made, or after `memoryd auth off`.
 *
 * @throws {ServiceError} STORE_UNUSABLE for a damaged file or a newer format: whom it shut out is not let in.
 */
export async function readKeyFile(disk: Disk, directory: string): Promise<readonly ApiKey[] | undefined> {
  const path = join(directory, KEY_FILE_NAME);
  if ((await disk.size(path)) === undefined) return undefined;
  const keys = decode(await disk.readFile(path));
  if (keys === undefined)
    throw storeUnusable(
      `The file ${path}, which holds the keys, is damaged, so nobody can be let in. Restore it from a backup, or run ` +
        "`memoryd auth off`, which removes all keys, and make new ones with `memoryd keys create`.",
    );
  return keys;
}

/** Undefined for a damaged file. */
function decode(bytes: Buffer): readonly ApiKey[] | undefined {
  const decoded = decodeChecksummed("keys", bytes);
  if (decoded === undefined || decoded.format === 0) return undefined;
  if (decoded.format > FORMAT)
    throw storeUnusable(
      `The file ${KEY_FILE_NAME} has format ${decoded.format} and this memoryd knows up to ${FORMAT}: it was written by a ` +
        "newer version. Install that version.",
    );
  return decoded.value(isKeys) as ApiKey[] | undefined;
}
