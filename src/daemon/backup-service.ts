import { access, constants } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Settings } from "../config/config.ts";
import type { DocumentIndex } from "../core/documents/document-index.ts";
import { conflict, invalidRequest, notReady, ServiceError, storeFull } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { UserDeletionPorts } from "../core/users/delete-user-memories.ts";
import { VERSION } from "../config/limits.ts";
import {
  checkBackupName,
  listBackups,
  removeBackup,
  verifyBackup,
  writeBackup,
} from "../storage/copies/backups.ts";
import type { Backup, BackupSource } from "../storage/copies/backups.ts";
import { addedFiles } from "../models/added/added-models.ts";
import { inWords, roomNeededFor } from "../storage/files/disk-space.ts";
import { hasCode, nodeDisk } from "../storage/files/disk.ts";
import { comparePositions, noteErasures, readAncestors } from "../storage/checkpoints/erasures.ts";
import type { DiskFileStore } from "../storage/files/disk-file-store.ts";
import type { OpenedStore } from "../storage/open-store.ts";
import { type Logger, sha256, systemClock } from "./system.ts";
import { messageOf, pathFault } from "../config/narrow.ts";

export interface BackupParts {
  readonly dataDir: string;
  /** Where backups go that name no other. */
  readonly folder: string;
  /** Milliseconds from one backup to the next; undefined: only when asked. */
  readonly every: number | undefined;
  /** How many of those that are named by their time are kept by the schedule. */
  readonly keep: number;
  readonly opened: Pick<OpenedStore, "checkpointer" | "storeId" | "journal">;
  readonly documents: Pick<DocumentIndex, "neededFiles">;
  readonly originals: Pick<DiskFileStore, "hold">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Bytes that are free on the disk of a folder. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

export type BackupService = ReturnType<typeof createBackupService>;

export type { Backup };

/** Copies of deleted data in backups, after a purge; see `BackupCopiesRecord`. */
export interface BackupCopies {
  readonly made: string | null;
  readonly removed: number;
  readonly remaining: number | null;
  readonly problem?: string;
}

/** The schedule begins this long after the start, so that short runs make no backups. */
const FIRST_LOOK_MS = 10 * 60_000;
const LOOK_EVERY_MS = 60_000;
const LOOK_AGAIN_MS = 50;
/** After a failure; most want an operator. */
const RETRY_MS = 10 * 60_000;
/** Names that the program gives: the second in UTC. */
const TIMED_NAME = /^\d{8}-\d{6}(-\d+)?$/;

/** Folder of backups that name no other. */
export const backupFolder = ({ dataDir, backupTo }: Pick<Settings, "dataDir" | "backupTo">): string =>
  backupTo === "" ? join(dataDir, "backups") : resolve(backupTo);

/** A store as `writeBackup` copies it. */
export function backupSource(
  parts: Pick<BackupParts, "dataDir" | "opened" | "documents" | "originals">,
): BackupSource {
  const { dataDir, opened, documents, originals } = parts;
  return {
    disk: nodeDisk,
    directory: dataDir,
    async hold() {
      const releases: (() => void)[] = [];
      const release = () => releases.splice(0).forEach((letGo) => letGo());
      try {
        const before = documents.neededFiles();
        releases.push(originals.hold(before));
        const held = await opened.checkpointer.hold();
        releases.push(() => held.release());
        const known = new Set(before);
        const added = documents.neededFiles().filter((sha256) => !known.has(sha256));
        releases.push(originals.hold(added));
        const models = addedFiles(dataDir);
        return { checkpoint: held.checkpoint, originals: [...before, ...added], models, release };
      } catch (error) {
        release();
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
export const erasedUser = (storeId: string, userId: string): string => sha256(`${storeId} ${userId}`);

type StoreOfBackups = { readonly dataDir: string; readonly storeId: string };

/** Backups in a folder that may hold what was deleted of a store. */
interface BackupsBefore {
  /** Names of those that are a past of the store, which a new one takes the place of. */
  readonly older: readonly string[];
  /** Backups beside them of stores that went on, and damaged ones; null: not known. */
  readonly others: number | null;
  readonly problem?: string;
}

async function survey(folder: string, { dataDir, storeId }: StoreOfBackups): Promise<BackupsBefore> {
  const isUnknown = (why: string) => ({
    older: [],
    others: null,
    problem: `Backups in ${folder} may still hold it: ${why}.`,
  });
  try {
    if (folder !== join(dataDir, "backups") && (await nodeDisk.size(folder)) === undefined)
      return isUnknown("the folder is missing");
    const ancestors = await readAncestors(nodeDisk, dataDir);
    const { items, damaged } = await listBackups(nodeDisk, folder);
    const kin = items.filter((backup) =>
      [storeId, ...ancestors.map((ancestor) => ancestor.storeId)].includes(backup.storeId),
    );
    const past = kin.filter((backup) => {
      const [epoch = 0, sequence = 0] = backup.position.split(".").map(Number);
      const left = ancestors.find((ancestor) => ancestor.storeId === backup.storeId);
      return left === undefined || comparePositions({ epoch, sequence }, left) <= 0;
    });
    return { older: past.map(({ name }) => name), others: kin.length - past.length + damaged.length };
  } catch (error) {
    return isUnknown(messageOf(error));
  }
}

/** @throws {ServiceError} INVALID_REQUEST where the folder cannot be one, such as a file. */
async function usable<T>(folder: string, work: Promise<T>): Promise<T> {
  return await work.catch((error: Error) => {
    const fault = pathFault(error);
    if (fault === undefined) throw error;
    throw invalidRequest(
      `Backups cannot be kept in ${folder}: ${fault}. Name another folder with --to, or with \`memoryd start --backup-to FOLDER\`.`,
      { cause: error },
    );
  });
}

/** Backups in a folder, whether a daemon runs or not. Errors are those of `storage/copies/backups.ts`. */
export const backupsIn = (folder: string) => ({
  list: () => usable(folder, listBackups(nodeDisk, folder)),
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
  survey: (store: StoreOfBackups) => survey(folder, store),
  /** How many backups may hold what was deleted of the store. */
  async copies(store: StoreOfBackups): Promise<BackupCopies> {
    const { older, others, ...rest } = await survey(folder, store);
    return { made: null, removed: 0, remaining: others === null ? null : older.length + others, ...rest };
  },
  /** Reads the backup `name` whole, and removes those that could be replaced before it was begun. */
  async replace({ older, others, ...rest }: BackupsBefore, name: string): Promise<BackupCopies> {
    await verifyBackup(nodeDisk, folder, name, systemClock.now());
    for (const other of older)
      await removeBackup(nodeDisk, folder, other).catch((error: unknown) => {
        // Somebody else removed it.
        if (!(error instanceof ServiceError && error.code === "NOT_FOUND")) throw error;
      });
    return { made: name, removed: older.length, remaining: others, ...rest };
  },
});

/** Backups of a running daemon, one at a time: when asked, and by its schedule. */
export function createBackupService(parts: BackupParts) {
  const { folder, every, keep, opened, clock, log, freeBytes = (path) => nodeDisk.freeBytes(path) } = parts;
  const closing = new AbortController();
  const source = backupSource(parts);
  const store = { dataDir: parts.dataDir, storeId: opened.storeId };
  let timer: NodeJS.Timeout | undefined;
  let progress: (Record<"startedAt" | "done" | "total", number> & { name: string }) | undefined;
  let running: Promise<void> = Promise.resolve();
  let last: { name: string; startedAt: number; tookMs: number; problem: string | null } | undefined;
  let notBefore = performance.now() + FIRST_LOOK_MS;

  async function make(name: string, into: string): Promise<void> {
    const startedAt = clock.now();
    const begun = performance.now();
    const finished = (problem: string | null) => {
      const tookMs = Math.round(performance.now() - begun);
      return (last = { name, startedAt, tookMs, problem });
    };
    try {
      const writing = writeBackup(source, {
        folder: into,
        name,
        createdAt: startedAt,
        program: VERSION,
        signal: closing.signal,
        onProgress: (done, total) => (progress = { name, startedAt, done, total }),
      });
      const backup = await usable(into, writing);
      const { tookMs: ms } = finished(null);
      log.info({ backup: name, folder: into, ms, bytes: backup.addedBytes }, "backup made");
    } catch (error) {
      notBefore = performance.now() + RETRY_MS;
      if (closing.signal.aborted) return;
      finished(messageOf(error));
      log.warn({ err: error, folder: into }, "backup failed");
    } finally {
      progress = undefined;
    }
  }

  async function start({ name: wanted, folder: into = folder }: { name?: string; folder?: string }) {
    if (progress !== undefined) throw conflict(`The backup ${progress.name} is being made already.`);
    const startedAt = clock.now();
    if (wanted !== undefined) checkBackupName(wanted);
    // Taken before anything is waited for, so that of two who ask at once one is refused.
    progress = { name: wanted ?? "", startedAt, done: 0, total: 0 };
    try {
      const name = wanted ?? (await usable(into, timedName(into, startedAt)));
      if ((await usable(into, nodeDisk.list(into))).some((entry) => entry.name === name))
        throw conflict(`There is a backup ${name} in ${into} already; choose another name.`);
      progress = { name, startedAt, done: 0, total: 0 };
      running = make(name, into);
      return progress;
    } catch (error) {
      progress = undefined;
      throw error;
    }
  }

  /** A sentence where the disk has less free than adding needs and a copy of the tables would take: linked files stay when the store drops them. */
  async function lackingRoom(): Promise<string | undefined> {
    const tables = opened.checkpointer.latest?.tables ?? [];
    const bytes = tables.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
    await usable(folder, nodeDisk.makeDirectory(folder));
    const space = { free: await freeBytes(folder), needed: roomNeededFor(tables) + bytes };
    if (space.free >= space.needed) return undefined;
    return `A backup was due and is skipped: ${inWords(space)} at ${folder}. Free some space, or name another folder with --backup-to.`;
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
    const lack = await lackingRoom();
    if (lack !== undefined) {
      if (last?.problem !== lack) log.warn({ folder }, lack);
      last = { name: "", startedAt: clock.now(), tookMs: 0, problem: lack };
      return;
    }
    await start({});
    await running;
    if (typeof last?.problem === "string") return;
    const removed = await backupsIn(folder).prune(keep, opened.storeId);
    if (removed.length > 0) log.info({ removed }, "old backups removed");
  }

  return {
    /** Begins to follow the schedule; warns where the folder cannot be used. One that is missing is made with the first backup. */
    begin(): void {
      const isWritable = access(folder, constants.W_OK).catch((error: unknown) => {
        if (!hasCode(error, "ENOENT")) throw error;
      });
      usable(folder, Promise.all([isWritable, nodeDisk.list(folder)])).catch((error: unknown) =>
        log.warn({ folder, reason: messageOf(error) }, "no backups can be made"),
      );
      if (every === undefined) return;
      const lookNow = () =>
        void look(every).catch((error: unknown) => log.warn({ err: error }, "backups not looked at"));
      timer = setInterval(lookNow, Math.min(LOOK_EVERY_MS, every)).unref();
    },
    start,
    async list() {
      return { folder, ...(await backupsIn(folder).list()), running: progress ?? null, last: last ?? null };
    },
    copies: () => backupsIn(folder).copies(store),
    /** Makes a backup, verifies it and removes those that were there before it and are a past of the store. @throws {ServiceError} */
    async renew(): Promise<BackupCopies> {
      const isMaking = () => progress !== undefined;
      let before: BackupsBefore;
      do {
        while (isMaking()) await Promise.all([running, setTimeout(LOOK_AGAIN_MS)]);
        before = await backupsIn(folder).survey(store);
      } while (isMaking());
      const { name } = await start({});
      await running;
      if (last?.name !== name || last.problem !== null)
        throw notReady(last?.problem ?? "The daemon is stopping.");
      return await backupsIn(folder).replace(before, name);
    },
    verify: (name: string) => verifyBackup(nodeDisk, folder, name, clock.now()),
    remove: (name: string) => removeBackup(nodeDisk, folder, name),
    /** As `UserDeletionPorts.noteErasure`. */
    noteErasure: async ({
      userId,
      keepsDocuments,
      includesFacts,
    }: Parameters<UserDeletionPorts["noteErasure"]>[0]): Promise<void> => {
      const { storeId, journal } = opened;
      const ancestors = await readAncestors(nodeDisk, parts.dataDir).catch((error: unknown) => {
        log.warn({ err: error }, "not known what the store was restored from");
        return [];
      });
      const erasure = {
        storeId,
        user: erasedUser(storeId, userId),
        at: clock.now(),
        ...journal.position,
        ancestors,
        keepsDocuments,
        includesFacts,
      };
      await noteErasures(nodeDisk, parts.dataDir, [erasure]).catch((error: unknown) => {
        throw storeFull(
          "All of it is deleted, but the disk did not take the note that keeps backups from bringing it back. Free some " +
            "space and delete once more.",
          { cause: error },
        );
      });
      // A folder that is away now has it with its next backup.
      const places = new Set([folder]);
      for (const ancestor of ancestors) {
        // Its folder stands in a backup that may come from elsewhere: nothing is written but beside backups of that store.
        const there = await listBackups(nodeDisk, ancestor.folder).catch(() => ({ items: [] }));
        if (there.items.some((backup) => backup.storeId === ancestor.storeId)) places.add(ancestor.folder);
      }
      for (const place of places)
        if ((await nodeDisk.list(place).catch(() => [])).length > 0)
          await noteErasures(nodeDisk, place, [erasure]).catch((error: unknown) =>
            log.warn({ err: error, folder: place }, "erasure not noted beside the backups"),
          );
    },
    /** Stops one that runs, which leaves nothing behind. */
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
