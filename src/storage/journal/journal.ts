import type { FeedEntry } from "../../core/feed.ts";
import type { Change } from "../../core/rows.ts";
import { type Disk, hasCode } from "../files/disk.ts";
import { dirname } from "node:path";
import { notReady, type ServiceError, storeFull, storeUnusable } from "../../core/errors.ts";

/** One atomic write, as the journal keeps it. */
export interface JournalRecord {
  /** From 1, without gaps. */
  readonly sequence: number;
  /** Epoch milliseconds UTC. */
  readonly time: number;
  readonly changes: readonly Change[];
  /** The user whose data it erases, for the feed. */
  readonly erases?: string | undefined;
}

export interface RecordToAppend extends Omit<JournalRecord, "sequence"> {
  /** True for a record that frees space: it may use the reserve for a full disk. */
  readonly frees: boolean;
}

/** A record that another process wrote. */
export interface NewerRecord extends Omit<JournalRecord, "changes"> {
  readonly feedEntries: readonly FeedEntry[];
}

/** Another process has written to the store since: the state that a record was decided on is no longer the newest. */
export class Overtaken extends Error {}

/** What a store needs to make its records durable, in order, each whole or not at all. */
export interface StoreJournal {
  /**
   * Accepts a record and gives it its sequence at once. The changes must not be altered afterwards. `durable`
   * resolves in the order of sequences. It rejects with {ServiceError} STORE_FULL, or NOT_READY after another
   * failure; with {Overtaken} once the store shows what was written since, so that it decides again.
   *
   * @throws {ServiceError} STORE_FULL while a full disk leaves room for nothing but records that free; NOT_READY
   *   when the journal is read-only or closed.
   * @param feedEntries gives its entries in the feed, once `append` has returned.
   * @throws {Error} for changes that cannot be encoded; no sequence is used up.
   */
  append(
    record: RecordToAppend,
    feedEntries: () => readonly FeedEntry[],
  ): {
    readonly sequence: number;
    readonly durable: Promise<void>;
  };
  /** True while a full disk admits only records that free space, as far as known. */
  readonly isFull: boolean;
  /** Looks whether that is still so; nothing to do while it is not. */
  findRoom(): Promise<void>;
  /** @throws {ServiceError} NOT_READY when its file is no longer where it was; it is read-only then. */
  assertInPlace(): Promise<void>;
  /** Writes what waits. Idempotent; every append after it is refused. */
  close(): Promise<void>;
}

/**
 * A journal in files of one process, which nobody overtakes.
 *
 * Records that wait share one write and one sync. When that fails, the journal is cut back to its last durable
 * record, then every record not yet durable is refused at once, and their sequences are given out again. When a
 * sync fails, or the cutting back does, nobody can say what is on the disk: the journal takes nothing more until
 * it is opened again, and each of those records may then be there, whole, or not.
 *
 * Nor does it once its file is no longer where it was: what is written to a folder that was removed is lost, and one that
 * was moved is another's to open. That is looked at with every sync.
 */
export interface Journal extends StoreJournal {
  /** As `StoreJournal.append`; the feed is not kept. */
  append(record: RecordToAppend): ReturnType<StoreJournal["append"]>;
  /** Sequence of the last durable record. */
  readonly position: { readonly epoch: number; readonly sequence: number };
  /** Why nothing can be appended until the journal is opened again; undefined while it can. */
  readonly readOnly: Error | undefined;
  /**
   * Removes the files that hold no record after `sequence`; also the one being written, once everything in it is
   * covered, and those of earlier epochs. The caller has that much in both checkpoints.
   */
  dropThrough(sequence: number): Promise<void>;
  /** Goes on in a new file, so that those before it can be dropped whole. */
  beginSegment(): Promise<void>;
  /** Size of all its segments on the disk. */
  readonly bytes: number;
}

export interface JournalOptions {
  readonly disk: Disk;
  /** Made if it is missing. */
  readonly directory: string;
  /** At most 91 bytes of UTF-8; a segment of another store is refused. */
  readonly storeId: string;
  readonly epoch: number;
  /** The checkpoint's sequence: records after it are replayed, in order. */
  readonly after: number;
  readonly onRecord: (record: JournalRecord) => void;
  /**
   * Whether this epoch may begin here, right after `after`: when a store is made, restored or salvaged. Where no
   * segment is there without it, some are missing. Default: only at sequence 0.
   */
  readonly begin?: boolean;
  readonly segmentBytes?: number;
  /**
   * Called when every record not yet durable is refused, in the same turn and before any of their promises is
   * rejected: whoever acted on them takes that back before the next record can be accepted.
   */
  readonly onRefused?: () => void;
  /** Called once, when the journal has become read-only. */
  readonly onStopped?: (reason: Error) => void;
}

/** True if the disk, or a quota on it, was full. */
export function isFull(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

export function diskFull(cause?: unknown): ServiceError {
  return storeFull(
    "The disk is full, so nothing was stored. Free some space; deleting memories for good still works.",
    { cause },
  );
}

export function writeRefused(cause: unknown): ServiceError {
  return notReady(`The disk refused a write${codeOf(cause)}; nothing of it was stored. Try again.`, {
    cause,
    retryAfterSeconds: 1,
  });
}

/** After a failed sync, or where a failed write could not be cut off. */
export function diskFailed(cause: unknown): ServiceError {
  return notReady(
    `The disk failed to keep a write${codeOf(cause)}, so nothing more is stored until the daemon is restarted. ` +
      "Reading goes on. Look at the disk before you restart it.",
    { cause },
  );
}

/** @param path where the journal file should be. The process is named because `memoryd stop` finds it by a file that went too. */
export function movedAway(path: string): ServiceError {
  return notReady(
    `The data directory was moved or removed, or another put in its place, while memoryd ran: ${dirname(path)} is no longer ` +
      "the folder that it writes to, so nothing more is stored. Put the directory back, or stop the daemon " +
      `(process ${process.pid}); then start it again.`,
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
}

/** Advice for a journal that cannot be read, with the note that nothing was changed yet. */
const ADVICE = "Nothing was changed. Make a copy of the data directory, then restore a backup.";

/** A journal that cannot be trusted: opening it is refused, with a sentence that names the file. */
export function journalUnusable(file: string, problem: string, cause?: unknown): ServiceError {
  return storeUnusable(`The journal file ${file} ${problem}. ${ADVICE}`, { cause });
}

/**
 * Whether a record removes: a memory or a fact, whose links it may clear elsewhere, or nothing but rows and what jobs were
 * asked for. What goes to the trash stays.
 */
export function frees(changes: readonly Change[]): boolean {
  let isAllRemoval = true;
  let removesText = false;
  // In one pass: the deletion of a user has a million changes.
  for (const change of changes) {
    const { table, row } = change;
    if (row === null) removesText ||= table === "memories" || table === "facts";
    else if (table === "versions") return false;
    else isAllRemoval &&= givesUpJob(change);
  }
  return isAllRemoval || removesText;
}

/** Its request goes, and with it the need of its file. */
function givesUpJob({ table, row }: Change): boolean {
  return table === "jobs" && (row?.status === "cancelled" || row?.status === "failed");
}
