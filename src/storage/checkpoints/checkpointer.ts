import { setImmediate as nextTurn } from "node:timers/promises";
import { inTurns } from "../../core/at-once.ts";
import { conflict, notReady } from "../../core/errors.ts";
import type { Change } from "../../core/rows.ts";
import {
  type Checkpoint,
  type CheckpointedTable,
  type CheckpointHeader,
  type ChosenCheckpoint,
  tablesFolder,
  writeCheckpoint,
} from "./checkpoint.ts";
import type { Overlay } from "../catalogue/overlay.ts";
import type { Disk } from "../files/disk.ts";
import { LEAST_FREE_BYTES, roomNeededFor } from "../files/disk-space.ts";
import { LeftOvers } from "./open-tables-at.ts";
import { COMPACTION_THRESHOLDS, type CompactionThresholds } from "../tables/table-spec.ts";
import { filesOfVersion, SyncError, syncFiles, type TableFile } from "../tables/table-files.ts";
import type { Journal } from "../journal/journal.ts";
import type { Tables } from "../tables/tables.ts";
import type { SomeRowFiles } from "../tables/row-files.ts";

export interface CheckpointerParts {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  readonly tables: Pick<Tables, "apply" | "states" | "compact">;
  readonly files: readonly Pick<SomeRowFiles, "apply" | "table">[];
  readonly overlay: Pick<Overlay, "snapshot" | "release" | "isPartial">;
  readonly journal: Pick<Journal, "assertInPlace"> & {
    /** As `Journal.dropThrough`. */
    dropThrough(sequence: number, isPurge: boolean): Promise<void>;
  };
  /** Asked in the same turn as `snapshot`. */
  describe(): Omit<CheckpointHeader, "sequence">;
  /** Receives failures that no caller waits for. */
  report(error: unknown): void;
  /** The checkpoint that the store was opened at; undefined for a new store, whose first flush writes one. */
  readonly openedAt: ChosenCheckpoint | undefined;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly limits?: Partial<CheckpointerLimits>;
}

export interface CheckpointerLimits {
  /** Pending changes, and their bytes, at which a flush begins: every flush costs each table a fragment. */
  readonly rows: number;
  readonly bytes: number;
  /** Least room LanceDB is left to work in. */
  readonly freeBytes: number;
  readonly compaction: CompactionThresholds;
}

/** Contents of the checkpoint to be written. */
interface Pending {
  readonly changes: readonly Change[];
  readonly header: CheckpointHeader;
  readonly size: { readonly rows: number; readonly bytes: number };
}

const DEFAULT_LIMITS: CheckpointerLimits = {
  rows: 10_000,
  bytes: 16 * 1024 ** 2,
  freeBytes: LEAST_FREE_BYTES,
  compaction: COMPACTION_THRESHOLDS,
};
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/** A copy of all tables, which takes their place. Nothing is written to the tables until it has ended. */
export interface Generation {
  copy(): Promise<void>;
  /** From then on the tables are the copies. */
  switch(): Promise<void>;
  /** @param mayBeNamed a checkpoint that names the copies may be on the disk: their files stay. */
  abandon(mayBeNamed: boolean): Promise<void>;
  end(): Promise<void>;
}

/**
 * Brings the overlay into the tables and makes that durable, in this order: apply, sync, CHECKPOINT, release, drop
 * journal; then upkeep, with a checkpoint of its own; then, and only then, removal of files that neither kept checkpoint
 * names. Stopped anywhere, the newest CHECKPOINT and the journal since still hold everything.
 */
export class Checkpointer {
  readonly #parts: CheckpointerParts;
  readonly #limits: CheckpointerLimits;
  readonly #now: () => number;
  #latest: Checkpoint | undefined;
  #older: Checkpoint | undefined;
  #nextNumber: number;
  #pending = { rows: 0, bytes: 0 };
  /** One piece of work at a time: two at once remove each other's new files. */
  readonly #inTurn = inTurns();
  #isRunning = false;
  /** A flush that waits for its turn; those who ask meanwhile share it. */
  #next: Promise<void> | undefined;
  #failures = 0;
  #retryAt = 0;
  #stopped: Error | undefined;
  #closed = false;
  #isRenewing = false;
  /** A backup is being made: of this checkpoint, whose files stay until then, once it is written. */
  #held: { checkpoint?: Checkpoint | undefined } | undefined;
  readonly #leftOvers: LeftOvers;

