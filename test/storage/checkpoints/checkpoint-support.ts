import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Change } from "../../../src/core/rows.ts";
import {
  chooseCheckpoint,
  type ChosenCheckpoint,
  tablesFolder,
} from "../../../src/storage/checkpoints/checkpoint.ts";
import { Checkpointer, type CheckpointerParts } from "../../../src/storage/checkpoints/checkpointer.ts";
import { type Disk, type DiskFile, listFilesBelow, nodeDisk } from "../../../src/storage/files/disk.ts";
import { openTablesAt, setAside } from "../../../src/storage/checkpoints/open-tables-at.ts";
import { COMPACTION_THRESHOLDS } from "../../../src/storage/tables/table-spec.ts";
import type { Tables } from "../../../src/storage/tables/tables.ts";

/** Compacts whenever it is asked. */
export const EAGER = { ...COMPACTION_THRESHOLDS, fragments: 2 };

/** A store without a journal's file and without a catalogue: just enough to write, flush, fall over and come back. */
export class SmallStore {
  readonly directory: string;
  readonly disk: PowerlessDisk;
  /** Survives a crash, like the real one. */
  readonly journal: { sequence: number; changes: readonly Change[] }[] = [];
  readonly reported: unknown[] = [];
  isInPlace = true;
  tables!: Tables;
  checkpointer!: Checkpointer;
  chosen: ChosenCheckpoint | undefined;
  #sequence = 0;
  #overlay = new Map<string, { change: Change; sequence: number }>();

  constructor(directory: string, disk = new PowerlessDisk()) {
    this.directory = directory;
    this.disk = disk;
  }

  async open(parts: Partial<CheckpointerParts> = {}): Promise<this> {
    this.chosen = await chooseCheckpoint(this.disk, this.directory, { hasJournal: this.journal.length > 0 });
    await setAside(this.disk, this.directory, this.chosen);
    this.tables = await openTablesAt(this.directory, this.chosen);
    this.#overlay = new Map();
    const from = this.chosen?.checkpoint.sequence ?? 0;
    const [oldest] = this.journal;
    if (oldest !== undefined && oldest.sequence > from + 1) throw new Error("the journal lacks records");
    for (const { sequence, changes } of this.journal) if (sequence > from) this.#take(sequence, changes);
    this.checkpointer = new Checkpointer({
      disk: this.disk,
      directory: this.directory,
      tables: {
        apply: (changes) => this.tables.apply(changes),
        states: () => this.tables.states(),
        compact: () => this.tables.compact(EAGER),
      },
      files: [],
      overlay: {
        snapshot: () => ({
          changes: Array.from(this.#overlay.values(), ({ change }) => change),
          sequence: this.#sequence,
        }),
        isPartial: false,
        release: async (upTo) => {
          for (const [key, { sequence }] of this.#overlay) if (sequence <= upTo) this.#overlay.delete(key);
        },
      },
      journal: {
        assertInPlace: async () => {
          if (!this.isInPlace) throw new Error("moved away");
        },
        dropThrough: async (sequence) => {
          while ((this.journal[0]?.sequence ?? Infinity) <= sequence) this.journal.shift();
        },
      },
      describe: () => ({
        storeId: "store",
        epoch: 1,
        stamps: {},
        analyserVersion: 1,
        clockFloor: this.#sequence,
        nextOrder: this.#sequence + 1,
      }),
      report: (error) => this.reported.push(error),
      openedAt: this.chosen,
      ...parts,
    });
    return this;
  }

  write(...changes: Change[]): void {
    const sequence = this.#sequence + 1;
    this.journal.push({ sequence, changes });
    this.#take(sequence, changes);
  }

  #take(sequence: number, changes: readonly Change[]): void {
    this.#sequence = sequence;
    for (const change of changes) this.#overlay.set(`${change.table} ${change.id}`, { change, sequence });
  }

  /** The salience of every id, as a reader sees it: the overlay over the tables. */
  async contents(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for await (const batch of this.tables.scan("signals")) {
      for (const { id, row } of batch) {
        if (found.has(id)) throw new Error(`${id} is there twice`);
        found.set(id, row.salience);
      }
    }
    for (const { change } of this.#overlay.values()) {
      if (change.table !== "signals") continue;
      if (change.row === null) found.delete(change.id);
      else found.set(change.id, change.row.salience);
    }
    return found;
  }

  /** As after kill -9: nothing is flushed. */
  async kill(): Promise<void> {
    await this.tables.close();
  }

  /** As after a power failure: files whose folder was not synced are gone, those not synced themselves full of zeros. */
  async cutPower(): Promise<void> {
    await this.kill();
    const folder = tablesFolder(this.directory);
    for (const path of await listFilesBelow(nodeDisk, folder)) {
      const file = join(folder, path);
      if (!this.disk.entered.has(file)) await rm(file);
      else if (!this.disk.synced.has(file))
        await writeFile(file, Buffer.alloc((await readFile(file)).length));
    }
    this.disk.recover();
  }
}

export function signals(id: string, salience: number | null): Change {
  return { table: "signals", id, row: salience === null ? null : { salience, lastSeenAt: 1 } };
}

/** Changes that add, change and delete, in three flushes' worth, the last of them left pending. */
export async function writeThreeTimes(store: SmallStore): Promise<void> {
  store.write(signals("a", 0.1), signals("b", 0.2));
  await store.checkpointer.flush();
  store.write(signals("a", 0.3), signals("c", 0.4));
  await store.checkpointer.flush();
  store.write(signals("b", null), signals("d", 0.5));
}

/**
 * Lets the power fail at one step of a flush after the other, until a flush gets through, and expects that nothing was
 * lost before the failure or after it.
 */
export async function failPowerAtEveryStep(
  store: SmallStore,
  { stride }: { readonly stride: number },
): Promise<void> {
  // Far enough in to have compacted, and to have left-overs to remove.
  await writeThreeTimes(store);
  await store.checkpointer.flush();
  const wanted = new Map(await store.contents());
  for (let step = 0, done = false; !done; step += stride) {
    store.write(signals("a", step), signals(`${step}`, 0.5), signals(`${step - stride}`, null));
    wanted
      .set("a", step)
      .set(`${step}`, 0.5)
      .delete(`${step - stride}`);
    store.disk.failAfter(step);
    done = await store.checkpointer.flush().then(
      () => true,
      () => false,
    );
    expect(await store.contents(), `before the failure at step ${step}`).toEqual(wanted);
    await store.cutPower();
    await store.open();
    expect(await store.contents(), `after the failure at step ${step}`).toEqual(wanted);
  }
  await store.checkpointer.flush();
  expect(await store.contents()).toEqual(wanted);
}

/** A disk that fails for good after some number of changes, and knows what was synced. */
export class PowerlessDisk implements Disk {
  readonly synced = new Set<string>();
  /** Files that stood in their folder when that was synced. */
  readonly entered = new Set<string>();
  changes = 0;
  #failAfter = Infinity;

