import type { CompactionProgress, FinishedCompaction } from "../core/compaction.ts";
import { ServiceError } from "../core/errors.ts";
import type { Logger } from "./log.ts";
import { MULTILINGUAL_E5 } from "../models/bundled-models.ts";
import { holdsStore } from "../storage/data-directory.ts";
import { nodeDisk } from "../storage/disk.ts";
import { DiskFileStore } from "../storage/disk-file-store.ts";
import { lockDataDirectory } from "../storage/lock.ts";
import { openStore } from "../storage/open-store.ts";
import { systemClock } from "./system.ts";

export interface CompactStoppedOptions {
  readonly log: Logger;
  readonly onProgress: (progress: CompactionProgress) => void;
  /** Aborted, the store is left as it was. */
  readonly signal: AbortSignal;
}

/**
 * Erases what was deleted from a store whose daemon does not run.
 *
 * @throws {ServiceError} STORE_UNUSABLE where no store is, or another process has it.
 */
export async function compactStopped(
  directory: string,
  { log, onProgress, signal }: CompactStoppedOptions,
): Promise<FinishedCompaction> {
  if (!(await holdsStore(nodeDisk, directory)))
    throw new ServiceError(
      "STORE_UNUSABLE",
      `There is no store in ${directory}; name another folder with --data-dir.`,
    );
  const lock = await lockDataDirectory(directory);
  try {
    const startedAt = systemClock.now();
    const begun = performance.now();
    const { store, purge, hasAllDocuments } = await openStore({
      disk: nodeDisk,
      directory,
      clock: systemClock,
      // Nothing is embedded here.
      stamp: (stored) => stored ?? MULTILINGUAL_E5.stamp,
      log,
    });
    try {
      const { documents } = store.catalogue;
      const isNeeded = (sha256: string) => documents.needsFile(sha256);
      const files = await DiskFileStore.open({
        disk: nodeDisk,
        directory,
        isNeeded,
        wasNeeded: (sha256) => documents.neededFile(sha256),
        isAllKnown: hasAllDocuments,
      });
      const report = await purge.run({ originals: files, onProgress, signal });
      return { startedAt, tookMs: performance.now() - begun, report };
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}
