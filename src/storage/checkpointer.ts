import { join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import type { Change } from "../core/rows.ts";
import {
  type Checkpoint,
  type CheckpointedTable,
  type CheckpointHeader,
  type ChosenCheckpoint,
  tablesFolder,
  writeCheckpoint,
} from "./checkpoint.ts";
import { type Disk, listFilesBelow } from "./disk.ts";
import { asideFolder } from "./open-tables-at.ts";
import { COMPACTION_THRESHOLDS, type CompactionThresholds } from "./tables/compaction-thresholds.ts";
import { filesOfVersion, isVersionHint, SyncError, syncFiles, type TableFile } from "./tables/table-files.ts";
import type { Tables } from "./tables/tables.ts";

export interface CheckpointerParts {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  readonly tables: Pick<Tables, "apply" | "states" | "compact">;
  readonly overlay: {
    /** All that is pending, and the record that it is complete up to. */
    snapshot(): { readonly changes: readonly Change[]; readonly sequence: number };
    release(sequence: number): void;
  };
  readonly journal: { dropThrough(sequence: number): void | Promise<void> };
  /** Asked in the same turn as `snapshot`. */
  describe(): Omit<CheckpointHeader, "sequence">;
  /** Told of failures that nobody waits for. */
  report(error: unknown): void;
  /** What the store was opened at; undefined for a new one, whose first flush writes its first checkpoint. */
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

const DEFAULT_LIMITS: CheckpointerLimits = {
  rows: 10_000,
  bytes: 16 * 1024 ** 2,
  freeBytes: 256 * 1024 ** 2,
  compaction: COMPACTION_THRESHOLDS,
};
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
const ROOM_IS_FRESH_MS = 3_000;

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
  #running: Promise<void> | undefined;
  #following: Promise<void> | undefined;
  #failures = 0;
  #retryAt = 0;
  #stopped: Error | undefined;
  #closed = false;
  /** Files that no checkpoint named at the last look. A read that began before may still want one: gone at the next. */
  #leftOver = new Set<string>();
  #room: { readonly free: number; readonly at: number } | undefined;
  #askingForRoom = false;

  constructor(parts: CheckpointerParts) {
    this.#parts = parts;
    this.#limits = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#now = parts.now ?? (() => performance.now());
    this.#latest = parts.openedAt?.checkpoint;
    this.#older = parts.openedAt?.older;
    this.#nextNumber = parts.openedAt?.nextNumber ?? 1;
  }

  /** Of the last flush; undefined before a new store's first. */
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
    if (
      this.#running !== undefined ||
      this.#following !== undefined ||
      this.#closed ||
      this.#stopped !== undefined ||
      this.#now() < this.#retryAt
    )
      return;
    this.flush().catch((error: unknown) => this.#parts.report(error));
  }

  /**
   * Brings everything pending now into a checkpoint, after a flush that runs already.
   *
   * @throws whatever went wrong: what is pending stays so and is tried again.
   */
  flush(): Promise<void> {
    // Callers who come while one runs share the next. It is asked for first: in the turn between the two none may
    // slip in, because two at once remove each other's new files.
    if (this.#following !== undefined) return this.#following;
    if (this.#running === undefined) return this.#start();
    this.#following = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#following = undefined;
        return this.#start();
      });
    return this.#following;
  }

  /** After what runs. Flushes nothing: what is pending is in the journal. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([this.#running, this.#following]);
  }

  /**
   * Whether LanceDB has the room to write its largest table anew, with as much to spare: writes that add must stop
   * before it has not. As of a few seconds ago; true until first asked of the disk.
   */
  hasRoom(): boolean {
    const { at, free } = this.#room ?? { at: -Infinity, free: Infinity };
    if (this.#now() - at > ROOM_IS_FRESH_MS) this.#askForRoom();
    return free >= this.#roomNeeded();
  }

  #roomNeeded(): number {
    const sizes = (this.#latest?.tables ?? []).map(({ files }) =>
      files.reduce((sum, { size }) => sum + size, 0),
    );
    return Math.max(this.#limits.freeBytes, 2 * Math.max(0, ...sizes));
  }

  #askForRoom(): void {
    if (this.#askingForRoom) return;
    this.#askingForRoom = true;
    this.#parts.disk
      .freeBytes(this.#parts.directory)
      .then((free) => {
        this.#room = { free, at: this.#now() };
      })
      .catch((error: unknown) => this.#parts.report(error))
      .finally(() => {
        this.#askingForRoom = false;
      });
  }

  #start(): Promise<void> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    if (this.#closed) return Promise.reject(new ServiceError("NOT_READY", "the store is closing"));
    this.#running = this.#flushNow()
      .then(
        () => {
          this.#failures = 0;
          this.#retryAt = 0;
        },
        (error: unknown) => {
          this.#noteFailure(error);
          throw error;
        },
      )
      .finally(() => {
        this.#running = undefined;
        // As much may have come meanwhile.
        this.notePending(0, 0);
      });
    return this.#running;
  }

  #noteFailure(error: unknown): void {
    if (error instanceof SyncError) this.#stopped = error;
    this.#retryAt = this.#now() + Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LAST_RETRY_MS);
    this.#failures += 1;
  }

  async #flushNow(): Promise<void> {
    const { tables, overlay } = this.#parts;
    const taken = this.#pending;
    const snapshot = overlay.snapshot();
    // An overlay that has seen no record since the start knows no sequence yet.
    const sequence = Math.max(snapshot.sequence, this.#latest?.sequence ?? 0);
    const header = { ...this.#parts.describe(), sequence };
    if (this.#latest !== undefined && snapshot.changes.length === 0 && sequence === this.#latest.sequence)
      return;

    if (snapshot.changes.length > 0) await tables.apply(snapshot.changes);
    await this.#writeCheckpoint(header);
    overlay.release(sequence);
    this.#pending = { rows: this.#pending.rows - taken.rows, bytes: this.#pending.bytes - taken.bytes };
    // From here on everything is safe; what fails is done by the next flush.
    if (this.#older !== undefined) await this.#parts.journal.dropThrough(this.#older.sequence);
    if (await tables.compact(this.#limits.compaction)) await this.#writeCheckpoint(header);
    await this.#removeLeftOvers();
  }

  async #writeCheckpoint(header: CheckpointHeader): Promise<void> {
    const { disk, directory } = this.#parts;
    const folder = tablesFolder(directory);
    const known = new Map(this.#namedFiles().map((file) => [file.path, file]));
    const tables: CheckpointedTable[] = [];
    for (const state of await this.#parts.tables.states()) {
      const paths = await filesOfVersion(disk, folder, state);
      tables.push({ ...state, files: await syncFiles(disk, folder, paths, known) });
    }
    const checkpoint = { ...header, number: this.#nextNumber, tables };
    // Taken even if this fails: the file may be there, and a name never stands for two checkpoints.
    this.#nextNumber += 1;
    await writeCheckpoint(disk, directory, checkpoint, this.#latest);
    this.#older = this.#latest;
    this.#latest = checkpoint;
  }

  /**
   * Removes files that neither kept checkpoint names, from the second time they are found so; they were there before
   * the checkpoint was, so nothing that LanceDB still writes is among them.
   */
  async #removeLeftOvers(): Promise<void> {
    const { disk, directory } = this.#parts;
    const named = new Set(this.#namedFiles().map(({ path }) => path));
    const leftOver = new Set<string>();
    for (const { name } of this.#latest?.tables ?? []) {
      const folder = `${name}.lance`;
      for (const file of await listFilesBelow(disk, join(tablesFolder(directory), folder))) {
        const path = `${folder}/${file}`;
        if (named.has(path) || isVersionHint(path)) continue;
        if (this.#leftOver.has(path)) await disk.remove(join(tablesFolder(directory), path));
        else leftOver.add(path);
      }
    }
    this.#leftOver = leftOver;
    // What was set aside at the start is in the tables again, and in a checkpoint.
    for (const path of await listFilesBelow(disk, asideFolder(directory))) {
      await disk.remove(join(asideFolder(directory), path));
    }
  }

  #namedFiles(): TableFile[] {
    return [this.#latest, this.#older].flatMap((kept) => kept?.tables ?? []).flatMap(({ files }) => files);
  }
}
