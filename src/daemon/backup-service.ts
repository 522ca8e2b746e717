import { join, resolve } from "node:path";
import type { Settings } from "../config/config.ts";
import type { BackupList, BackupOperations, BackupProgress, FinishedBackup } from "../core/backups.ts";
import type { DocumentIndex } from "../core/documents/document-index.ts";
import { ServiceError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { UserDeletionPorts } from "../core/users/delete-user-memories.ts";
import { VERSION } from "../config/version.ts";
import {
  type BackupSource,
  checkBackupName,
  listBackups,
  removeBackup,
  verifyBackup,
  writeBackup,
} from "../storage/backups.ts";
import { nodeDisk } from "../storage/disk.ts";
import { noteErasures } from "../storage/erasures.ts";
import type { DiskFileStore } from "../storage/disk-file-store.ts";
import type { OpenedStore } from "../storage/open-store.ts";
import type { Logger } from "./log.ts";
import { sha256, systemClock } from "./system.ts";

export interface BackupParts {
  readonly dataDir: string;
  /** Where backups go that name no other. */
  readonly folder: string;
  /** Milliseconds from one to the next; undefined: only when asked. */
  readonly every: number | undefined;
  /** How many of those that are named by their time are kept by the schedule. */
  readonly keep: number;
  readonly opened: Pick<OpenedStore, "checkpointer" | "storeId" | "journal">;
  readonly documents: Pick<DocumentIndex, "neededFiles">;
  readonly originals: Pick<DiskFileStore, "hold">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
}

export interface BackupService extends BackupOperations {
  /** As `UserDeletionPorts.noteErasure`. */
  readonly noteErasure: UserDeletionPorts["noteErasure"];
  /** Begins to follow the schedule. */
  begin(): void;
  /** Stops one that runs, which leaves nothing behind. */
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 60_000;
/** After a failure; most want an operator. */
const RETRY_MS = 10 * 60_000;
/** Names that the program gives: the second in UTC. */
const TIMED_NAME = /^\d{8}-\d{6}(-\d+)?$/;

/** Where backups go that name no other folder. */
export function backupFolder({ dataDir, backupTo }: Pick<Settings, "dataDir" | "backupTo">): string {
  return backupTo === "" ? join(dataDir, "backups") : resolve(backupTo);
}

/** A store as `writeBackup` copies it. */
export function backupSource({
  dataDir,
  opened,
  documents,
  originals,
}: Pick<BackupParts, "dataDir" | "opened" | "documents" | "originals">): BackupSource {
  return {
    disk: nodeDisk,
    directory: dataDir,
    async hold() {
      const before = documents.neededFiles();
      const letGo = originals.hold(before);
      try {
        const held = await opened.checkpointer.hold();
        const known = new Set(before);
        const added = documents.neededFiles().filter((sha256) => !known.has(sha256));
        const letGoOfAdded = originals.hold(added);
        return {
          checkpoint: held.checkpoint,
          originals: [...before, ...added],
          release() {
            held.release();
            letGo();
            letGoOfAdded();
          },
        };
      } catch (error) {
        letGo();
        throw error;
      }
    },
  };
}

/** A name that is free in the folder: the time in UTC, `20261122-161500`. */
export async function timedName(folder: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const taken = new Set((await nodeDisk.list(folder)).map(({ name }) => name));
  let name = time;
  for (let n = 2; taken.has(name); n += 1) name = `${time}-${n}`;
  return name;
}

/** By what a list of erasures knows a user without naming them. */
export function erasedUser(storeId: string, userId: string): string {
  return sha256(`${storeId} ${userId}`);
}

/** Backups in a folder, whether a daemon runs or not. Errors are those of `storage/backups.ts`. */
export const backupsIn = (folder: string) => ({
  list: () => listBackups(nodeDisk, folder),
  verify: (name: string) => verifyBackup(nodeDisk, folder, name, systemClock.now()),
  /** Removes the oldest that are named by their time, of one store or of all, but for `keep`. @returns their names. */
  async prune(keep: number, storeId?: string): Promise<string[]> {
    const { items } = await listBackups(nodeDisk, folder);
    const own = items.filter(
      (backup) => TIMED_NAME.test(backup.name) && (storeId === undefined || backup.storeId === storeId),
    );
    const old = own.slice(keep).map(({ name }) => name);
    for (const name of old) await removeBackup(nodeDisk, folder, name);
    return old;
  },
});

/** Backups of a running daemon, one at a time: when asked, and by its schedule. */
export function createBackupService(parts: BackupParts): BackupService {
  const { folder, every, keep, opened, clock, log } = parts;
  const closing = new AbortController();
  const source = backupSource(parts);
  let timer: NodeJS.Timeout | undefined;
  let progress: BackupProgress | undefined;
  let running: Promise<void> = Promise.resolve();
  let last: FinishedBackup | undefined;
  let notBefore = 0;

  async function make(name: string, into: string): Promise<void> {
    const startedAt = clock.now();
    const begun = performance.now();
    const finished = () => ({ name, startedAt, tookMs: Math.round(performance.now() - begun) });
    try {
      const backup = await writeBackup(source, {
        folder: into,
        name,
        createdAt: startedAt,
        program: VERSION,
        signal: closing.signal,
        onProgress: (done, total) => (progress = { name, startedAt, done, total }),
      });
      last = finished();
      log.info({ backup: name, folder: into, ms: last.tookMs, bytes: backup.addedBytes }, "backup made");
    } catch (error) {
      notBefore = performance.now() + RETRY_MS;
      if (closing.signal.aborted) return;
      last = { ...finished(), problem: error instanceof Error ? error.message : String(error) };
      log.warn({ err: error, folder: into }, "backup failed");
    } finally {
      progress = undefined;
    }
  }

  async function start({ name: wanted, folder: into = folder }: Parameters<BackupOperations["start"]>[0]) {
    if (progress !== undefined)
      throw new ServiceError("CONFLICT", `The backup ${progress.name} is being made already.`);
    const startedAt = clock.now();
    if (wanted !== undefined) checkBackupName(wanted);
    // Taken before anything is waited for, so that of two who ask at once one is refused.
    progress = { name: wanted ?? "", startedAt, done: 0, total: 0 };
    try {
      const name = wanted ?? (await timedName(into, startedAt));
      if ((await nodeDisk.list(into)).some((entry) => entry.name === name))
        throw new ServiceError(
          "CONFLICT",
          `There is a backup ${name} in ${into} already; choose another name.`,
        );
      progress = { name, startedAt, done: 0, total: 0 };
      running = make(name, into);
      return progress;
    } catch (error) {
      progress = undefined;
      throw error;
    }
  }

  /** Makes one when it is due and anything was written since the last. */
  async function look(interval: number): Promise<void> {
    if (progress !== undefined || performance.now() < notBefore) return;
    const { items } = await listBackups(nodeDisk, folder);
    const newest = items.find(({ storeId }) => storeId === opened.storeId);
    const { epoch, sequence } = opened.journal.position;
    const isNew = newest?.position !== `${epoch}.${sequence}`;
    // One of the future was made by a wrong clock.
    const age =
      newest === undefined || newest.createdAt > clock.now() ? Infinity : clock.now() - newest.createdAt;
    if (!isNew || age < interval) return;
    // A clock that jumps back and forth makes no more than these.
    notBefore = performance.now() + Math.min(interval, RETRY_MS);
    await start({});
    await running;
    if (last?.problem !== undefined) return;
    const removed = await backupsIn(folder).prune(keep, opened.storeId);
    if (removed.length > 0) log.info({ removed }, "old backups removed");
  }

  return {
    begin() {
      if (every === undefined) return;
      const lookNow = () =>
        void look(every).catch((error: unknown) => log.warn({ err: error }, "backups not looked at"));
      lookNow();
      timer = setInterval(lookNow, Math.min(LOOK_EVERY_MS, every)).unref();
    },
    start,
    async list(): Promise<BackupList> {
      return {
        folder,
        ...(await listBackups(nodeDisk, folder)),
        ...(progress && { running: progress }),
        ...(last && { last }),
      };
    },
    verify: (name) => verifyBackup(nodeDisk, folder, name, clock.now()),
    remove: (name) => removeBackup(nodeDisk, folder, name),
    async noteErasure({ userId, keepsDocuments, includesFacts }) {
      const { storeId, journal } = opened;
      const erasure = {
        storeId,
        user: erasedUser(storeId, userId),
        at: clock.now(),
        ...journal.position,
        keepsDocuments,
        includesFacts,
      };
      await noteErasures(nodeDisk, parts.dataDir, [erasure]).catch((error: unknown) => {
        throw new ServiceError(
          "STORE_FULL",
          "All of it is deleted, but the disk did not take the note that keeps backups from bringing it back. Free some " +
            "space and delete once more.",
          { cause: error },
        );
      });
      // A folder that is away now has it with its next backup.
      if ((await nodeDisk.list(folder).catch(() => [])).length > 0)
        await noteErasures(nodeDisk, folder, [erasure]).catch((error: unknown) =>
          log.warn({ err: error, folder }, "erasure not noted beside the backups"),
        );
    },
    async close() {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
