import { join } from "node:path";
import type { PurgeProgress, DiskUsage, PurgeReport, UnpurgedRows } from "../../core/purge.ts";
import { conflict } from "../../core/errors.ts";
import type { Checkpointer } from "./checkpointer.ts";
import { type Disk, usageBelow } from "../files/disk.ts";
import type { DiskFileStore } from "../files/disk-file-store.ts";
import type { PurgeLedger } from "./purge-ledger.ts";
import type { Journal } from "../journal/journal.ts";
import type { LanceDbMemoryStore } from "../lancedb-memory-store.ts";
import type { Tables } from "../tables/tables.ts";
import { TableCopy } from "./table-copy.ts";
import { removeUpgradeCopies } from "../copies/upgrade-copy.ts";

/** The files of documents, as far as erasing them goes. */
export type Originals = Pick<DiskFileStore, "listUnneeded" | "removeUnneeded">;

export interface PurgeOptions {
  readonly originals: Originals;
  /** True for a purge in the background: it rests half of the time, and begins only with enough free space. */
  readonly isGentle?: () => boolean;
  readonly onProgress?: (progress: PurgeProgress) => void;
  readonly signal?: AbortSignal;
}

/** Takes what was deleted and replaced from the disk. */
export interface Purge {
  /** Waiting erasures, with those under way. */
  readonly waiting: UnpurgedRows | undefined;
  /**
   * Erases all that was deleted or replaced before the call. Reading and writing go on. Stopped anywhere it loses nothing.
   *
   * @throws {ServiceError} STORE_FULL without room for a copy of the tables; CONFLICT while another erasure runs.
   */
  run(options: PurgeOptions): Promise<PurgeReport>;
}

export interface PurgeParts {
  readonly disk: Disk;
  readonly directory: string;
  readonly store: LanceDbMemoryStore;
  readonly tables: Tables;
  readonly journal: Pick<Journal, "beginSegment">;
  readonly checkpointer: Pick<Checkpointer, "renew" | "note" | "roomNeeded">;
  readonly ledger: PurgeLedger;
}

/** Rest after each table, in times of what it took: 1 works half of the time, then on all cores. */
const GENTLE_REST = 1;
/** Left for the journal and its reserve when somebody asks for it on a full disk. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

export function createPurge(parts: PurgeParts): Purge {
  let isRunning = false;
  return {
    get waiting() {
      return parts.ledger.waiting;
    },
    async run(options) {
      if (isRunning) throw conflict("What was deleted is being erased already.");
      isRunning = true;
      const covered = parts.ledger.begin();
      try {
        const report = await purge(parts, options, covered);
        parts.ledger.end("erased");
        await parts.checkpointer.note();
        return report;
      } catch (error) {
        parts.ledger.end("failed");
        throw error;
      } finally {
        isRunning = false;
      }
    },
  };
}

async function purge(
  parts: PurgeParts,
  options: PurgeOptions,
  covered: UnpurgedRows | undefined,
): Promise<PurgeReport> {
  const { disk, directory, store, tables, journal, checkpointer } = parts;
  const { originals, isGentle = () => false, onProgress = () => {}, signal } = options;
  const unneeded = await originals.listUnneeded();
  // From here on the state without these rows is durable, and in every checkpoint that is written.
  await store.commit(() => ({ changes: [], result: undefined }));
  const journalBefore = await journalUsage(disk, directory);
  const copy = new TableCopy({
    disk,
    directory,
    tables,
    journal,
    keepFree: isGentle() ? checkpointer.roomNeeded : Math.min(LEAST_FREE_BYTES, checkpointer.roomNeeded),
    rest: () => (isGentle() ? GENTLE_REST : 0),
    onProgress,
    signal: signal === undefined ? store.closing : AbortSignal.any([signal, store.closing]),
  });
  await checkpointer.renew(copy);
  await removeUpgradeCopies(disk, directory);
  const removed = await originals.removeUnneeded(unneeded);

  const report = [];
  for (const copied of copy.copied) {
    const { table, before } = copied;
    report.push({ table, rows: covered?.rows[table] ?? 0, before, after: await copy.after(copied) });
  }
  return {
    tables: report,
    journal: { before: journalBefore, after: await journalUsage(disk, directory) },
    originals: { bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0), files: removed.length },
  };
}

/** Without what is kept free for the day the disk is full. */
async function journalUsage(disk: Disk, directory: string): Promise<DiskUsage> {
  const { bytes, files } = await usageBelow(disk, join(directory, "journal"));
  const reserve = await disk.size(join(directory, "journal", "reserve"));
  return reserve === undefined ? { bytes, files } : { bytes: bytes - reserve, files: files - 1 };
}
