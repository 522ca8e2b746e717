import { join } from "node:path";
import { setImmediate as turnOfOthers, setTimeout as sleep } from "node:timers/promises";
import type { DiskUsage, PurgeProgress } from "../../core/purge.ts";
import { storeFull } from "../../core/errors.ts";
import type { TableName } from "../../core/rows.ts";
import { tablesFolder } from "./checkpoint.ts";
import { type Disk, listFilesBelow, removeTree, usageBelow } from "../files/disk.ts";
import type { CopiedTable } from "../tables/next-generation.ts";
import { filesOfVersion, isVersionHint } from "../tables/table-files.ts";
import type { TableState } from "../tables/table-spec.ts";
import type { Tables } from "../tables/tables.ts";

export interface TableCopyParts {
  readonly disk: Disk;
  readonly directory: string;
  readonly tables: Pick<Tables, "generation">;
  readonly journal: { beginSegment(): Promise<void> };
  /** Free bytes below which copying is not begun, and stops. */
  readonly keepFree: number;
  /** Rest between tables, in times of what a table took; 0 for as fast as it goes. */
  readonly rest: () => number;
  readonly onProgress: (progress: PurgeProgress) => void;
  readonly signal: AbortSignal;
}

/** Copies the survivors of every table into a new generation. */
export class TableCopy {
  readonly #parts: TableCopyParts;
  #copied: readonly CopiedTable[] = [];
  #before = new Map<string, DiskUsage>();
  #done = 0;

  constructor(parts: TableCopyParts) {
    this.#parts = parts;
  }

  /** The tables, and what their files took before. */
  get copied(): readonly (CopiedTable & { readonly before: DiskUsage })[] {
    return this.#copied.map((table) => ({
      ...table,
      before: this.#before.get(table.name) ?? { bytes: 0, files: 0 },
    }));
  }

  /** To be called when nothing is being written and the tables hold all that came before. */
  async begin(): Promise<void> {
    const { disk, tables, signal } = this.#parts;
    signal.throwIfAborted();
    this.#copied = await tables.generation("startGeneration");
    for (const { name } of this.#copied) this.#before.set(name, await usageBelow(disk, this.#folderOf(name)));
    const copies = this.copied.map(
      ({ rows, storedRows, before }) => before.bytes * Math.min(1, rows / Math.max(1, storedRows)),
    );
    await this.#assertFree(copies.reduce((sum, bytes) => sum + bytes, 0));
    this.#report("copying");
  }

  async copy(): Promise<readonly TableState[]> {
    const { tables, rest, signal } = this.#parts;
    for (;;) {
      signal.throwIfAborted();
      const startedAt = performance.now();
      const rows = await tables.generation("copyTable");
      if (rows === undefined) return await this.#withoutSteps(await tables.generation("generationStates"));
      this.#done += rows;
      this.#report("copying");
      await this.#assertFree(0);
      const pause = rest() * (performance.now() - startedAt);
      if (pause === 0) await turnOfOthers();
      else await sleep(pause, undefined, { signal });
    }
  }

  /** When nothing is being written: brings in what changed since `begin`; from then on the tables are the copies. */
  async switch(changed: ReadonlyMap<TableName, ReadonlySet<string>>): Promise<void> {
    const { tables, journal, signal } = this.#parts;
    signal.throwIfAborted();
    this.#report("switching");
    // Records that are not in the copies yet are in the journal from here on; earlier ones can go.
    await journal.beginSegment();
    for (const [table, ids] of changed) await tables.generation("catchUp", table, [...ids]);
    await tables.generation("switchGeneration");
  }

  /** @param mayBeNamed a checkpoint that names the copies may be on the disk: their files stay. */
  async abandon(mayBeNamed: boolean): Promise<void> {
    const { disk, tables } = this.#parts;
    await tables.generation("abandonGeneration");
    if (mayBeNamed) return;
    for (const { copy } of this.#copied) await removeTree(disk, this.#folderOf(copy));
  }

  async end(): Promise<void> {
    await this.#parts.tables.generation("endGeneration");
    this.#report("removing");
  }

  /** Removes what the copies were made of on the way: nobody reads it, and no checkpoint names it. */
  async #withoutSteps(states: readonly TableState[]): Promise<readonly TableState[]> {
    const { disk, directory } = this.#parts;
    const folder = tablesFolder(directory);
    for (const state of states) {
      const named = new Set(await filesOfVersion(disk, folder, state));
      for (const file of await listFilesBelow(disk, this.#folderOf(state.name))) {
        const path = `${state.name}.lance/${file}`;
        if (!named.has(path) && !isVersionHint(path)) await disk.remove(join(folder, path));
      }
    }
    return states;
  }

  after({ copy }: CopiedTable): Promise<DiskUsage> {
    return usageBelow(this.#parts.disk, this.#folderOf(copy));
  }

  #folderOf(name: string): string {
    return join(tablesFolder(this.#parts.directory), `${name}.lance`);
  }

  #report(stage: PurgeProgress["stage"]): void {
    const total = this.#copied.reduce((sum, { rows }) => sum + rows, 0);
    this.#parts.onProgress({ stage, done: Math.min(this.#done, total), total });
  }

  async #assertFree(needed: number): Promise<void> {
    const { disk, directory, keepFree } = this.#parts;
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
