import type { CompactionProgress, FinishedCompaction } from "./core/compaction.ts";
import { ServiceError } from "./core/errors.ts";
import type { Logger } from "./log.ts";
import { forgettingOf, withIngested } from "./ingested-files.ts";
import { STAMP } from "./models/bundled-model.ts";
import { holdsStore } from "./storage/data-directory.ts";
import { nodeDisk } from "./storage/disk.ts";
import { DiskFileStore } from "./storage/disk-file-store.ts";
import { occupy } from "./storage/occupy.ts";
import { openStore } from "./storage/open-store.ts";
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
  const lock = await occupy(directory);
  try {
    const startedAt = systemClock.now();
    const begun = performance.now();
    const { store, erasure, hasAllDocuments } = await openStore({
      disk: nodeDisk,
      directory,
      clock: systemClock,
      stamp: STAMP,
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
      const originals = withIngested(files, forgettingOf(directory, documents).now);
      const report = await erasure.run({ originals, onProgress, signal });
      return { startedAt, tookMs: performance.now() - begun, report };
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}
