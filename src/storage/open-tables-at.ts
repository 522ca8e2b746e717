import { join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import type { TableName } from "../core/rows.ts";
import { type ChosenCheckpoint, tablesFolder } from "./checkpoint.ts";
import type { Disk } from "./disk.ts";
import { setAside } from "./tables/table-files.ts";
import { tableOf } from "./tables/table-state.ts";
import { openTables, type Tables } from "./tables/tables.ts";

/** Where files go that no kept checkpoint names; the journal has what they held. */
export function asideFolder(directory: string): string {
  return join(directory, "set-aside");
}

/**
 * Opens the tables of a data directory at exactly a checkpoint. Whatever was written after it is moved out of the way
 * first: it was never synced, and the journal's records make it again. Tables that are lost are left out.
 *
 * @param onFailure is told once if the tables' thread ends unasked.
 * @throws {ServiceError} STORE_UNUSABLE if a table is not what the checkpoint says. Never an empty table in its place.
 */
export async function openTablesAt(
  disk: Disk,
  directory: string,
  chosen: ChosenCheckpoint | undefined,
  onFailure?: (error: Error) => void,
): Promise<Tables> {
  const folder = tablesFolder(directory);
  const kept = [chosen?.checkpoint, chosen?.older].flatMap((checkpoint) => checkpoint?.tables ?? []);
  const keep = new Set(kept.flatMap(({ files }) => files.map(({ path }) => path)));
  await disk.makeDirectory(folder);
  await setAside(disk, folder, asideFolder(directory), keep);
  try {
    const { lost, unindexed }: { lost: ReadonlySet<string | undefined>; unindexed: ReadonlySet<TableName> } =
      chosen ?? { lost: new Set(), unindexed: new Set() };
    const states = (chosen?.checkpoint.tables ?? []).filter(({ name }) => !lost.has(tableOf(name)));
    return await openTables(folder, states, { onFailure, unindexed: [...unindexed] });
  } catch (error) {
    throw new ServiceError(
      "STORE_UNUSABLE",
      `the store in ${directory} is damaged: ${error instanceof Error ? error.message : String(error)}. ` +
        "Nothing was deleted. Restore the folder from a backup.",
      { cause: error },
    );
  }
}