  constructor(parts: CheckpointerParts) {
    this.#parts = parts;
    this.#limits = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#now = parts.now ?? (() => performance.now());
    this.#leftOvers = new LeftOvers(parts.disk, parts.directory);
    this.#latest = parts.openedAt?.checkpoint;
    this.#older = parts.openedAt?.older;
    this.#nextNumber = parts.openedAt?.nextNumber ?? 1;
  }

  /** Checkpoint of the last flush; undefined before a new store's first. */
  get latest(): Checkpoint | undefined {
    return this.#latest;
  }

  /** Why no checkpoint will be written until a restart: a sync failed. Reading goes on, and the journal keeps it all. */
  get stopped(): Error | undefined {
    return this.#stopped;
  }

  /** More is pending. Begins a flush when it is enough, but not sooner after a failure than its delay. */
  notePending(rows: number, bytes: number): void {
    this.#pending = { rows: this.#pending.rows + rows, bytes: this.#pending.bytes + bytes };
    const { rows: maxRows, bytes: maxBytes } = this.#limits;
    if (this.#pending.rows < maxRows && this.#pending.bytes < maxBytes) return;
    const isUnderWay = this.#isRunning || this.#next !== undefined;
    if (isUnderWay || this.#closed || this.#stopped !== undefined || this.#now() < this.#retryAt) return;
    this.flush().catch((error: unknown) => this.#parts.report(error));
  }

  /** Brings all that is pending into a checkpoint. @throws whatever went wrong: it is tried again. */
  flush(): Promise<void> {
    this.#next ??= this.#inTurn(() => {
      this.#next = undefined;
      return this.#run(() => this.#flushNow());
    });
    return this.#next;
  }

  /** After what runs. Flushes nothing: what is pending is in the journal. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#inTurn(async () => {});
  }

  /**
   * Writes the tables anew and makes the new ones the store's: in both checkpoints, with the old ones and the journal before
   * them gone. Reads and writes go on, and wait for the next checkpoint in the journal and the overlay. Stopped anywhere, one
   * generation or the other is whole. Never twice at once.
   *
   * @throws whatever went wrong. The old tables are in use then, or, where that was the removal of their files, the new.
   */
  async renew(generation: Generation): Promise<void> {
    if (this.#held !== undefined) throw conflict("A backup is being made; try again when it is done.");
    this.#isRenewing = true;
    const renew = async () => {
      await this.#flushNow();
      await this.#replaceTables(generation);
    };
    await this.#inTurn(() => this.#run(renew)).finally(() => (this.#isRenewing = false));
  }

  /** A checkpoint of what there is, also when nothing is new but what `describe` says. */
  note(): Promise<void> {
    return this.#inTurn(() => this.#run(() => this.#flushNow({ always: true })));
  }

  /** A checkpoint whose files stay until `release`. @throws {ServiceError} CONFLICT while another is held. */
  async hold() {
    if (this.#isRenewing) throw conflict("Deleted data is being purged; make the backup when that is done.");
    if (this.#held !== undefined) throw conflict("A backup is being made already.");
    const held: { checkpoint?: Checkpoint | undefined } = (this.#held = {});
    const release = () => {
      if (this.#held === held) this.#held = undefined;
    };
    try {
      const flush = async () => {
        await this.#flushNow();
        held.checkpoint = this.#latest;
      };
      await this.#inTurn(() => this.#run(flush));
      return { checkpoint: held.checkpoint as Checkpoint, release } as const;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Bytes that must be free for writes that add: LanceDB writes its largest table anew, with as much to spare. */
  get roomNeeded(): number {
    return roomNeededFor(this.#latest?.tables ?? [], this.#limits.freeBytes);
  }

  /** Does work whose turn it is. */
  async #run(work: () => Promise<void>): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped;
    if (this.#closed) throw notReady("the store is closing");
    this.#isRunning = true;
    try {
      await this.#parts.journal.assertInPlace();
      await work();
      this.#failures = 0;
      this.#retryAt = 0;
    } catch (error) {
      if (error instanceof SyncError) this.#stopped = error;
      this.#retryAt = this.#now() + Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LAST_RETRY_MS);
      this.#failures += 1;
      throw error;
    } finally {
      this.#isRunning = false;
      // Enough for another flush may have been written meanwhile.
      this.notePending(0, 0);
    }
  }

  async #flushNow({ always = false } = {}): Promise<void> {
    const { tables, journal } = this.#parts;
    const taken = await this.#takePending();
    const { changes, header } = taken;
    const isNew = changes.length > 0 || header.sequence !== this.#latest?.sequence;
    if (!isNew && !always) {
      // A large record is noted as pending after it can be read, and a flush between the two took it along.
      this.#settle(taken);
      return;
    }

    await this.#apply(changes);
    await this.#writeCheckpoint(header);
    await this.#release(taken);
    // From here on everything is safe; what fails is done by the next flush.
    if (this.#older !== undefined) await journal.dropThrough(this.#older.sequence, false);
    // What is about to be copied need not be compacted.
    if (this.#isRenewing) return;
    if (await tables.compact(this.#limits.compaction)) await this.#writeCheckpoint(header);
    await this.#leftOvers.remove(this.#namedPaths());
  }

  async #replaceTables(generation: Generation): Promise<void> {
    const { journal } = this.#parts;
    let taken: Pending;
    let mayBeNamed = false;
    try {
      await generation.copy();
      await generation.switch();
      taken = await this.#takePending();
      await this.#apply(taken.changes);
      mayBeNamed = true;
      await this.#writeCheckpoint(taken.header);
    } catch (error) {
      // Logged, not thrown: the reason for abandoning matters more.
      await generation.abandon(mayBeNamed).catch((failure: unknown) => this.#parts.report(failure));
      throw error;
    }
    await this.#release(taken);
    await generation.end();
    // Once more, so that the older checkpoint does not name the old tables either.
    await this.#writeCheckpoint(taken.header);
    try {
      await journal.dropThrough(taken.header.sequence, true);
    } finally {
      await this.#leftOvers.removeTables(this.#namedPaths());
    }
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    await this.#parts.tables.apply(changes);
    for (const rows of this.#parts.files) await rows.apply(changes);
  }

  /** The pending work as of the last record. */
  async #takePending(): Promise<Pending> {
    // A backup has no journal that would complete a record.
    while (this.#parts.overlay.isPartial) await nextTurn();
    const { changes, sequence } = this.#parts.overlay.snapshot();
    return {
      changes,
      // An overlay that has seen no record since the start knows no sequence yet.
      header: { ...this.#parts.describe(), sequence: Math.max(sequence, this.#latest?.sequence ?? 0) },
      size: this.#pending,
    };
  }

  async #release(taken: Pending): Promise<void> {
    await this.#parts.overlay.release(taken.header.sequence);
    this.#settle(taken);
  }

  #settle({ size }: Pending): void {
    this.#pending = { rows: this.#pending.rows - size.rows, bytes: this.#pending.bytes - size.bytes };
  }

  async #writeCheckpoint(header: CheckpointHeader): Promise<void> {
    const { disk, directory } = this.#parts;
    const tables = await this.#namedTables();
    const checkpoint = { ...header, number: this.#nextNumber, tables };
    // Taken even if this fails: the file may be there, and a name never stands for two checkpoints.
    this.#nextNumber += 1;
    await writeCheckpoint(disk, directory, checkpoint, this.#latest);
    this.#older = this.#latest;
    this.#latest = checkpoint;
  }

  /** The tables as they are, with their files, synced. */
  async #namedTables(): Promise<CheckpointedTable[]> {
    const { disk, directory, tables, files } = this.#parts;
    const folder = tablesFolder(directory);
    const known = new Map(this.#namedFiles().map((file) => [file.path, file]));
    // Beside each other, since each piece of a file waits for a turn of the event loop. All end before one that failed does.
    const named = await Promise.allSettled(
      [...(await tables.states()), ...files.flatMap((rows) => rows.table ?? [])].map(async (table) => {
        const [state, paths] =
          "state" in table ? [table.state, table.paths] : [table, await filesOfVersion(disk, folder, table)];
        return { ...state, files: await syncFiles(disk, folder, paths, known) };
      }),
    );
    const failures = named.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
    // A sync that failed is never repeated, whatever else failed beside it.
    const failure = failures.find((error) => error instanceof SyncError) ?? failures[0];
    if (failure !== undefined) throw failure;
    return named.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  #namedFiles(): TableFile[] {
    return [this.#latest, this.#older, this.#held?.checkpoint]
      .flatMap((kept) => kept?.tables ?? [])
      .flatMap(({ files }) => files);
  }

  #namedPaths(): Set<string> {
    return new Set(this.#namedFiles().map(({ path }) => path));
  }
}
