import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type ServiceError, storeUnusable } from "../../core/errors.ts";
import { type ChosenCheckpoint, NOTHING_LOST, tablesFolder } from "./checkpoint.ts";
import { type Disk, listFilesBelow, removeTree } from "../files/disk.ts";
import { isVersionHint, moveOthers } from "../tables/table-files.ts";
import { generationName, generationOf, lanceTables, tableOf } from "../tables/table-spec.ts";
import type { StoreIndexes, StoreLog } from "../store-indexes.ts";
import { RowFiles } from "../tables/row-files.ts";
import type { RowFormat } from "../tables/specs.ts";
import { openTables, type Tables, type TablesOptions } from "../tables/tables.ts";

/** Files that no kept checkpoint names, a folder for each start, until the next checkpoint is written. */
function asideFolder(directory: string): string {
  return join(directory, "set-aside");
}

/**
 * Moves what neither a checkpoint nor the one before names out of the tables, so that these open at exactly that one. The
 * journal has those rows; but a newer checkpoint that was passed over may name the files, and its rows may be needed yet.
 *
 * @returns what puts them back, as long as nothing was written to the tables since.
 */
export async function setAside(
  disk: Disk,
  directory: string,
  chosen: ChosenCheckpoint | undefined,
): Promise<() => Promise<void>> {
  const folder = tablesFolder(directory);
  const aside = join(asideFolder(directory), randomUUID());
  const kept = [chosen?.checkpoint, chosen?.older].flatMap((checkpoint) => checkpoint?.tables ?? []);
  const keep = new Set(kept.flatMap(({ files }) => files.map(({ path }) => path)));
  await disk.makeDirectory(folder);
  await moveOthers(disk, folder, aside, keep);
  return async () => {
    await moveOthers(disk, aside, folder);
    await removeTree(disk, aside);
  };
}

/**
 * Opens the tables of a data directory at exactly a checkpoint, once others are set aside. Tables that are lost are left out.
 *
 * @param options.onFailure is told once if the tables' thread ends unasked.
 * @throws {ServiceError} STORE_UNUSABLE if a table is not what the checkpoint says. Never an empty table in its place.
 */
export async function openTablesAt(
  directory: string,
  chosen: ChosenCheckpoint | undefined,
  { onFailure, sizes }: Pick<TablesOptions, "onFailure" | "sizes"> = {},
): Promise<Tables> {
  try {
    const { lost, unindexed } = chosen ?? NOTHING_LOST;
    const isLost = (table: string | undefined) => (lost as ReadonlySet<string | undefined>).has(table);
    const states = lanceTables(chosen?.checkpoint.tables ?? []).filter(({ name }) => !isLost(tableOf(name)));
    return await openTables(tablesFolder(directory), states, { onFailure, sizes, unindexed: [...unindexed] });
  } catch (error) {
    throw unreadable(directory, error);
  }
}

/** For tables that cannot be opened or read. */
export function unreadable(directory: string, error: unknown): ServiceError {
  return storeUnusable(
    `The tables of the store in ${directory} cannot be read: ${error instanceof Error ? error.message : String(error)}. ` +
      "Nothing was deleted. Look at the disk; if it is sound, restore the folder from a backup, or write what can be read " +
      "to an export with `memoryd doctor --salvage FOLDER`.",
    { cause: error },
  );
}

/**
 * Opens the files of rows that a checkpoint names. Where they are lost or damaged there are none: they are made again.
 */
export async function openRowsAt<T extends "tokens" | "memories">(
  format: RowFormat<T>,
  {
    disk,
    directory,
    log,
  }: { readonly disk: Disk; readonly directory: string; readonly log: Pick<StoreLog, "info" | "warn"> },
  chosen: ChosenCheckpoint | undefined,
): Promise<RowFiles<T>> {
  const folder = tablesFolder(directory);
  const table = chosen?.checkpoint.tables.find(({ name }) => tableOf(name) === format.name);
  if (chosen === undefined || table === undefined) return new RowFiles(format, disk, folder);
  if (!chosen.lost.has(format.name)) {
    const opened = await RowFiles.open(format, disk, folder, table).catch((error: Error) => error);
    if (opened instanceof RowFiles) return opened;
    log.warn({ reason: opened.message }, "damaged file");
  }
  log.info({ memories: table.rows }, `${format.key} are made again`);
  return new RowFiles(format, disk, folder, generationName(format.name, (generationOf(table.name) ?? 0) + 1));
}

/**
 * Copies the rows of memories that the files lack from their table, as after damage; answers whether there were any. What is
 * pending comes with the next checkpoint.
 */
export async function copyTexts(
  texts: RowFiles<"memories">,
  tables: Pick<Tables, "scan">,
  { catalogue, overlay }: Pick<StoreIndexes, "catalogue" | "overlay">,
  hasRoom: () => Promise<boolean>,
): Promise<boolean> {
  const lacking = new Set<string>();
  for (let ordinal = 0; ordinal < catalogue.ordinals; ordinal += 1) {
    const id = texts.has(ordinal) ? undefined : catalogue.idAt(ordinal);
    if (id !== undefined && overlay.get("memories", id) === undefined) lacking.add(id);
  }
  if (lacking.size === 0 || !(await hasRoom())) return false;
  for await (const batch of tables.scan("memories"))
    await texts.apply(
      batch.filter(({ id }) => lacking.has(id)).map(({ id, row }) => ({ table: "memories", id, row })),
    );
  return true;
}

/** Files of the tables that no kept checkpoint names, and their removal. */
export class LeftOvers {
  readonly #disk: Disk;
  readonly #directory: string;
  /** Found so at the last look. A read that began before may still want one: gone at the next. */
  #found = new Set<string>();

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /**
   * Removes what `named` does not have, from the second time it is found so; it was there before the checkpoint was, so
   * nothing that LanceDB still writes is among it. What was set aside goes at once: nobody reads it.
   */
  async remove(named: ReadonlySet<string>): Promise<void> {
    const folder = tablesFolder(this.#directory);
    const found = new Set<string>();
    for (const path of await listFilesBelow(this.#disk, folder)) {
      if (named.has(path) || isVersionHint(path)) continue;
      if (this.#found.has(path)) await this.#disk.remove(join(folder, path));
      else found.add(path);
    }
    this.#found = found;
    await removeTree(this.#disk, asideFolder(this.#directory));
  }

  /** Removes at once, and for certain, the tables of which `named` has no file, and that nobody reads any more. */
  async removeTables(named: ReadonlySet<string>): Promise<void> {
    const folder = tablesFolder(this.#directory);
    const staying = new Set(Array.from(named, (path) => path.split("/")[0]));
    for (const { name } of await this.#disk.list(folder))
      if (!staying.has(name)) await removeTree(this.#disk, join(folder, name));
    await removeTree(this.#disk, asideFolder(this.#directory));
    for (const path of [folder, this.#directory]) await this.#disk.syncDirectory(path);
  }
}
