import { randomUUID } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { conflict, invalidRequest, storeFull } from "../../core/errors.ts";
import {
  type BackupManifest,
  checkpointOf,
  damagedBackup,
  damagedFiles,
  readManifest,
} from "./backup-manifest.ts";
import { copyFile, type Disk, listFilesBelow, removeTree, replaceFile } from "../files/disk.ts";
import { checkpointName, encodeCheckpoint } from "../checkpoints/checkpoint.ts";
import { noteAncestors } from "../checkpoints/erasures.ts";
import { openJournal } from "../journal/open-journal.ts";

/**
 * Makes a store of a backup in a folder that is missing or empty. It has an identity of its own, so that no journal or
 * backup of the first store passes for its own; ids, times and keys are as they were. The folder appears whole: what a
 * killed process leaves stands beside it and goes with the next restore.
 *
 * @param backup the folder of the backup itself.
 * @throws {ServiceError} NOT_FOUND; DAMAGED; CONFLICT where the target holds anything; STORE_FULL.
 */
export async function restoreBackup(
  disk: Disk,
  backup: string,
  target: string,
  {
    onProgress = () => {},
    prepare = async () => {},
  }: {
    readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
    /** Works on the store before it appears under its name. */
    readonly prepare?: (directory: string, manifest: BackupManifest) => Promise<void>;
  } = {},
): Promise<BackupManifest> {
  const [from, to] = [resolve(backup), resolve(target)];
  const manifest = await readManifest(disk, dirname(from), basename(from));
  if ((await disk.list(to)).length > 0)
    throw conflict(`${to} is not empty. Name an empty folder or a new one with --to; nothing was changed.`);
  await refuseInsideStore(disk, to);
  const found = await damagedFiles(disk, from, manifest);
  if (found.length > 0) throw damagedBackup(manifest.name, found.join("; "));
  const checkpoint = await checkpointOf(disk, from, manifest);
  const total = manifest.files.reduce((sum, { size }) => sum + size, 0);
  await disk.makeDirectory(dirname(to));
  if ((await disk.freeBytes(dirname(to))) < total)
    throw storeFull(
      `There is no room for ${total} bytes at ${to}. Free some space, or name another place with --to.`,
    );

  const unfinished = `${to}.unfinished`;
  await removeTree(disk, unfinished);
  await disk.makeDirectory(unfinished);
  const storeId = randomUUID();
  let done = 0;
  for (const { path, size } of manifest.files) {
    onProgress(done, total);
    done += size;
    if (path.startsWith("CHECKPOINT-")) continue;
    await disk.makeDirectory(dirname(join(unfinished, path)));
    // Never links: what happens to the store's files must not happen to those of the backup.
    await copyFile(disk, join(from, path), join(unfinished, path));
  }
  const { epoch, sequence } = checkpoint;
  const { journal } = await openJournal({
    disk,
    directory: join(unfinished, "journal"),
    storeId,
    epoch,
    after: sequence,
    begin: true,
    onRecord: () => {},
  });
  await journal.close();
  const folders = new Set(
    (await listFilesBelow(disk, unfinished)).map((path) => dirname(join(unfinished, path))),
  );
  for (const folder of folders) await disk.syncDirectory(folder);
  await replaceFile(
    disk,
    join(unfinished, checkpointName(checkpoint.number)),
    encodeCheckpoint({ ...checkpoint, storeId }),
  );
  await noteAncestors(disk, unfinished, [
    ...(manifest.ancestors ?? []),
    { storeId: manifest.storeId, epoch, sequence, folder: dirname(from) },
  ]);
  await prepare(unfinished, manifest);
  await disk.removeDirectory(to);
  await disk.rename(unfinished, to);
  await disk.syncDirectory(dirname(to));
  return manifest;
}

/**
 * A store removes what it does not know from its folders: what was written there would go with it.
 * @throws {ServiceError} INVALID_REQUEST where the folder is inside a data directory.
 */
export async function refuseInsideStore(disk: Disk, target: string): Promise<void> {
  for (let folder = dirname(target); folder !== dirname(folder); folder = dirname(folder)) {
    const entries = await disk.list(folder).catch(() => []);
    if (entries.some(({ name }) => name.startsWith("CHECKPOINT-")))
      throw invalidRequest(
        `${target} is inside the data directory ${folder}. Name a place outside of it; nothing was changed.`,
      );
  }
}
