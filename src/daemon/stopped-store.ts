import { dirname } from "node:path";
import { VERSION } from "../config/version.ts";
import type { Backup } from "../core/backups.ts";
import type { PurgeProgress, FinishedPurge } from "../core/purge.ts";
import { ServiceError } from "../core/errors.ts";
import { deleteUserMemories } from "../core/users/delete-user-memories.ts";
import { listUsers } from "../core/users/list-users.ts";
import { MULTILINGUAL_E5 } from "../models/bundled-models.ts";
import { writeBackup } from "../storage/backups.ts";
import { holdsStore } from "../storage/data-directory.ts";
import { nodeDisk } from "../storage/disk.ts";
import { readErasures } from "../storage/erasures.ts";
import { restoreBackup } from "../storage/restore-backup.ts";
import { DiskFileStore } from "../storage/disk-file-store.ts";
import { lockDataDirectory } from "../storage/lock.ts";
import { type OpenedStore, openStore } from "../storage/open-store.ts";
import { backupSource, erasedUser, timedName } from "./backup-service.ts";
import type { Logger } from "./log.ts";
import { systemClock } from "./system.ts";

export interface StoppedStoreOptions {
  readonly log: Logger;
  /** Aborted, the store is left as it was. */
  readonly signal: AbortSignal;
}

/**
 * Purges deleted rows of a store whose daemon does not run.
 *
 * @throws {ServiceError} STORE_UNUSABLE where no store is, or another process has it.
 */
export async function compactStopped(
  directory: string,
  options: StoppedStoreOptions & { readonly onProgress: (progress: PurgeProgress) => void },
): Promise<FinishedPurge> {
  const startedAt = systemClock.now();
  const begun = performance.now();
  return await withStoppedStore(directory, options.log, async ({ purge }, originals) => {
    const report = await purge.run({ ...options, originals });
    return { startedAt, tookMs: performance.now() - begun, report };
  });
}

/**
 * Makes a backup of a store whose daemon does not run.
 *
 * @throws {ServiceError} STORE_UNUSABLE where no store is, or another process has it; as `writeBackup`.
 */
export async function backUpStopped(
  directory: string,
  options: StoppedStoreOptions & {
    readonly folder: string;
    readonly name: string | undefined;
    readonly onProgress: (doneBytes: number, totalBytes: number) => void;
  },
): Promise<Backup> {
  return await withStoppedStore(directory, options.log, async (opened, originals) => {
    const { documents } = opened.store.catalogue;
    const createdAt = systemClock.now();
    return await writeBackup(backupSource({ dataDir: directory, opened, documents, originals }), {
      ...options,
      name: options.name ?? (await timedName(options.folder, createdAt)),
      createdAt,
      program: VERSION,
    });
  });
}

/**
 * Makes a data directory of a backup, see `restoreBackup`, without what was erased of users since it was made, down to the
 * bytes.
 *
 * @param options.from the data directory that the backup is of, which knows all erasures; those that are noted beside the
 *   backup count too.
 */
export async function restore(
  backup: string,
  target: string,
  options: Pick<StoppedStoreOptions, "log"> & {
    readonly from: string | undefined;
    readonly onProgress: (doneBytes: number, totalBytes: number) => void;
  },
): Promise<{ readonly memories: number; readonly createdAt: number; readonly erasedUsers: number }> {
  const { log, from, onProgress } = options;
  let erasedUsers = 0;
  let left: number | undefined;
  const { memories, createdAt } = await restoreBackup(nodeDisk, backup, target, {
    onProgress,
    async prepare(directory, { storeId, epoch, sequence }) {
      const noted = await Promise.all(
        [dirname(backup), ...(from === undefined ? [] : [from])].map((folder) =>
          readErasures(nodeDisk, folder),
        ),
      );
      const later = noted
        .flat()
        .filter(
          (erasure) =>
            erasure.storeId === storeId &&
            (erasure.epoch > epoch || (erasure.epoch === epoch && erasure.sequence > sequence)),
        );
      if (later.length === 0) return;
      await withStoppedStore(directory, log, async ({ store, purge }, originals) => {
        const ports = { store, facts: store, stopJob: async () => {}, noteErasure: async () => {} };
        for (const { userId } of listUsers(ports, { limit: Infinity, offset: 0 }).items) {
          const erasures = later.filter(({ user }) => user === erasedUser(storeId, userId));
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

async function withStoppedStore<T>(
  directory: string,
  log: Logger,
  work: (opened: OpenedStore, originals: DiskFileStore) => Promise<T>,
): Promise<T> {
  if (!(await holdsStore(nodeDisk, directory)))
    throw new ServiceError(
      "STORE_UNUSABLE",
      `There is no store in ${directory}; name another folder with --data-dir.`,
    );
  const lock = await lockDataDirectory(directory);
  try {
    const opened = await openStore({
      disk: nodeDisk,
      directory,
      clock: systemClock,
      // Nothing is embedded here.
      stamp: (stored) => stored ?? MULTILINGUAL_E5.stamp,
      isReadable: () => true,
      log,
    });
    try {
      const { documents } = opened.store.catalogue;
      const files = await DiskFileStore.open({
        disk: nodeDisk,
        directory,
        isNeeded: (sha256) => documents.needsFile(sha256),
        wasNeeded: (sha256) => documents.neededFile(sha256),
        isAllKnown: opened.hasAllDocuments,
      });
      return await work(opened, files);
    } finally {
      await opened.store.close();
    }
  } finally {
    await lock.release();
  }
}
