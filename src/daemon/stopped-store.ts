import { dirname } from "node:path";
import { storeUnusable } from "../core/errors.ts";
import { deleteUserMemories } from "../core/users/delete-user-memories.ts";
import { listUsers } from "../core/users/list-users.ts";
import { MEMORYD_E5 } from "../models/bundled-models.ts";
import { holdsStore } from "../storage/files/data-directory.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import { isErasedLater, readErasures } from "../storage/checkpoints/erasures.ts";
import { restoreBackup } from "../storage/copies/restore-backup.ts";
import { DiskFileStore } from "../storage/files/disk-file-store.ts";
import { lockDataDirectory } from "../storage/files/lock.ts";
import type { StoreLog } from "../storage/store-indexes.ts";
import { type OpenedStore, openStore, type StoreOptions } from "../storage/open-store.ts";
import { erasedUser } from "./backup-service.ts";
import { type Logger, systemClock } from "./system.ts";

/** Discards what a store that is only opened on the way logs. */
export const QUIET: StoreLog = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Makes a data directory of a backup, see `restoreBackup`, without what was erased of users since it was made, down to the
 * bytes.
 * @param options.from the data directory that the backup is of, which knows all erasures; those that are noted beside the
 *   backup count too.
 */
export async function restore(
  backup: string,
  target: string,
  options: {
    readonly log: Logger;
    readonly from: string | undefined;
    readonly onProgress: (doneBytes: number, totalBytes: number) => void;
  },
): Promise<{ readonly memories: number; readonly createdAt: number; readonly erasedUsers: number }> {
  const { log, from, onProgress } = options;
  let erasedUsers = 0;
  let left: number | undefined;
  const { memories, createdAt } = await restoreBackup(nodeDisk, backup, target, {
    onProgress,
    async prepare(directory, manifest) {
      const noted = await Promise.all(
        [dirname(backup), ...(from === undefined ? [] : [from])].map((folder) =>
          readErasures(nodeDisk, folder),
        ),
      );
      const later = noted.flat().filter((erasure) => isErasedLater(erasure, manifest));
      if (later.length === 0) return;
      await withStoppedStore(directory, log, async ({ store, purge }, originals) => {
        const ports = { store, stopJob: async () => {}, noteErasure: async () => {} };
        const users = new Set(
          listUsers(ports, { limit: Infinity, offset: 0 }).items.map(({ userId }) => userId),
        );
        for (const { userId } of store.catalogue.versions.all()) if (userId !== null) users.add(userId);
        for (const userId of users) {
          const erasures = later.filter(({ user, storeId }) => user === erasedUser(storeId, userId));
          for (const { keepsDocuments, includesFacts } of erasures)
            await deleteUserMemories(ports, { userId, keepsDocuments, includesFacts });
          if (erasures.length > 0) erasedUsers += 1;
        }
        left = store.catalogue.size;
        if (erasedUsers > 0) await purge.run({ originals });
      });
    },
  });
  return { memories: left ?? memories, createdAt, erasedUsers };
}

/** @throws {ServiceError} STORE_UNUSABLE where no store is. */
export async function requireStore(dataDir: string, flag = "--data-dir"): Promise<void> {
  if (await holdsStore(nodeDisk, dataDir)) return;
  throw storeUnusable(`There is no store in ${dataDir}; name another with ${flag}.`);
}

/** Opens a stopped store for work that embeds nothing. @throws {ServiceError} STORE_UNUSABLE. */
export async function withStoppedStore<T>(
  directory: string,
  log: StoreLog,
  work: (opened: OpenedStore, originals: DiskFileStore) => Promise<T>,
  options: Partial<StoreOptions> = {},
): Promise<T> {
  await requireStore(directory);
  const lock = await lockDataDirectory(directory);
  try {
    return await withLockedStore(directory, log, work, options);
  } finally {
    await lock.release();
  }
}

/** As `withStoppedStore`, for a process that has the lock, or a folder of its own. */
export async function withLockedStore<T>(
  directory: string,
  log: StoreLog,
  work: (opened: OpenedStore, originals: DiskFileStore) => Promise<T>,
  options: Partial<StoreOptions> = {},
): Promise<T> {
  const opened = await openStore({
    disk: nodeDisk,
    directory,
    clock: systemClock,
    stamp: (stored) => stored ?? MEMORYD_E5.stamp,
    log,
    ...options,
  });
  try {
    const files = await DiskFileStore.open({
      disk: nodeDisk,
      directory,
      documents: opened.store.catalogue.documents,
      isAllKnown: opened.hasAllDocuments,
    });
    return await work(opened, files);
  } finally {
    await opened.store.close();
  }
}
