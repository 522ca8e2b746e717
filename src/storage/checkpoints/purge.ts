import { join } from "node:path";
import { setImmediate as turnOfOthers, setTimeout as sleep } from "node:timers/promises";
import type { PurgeProgress, DiskUsage, PurgeReport, UnpurgedRows } from "../../core/status.ts";
import { conflict, storeFull } from "../../core/errors.ts";
import { tablesFolder } from "./checkpoint.ts";
import type { Checkpointer, Generation } from "./checkpointer.ts";
import { type Disk, removeTree, usageBelow } from "../files/disk.ts";
import type { DiskFileStore } from "../files/disk-file-store.ts";
import type { PurgeLedger } from "./purge-ledger.ts";
import type { Journal } from "../journal/journal.ts";
import type { IndexedMemoryStore } from "../indexed-memory-store.ts";
import type { CopiedTable } from "../tables/next-generation.ts";
import type { Tables } from "../tables/tables.ts";
import type { SomeRowFiles } from "../tables/row-files.ts";

/** The files of documents, as far as erasing them goes. */
export type Originals = Pick<DiskFileStore, "listUnneeded" | "removeUnneeded">;

export interface PurgeOptions {
  readonly originals: Originals;
  /** True for a purge in the background: it rests half of the time, and begins only with enough free space. */
  readonly isGentle?: () => boolean;
  readonly onProgress?: (progress: PurgeProgress) => void;
  readonly signal?: AbortSignal;
}

export interface PurgeParts {
  readonly disk: Disk;
  readonly directory: string;
  readonly store: IndexedMemoryStore;
  readonly tables: Tables;
  readonly files: readonly Pick<SomeRowFiles, "name" | "rewrite" | "usage">[];
  readonly journal: Pick<Journal, "beginSegment">;
  readonly checkpointer: Pick<Checkpointer, "renew" | "note" | "roomNeeded">;
  readonly ledger: PurgeLedger;
}

/** Left for the journal and its reserve when somebody asks for it on a full disk. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

export type Purge = ReturnType<typeof createPurge>;

/** Takes what was deleted and replaced from the disk. */
export function createPurge(parts: PurgeParts) {
  let isRunning = false;
  return {
    /** Waiting erasures, with those under way. */
    get waiting(): UnpurgedRows | undefined {
      return parts.ledger.waiting;
    },
    /**
     * Erases all that was deleted or replaced before the call. Reading and writing go on. Stopped anywhere it loses nothing.
     *
     * @throws {ServiceError} STORE_FULL without room for a copy of the tables; CONFLICT while another erasure runs.
     */
    async run(options: PurgeOptions): Promise<PurgeReport> {
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
  const { disk, directory, store, checkpointer } = parts;
  const { originals } = options;
  const unneeded = await originals.listUnneeded();
  // From here on the state without these rows is durable, and in every checkpoint that is written.
  await store.commit(() => ({ changes: [], result: undefined }));
  const journalBefore = await journalUsage(disk, directory);
  const copy = new TableCopy(parts, options);
  await checkpointer.renew(copy);
  const removed = await originals.removeUnneeded(unneeded);

  const report: PurgeReport["tables"][number][] = [];
  for (const [i, copied] of copy.copied.entries()) {
    const { table } = copied;
    const [before, after] = [copy.before[i] ?? { bytes: 0, files: 0 }, await copy.after(copied)];
    report.push({ table, rows: covered?.rows[table] ?? 0, before, after });
  }
  for (const [i, { name: table, usage: after }] of parts.files.entries()) {
    const before = copy.filesBefore[i] ?? after;
    const rows = covered?.rows[table === "texts" ? "memories" : table] ?? 0;
    if (before.files > 0) report.push({ table, rows, before, after });
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

/** Copies the survivors of every table into a new generation. */
class TableCopy implements Generation {
  readonly #parts: PurgeParts;
  readonly #options: PurgeOptions;
  readonly #signal: AbortSignal;
  /** Free bytes below which copying is not begun, and stops. */
  readonly #keepFree: number;
  /** Of `files`. */
  readonly filesBefore: readonly DiskUsage[];
  /** The tables, and what their files took before. */
  copied: readonly CopiedTable[] = [];
  readonly before: DiskUsage[] = [];
  #done = 0;

  constructor(parts: PurgeParts, options: PurgeOptions) {
    const { checkpointer, store, files } = parts;
    const { signal, isGentle } = options;
    this.#parts = parts;
    this.filesBefore = files.map(({ usage }) => usage);
    this.#options = options;
    this.#signal = signal === undefined ? store.closing : AbortSignal.any([signal, store.closing]);
    this.#keepFree =
      isGentle?.() === true ? checkpointer.roomNeeded : Math.min(LEAST_FREE_BYTES, checkpointer.roomNeeded);
  }

  async copy(): Promise<void> {
    const { disk, tables, files } = this.#parts;
    this.#signal.throwIfAborted();
    this.copied = await tables.generation("startGeneration");
    let needed = this.filesBefore.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { name, rows, storedRows } of this.copied) {
      const before = await usageBelow(disk, this.#folderOf(name));
      this.before.push(before);
      needed += before.bytes * Math.min(1, rows / Math.max(1, storedRows));
    }
    await this.#assertFree(needed);
    this.#report("copying");
    for (;;) {
      this.#signal.throwIfAborted();
      const startedAt = performance.now();
      const rows = await tables.generation("copyTable");
      if (rows === undefined) break;
      this.#done += rows;
      this.#report("copying");
      await this.#assertFree(0);
      // A gentle one works half of the time, then on all cores.
      const pause = performance.now() - startedAt;
      if (this.#options.isGentle?.() !== true) await turnOfOthers();
      else await sleep(pause, undefined, { signal: this.#signal });
    }
    // In use at once, since they have all that is live; a checkpoint names them with the copies, or a later one does.
    for (const rows of files) await rows.rewrite(this.#signal);
  }

  async switch(): Promise<void> {
    const { tables, journal } = this.#parts;
    this.#signal.throwIfAborted();
    this.#report("switching");
    // Records that are not in the copies yet are in the journal from here on; earlier ones can go.
    await journal.beginSegment();
    await tables.generation("switchGeneration");
  }

  async abandon(mayBeNamed: boolean): Promise<void> {
    const { disk, tables } = this.#parts;
    await tables.generation("abandonGeneration");
    if (mayBeNamed) return;
    for (const { copy } of this.copied) await removeTree(disk, this.#folderOf(copy));
  }

  async end(): Promise<void> {
    await this.#parts.tables.generation("endGeneration");
    this.#report("removing");
  }

  after({ copy }: CopiedTable): Promise<DiskUsage> {
    return usageBelow(this.#parts.disk, this.#folderOf(copy));
  }

  #folderOf(name: string): string {
    return join(tablesFolder(this.#parts.directory), `${name}.lance`);
  }

  #report(stage: PurgeProgress["stage"]): void {
    const total = this.copied.reduce((sum, { rows }) => sum + rows, 0);
    this.#options.onProgress?.({ stage, done: Math.min(this.#done, total), total });
  }

  async #assertFree(needed: number): Promise<void> {
    const { disk, directory } = this.#parts;
    const keepFree = this.#keepFree;
    const free = await disk.freeBytes(directory);
    if (free >= needed + keepFree) return;
    const wanted = needed === 0 ? keepFree : needed + keepFree;
    throw storeFull(
      `Erasing writes the tables anew, for which ${inMegabytes(wanted)} must be free on the disk, and ${inMegabytes(free)} are. ` +
        "Nothing was changed. Free some space and try again.",
    );
  }
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