  failAfter(changes: number): void {
    this.changes = 0;
    this.#failAfter = changes;
  }

  recover(): void {
    this.#failAfter = Infinity;
  }

  #change(): void {
    this.changes += 1;
    if (this.changes > this.#failAfter) throw new Error("the power is out");
  }

  async open(path: string, mode: "read" | "write" | "create"): Promise<DiskFile> {
    if (mode === "create") this.#change();
    const file = await nodeDisk.open(path, mode);
    return {
      ...file,
      write: async (bytes, position) => {
        this.#change();
        await file.write(bytes, position);
      },
      sync: async () => {
        this.#change();
        await file.sync();
        this.synced.add(path);
      },
    };
  }
  async rename(from: string, to: string): Promise<void> {
    this.#change();
    await nodeDisk.rename(from, to);
  }
  async link(from: string, to: string): Promise<void> {
    this.#change();
    await nodeDisk.link(from, to);
  }
  device = (path: string) => nodeDisk.device(path);
  async remove(path: string): Promise<void> {
    this.#change();
    await nodeDisk.remove(path);
  }
  async removeDirectory(path: string): Promise<void> {
    this.#change();
    await nodeDisk.removeDirectory(path);
  }
  async syncDirectory(path: string): Promise<void> {
    this.#change();
    await nodeDisk.syncDirectory(path);
    for (const { name } of await nodeDisk.list(path)) this.entered.add(join(path, name));
  }
  readFile = (path: string) => nodeDisk.readFile(path);
  list = (path: string) => nodeDisk.list(path);
  size = (path: string) => nodeDisk.size(path);
  makeDirectory = (path: string) => nodeDisk.makeDirectory(path);
  freeBytes = (path: string) => nodeDisk.freeBytes(path);
}

export async function checkpointFiles(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith("CHECKPOINT")).sort();
}

export const removeFolder = (directory: string) => rm(directory, { recursive: true, force: true });
