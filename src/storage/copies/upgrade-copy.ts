import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { storeUnusable } from "../../core/errors.ts";
import { type Checkpoint, CHECKPOINT_FORMAT, UPGRADE_COPIES } from "../checkpoints/checkpoint.ts";
import { CHANGES_FORMAT } from "../codec.ts";
import { type Disk, listFilesBelow, removeTree, replaceFile, copyFile, tryLink } from "../files/disk.ts";
import { JOURNAL_FORMAT } from "../journal/format.ts";
import { TABLE_SPECS } from "../tables/specs.ts";

/** Manifests, lists of deleted rows and the like; what is larger never changes in place and is shared. */
const SMALL_BYTES = 1024 * 1024;

/** Formats of this program: their numbers, and a checksum of the columns of all tables. */
export const STORE_FORMATS: string = [
  CHECKPOINT_FORMAT,
  JOURNAL_FORMAT,
  CHANGES_FORMAT,
  crc32(
    Object.values(TABLE_SPECS)
      .flatMap(({ name, fields }) =>
        Object.entries(fields).map(([column, { type }]) => `${name}.${column} ${JSON.stringify(type)}`),
      )
      .sort()
      .join("\n"),
  ).toString(16),
].join(".");

/**
 * Keeps a copy of what a program with other formats wrote last, which that program can open as a data directory. Large files
 * are hard links where the file system has them. Called before anything of a store changes; does nothing where the formats are the same or the copy is there.
 *
 * @throws {ServiceError} STORE_UNUSABLE where the copy cannot be written; nothing was changed.
 */
export async function copyBeforeUpgrade(
  disk: Disk,
  directory: string,
  { formats, number }: Pick<Checkpoint, "formats" | "number">,
): Promise<void> {
  if (formats === STORE_FORMATS) return;
  const copy = join(directory, UPGRADE_COPIES, `checkpoint-${number}`);
  if ((await disk.size(copy)) !== undefined) return;
  const unfinished = `${copy}.unfinished`;
  try {
    await removeTree(disk, unfinished);
    for (const path of await filesToCopy(disk, directory)) {
      await disk.makeDirectory(dirname(join(unfinished, path)));
      await copyOrLink(disk, join(directory, path), join(unfinished, path), path.startsWith("journal/"));
    }
    await disk.rename(unfinished, copy);
    await disk.syncDirectory(dirname(copy));
  } catch (error) {
    throw storeUnusable(
      `The store in ${directory} was written by an earlier version, and no copy of it can be kept in ` +
        `${dirname(copy)} before it is upgraded: ${error instanceof Error ? error.message : String(error)}. ` +
        "Free some space, or make the folder writable, and start again. Nothing was changed.",
      { cause: error },
    );
  }
}

/** Removes every such copy, with what was deleted since. */
export function removeUpgradeCopies(disk: Disk, directory: string): Promise<void> {
  return removeTree(disk, join(directory, UPGRADE_COPIES));
}

async function copyOrLink(disk: Disk, from: string, to: string, isJournal: boolean): Promise<void> {
  const size = (await disk.size(from)) ?? 0;
  if (size < SMALL_BYTES) return await replaceFile(disk, to, await disk.readFile(from));
  // The last segment of the journal is written on.
  if (isJournal || !(await tryLink(disk, from, to))) await copyFile(disk, from, to);
}

async function filesToCopy(disk: Disk, directory: string): Promise<string[]> {
  const names = (await disk.list(directory)).map(({ name }) => name);
  const paths = names.filter((name) => /^(CHECKPOINT-\d+|KEYS|MODEL|ERASED|ANCESTORS)$/.test(name));
  for (const { name } of await disk.list(join(directory, "journal")))
    if (name !== "reserve") paths.push(`journal/${name}`);
  for (const folder of ["tables", "files"])
    for (const path of await listFilesBelow(disk, join(directory, folder))) paths.push(`${folder}/${path}`);
  return paths;
}
