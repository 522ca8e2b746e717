import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { conflict, invalidRequest, ServiceError, storeFull } from "../../core/errors.ts";
import { type Checkpoint, checkpointName, encodeCheckpoint } from "../checkpoints/checkpoint.ts";
import type { Disk } from "../files/disk.ts";
import { copyFile, digest, hasCode, linkFiles, removeTree, replaceFile, tryLink } from "../files/disk.ts";
import { noteErasures, readAncestors, readErasures } from "../checkpoints/erasures.ts";
import { isSha256 } from "../files/shapes.ts";
import { isFull } from "../journal/journal.ts";
import { openTables } from "../tables/tables.ts";
import { lanceTables, tableOf, type TableState } from "../tables/table-spec.ts";
import {
  BACKUP_NAME,
  type BackupFile,
  type BackupManifest,
  checkpointOf,
  damagedBackup,
  damagedFiles,
  hasManifest,
  readManifest,
  SMALL_FILES,
  unknown,
  writeManifest,
} from "./backup-manifest.ts";

/** A whole copy of the store as it was at one moment. */
export interface Backup extends Pick<
  BackupManifest,
  "name" | "createdAt" | "storeId" | "memories" | "addedBytes" | "sharesDisk"
> {
  /** Position of its last record: `epoch.sequence`. */
  readonly position: string;
  /** Lengths of all its files. */
  readonly bytes: number;
  /** When it was last found whole. */
  readonly verifiedAt: number;
}

export interface BackupSource {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  /** A checkpoint of all that was answered before the call, and what its documents were made from; no file of them goes. */
  hold(): Promise<HeldState>;
}

export interface HeldState {
  readonly checkpoint: Checkpoint;
  /** SHA-256s. */
  readonly originals: readonly string[];
  /** Files of added models, by their paths in the data directory; of two with one path, only equal bytes are the same. */
  readonly models: readonly { readonly path: string; readonly sha256: string }[];
  release(): void;
}

export interface BackupTarget {
  /** The folder with all backups; made if it is missing. */
  readonly folder: string;
  readonly name: string;
  readonly createdAt: number;
  readonly program: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** When the backup was last found whole, epoch milliseconds. Beside the manifest, which is never written again. */
const VERIFIED = "VERIFIED";
/** Prefixes of folders that are being made or checked, and removed; no backup has such a name. */
const UNFINISHED = ".unfinished-";
const REMOVED = ".removed-";
/** Left free on the disk of the backup. */
const KEEP_FREE_BYTES = 64 * 1024 * 1024;

/** @throws {ServiceError} INVALID_REQUEST for a name that no backup can have. */
export function checkBackupName(name: string): void {
  if (BACKUP_NAME.test(name)) return;
  throw invalidRequest(
    `"${name}" cannot name a backup: use letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit.`,
  );
}

/**
 * Copies a store to `folder/name` while it is read and written. Files that an earlier backup in the folder has are shared
 * with it by hard links, and with the store where both are on one disk. The folder appears under its name when all is
 * synced and its tables have been opened.
 *
 * @throws {ServiceError} CONFLICT where the name is taken; STORE_FULL without room; else the disk's own error. Nothing
 *   is left behind, except by a killed process: that goes with the next backup.
 */
export async function writeBackup(source: BackupSource, target: BackupTarget): Promise<Backup> {
  const { disk } = source;
  const { folder, name } = target;
  checkBackupName(name);
  try {
    await disk.makeDirectory(folder);
    if ((await disk.size(join(folder, name))) !== undefined)
      throw conflict(`There is a backup ${name} in ${folder} already; choose another name.`);
    await finishRemovals(disk, folder);
    const held = await source.hold();
    const unfinished = join(folder, `${UNFINISHED}${held.checkpoint.storeId}`);
    try {
      await removeTree(disk, unfinished);
      const manifest = await copyState(source, target, held, unfinished);
      await checkTables(disk, unfinished, manifest, folder);
      await replaceFile(disk, join(unfinished, VERIFIED), Buffer.from(String(target.createdAt)));
      await disk.rename(unfinished, join(folder, name));
      await disk.syncDirectory(folder);
      await noteErasures(disk, folder, await readErasures(disk, source.directory));
      return summaryOf(manifest, target.createdAt);
    } finally {
      held.release();
      // After a failure; else it has its name.
      await removeTree(disk, unfinished).catch(() => undefined);
    }
  } catch (error) {
    throw isFull(error) ? noRoom(folder, error) : error;
  }
}

async function copyState(
  { disk, directory }: BackupSource,
  { folder, name, createdAt, program, signal, onProgress = () => {} }: BackupTarget,
  { checkpoint, originals, models }: HeldState,
  into: string,
): Promise<BackupManifest> {
  const { storeId, epoch, sequence, tables } = checkpoint;
  const earlier = await newestOf(disk, folder, storeId);
  const known = new Map(earlier?.files.map((file) => [file.path, file]));
  const sharesDisk = (await disk.device(directory)) === (await disk.device(folder));
  const wanted: (Pick<BackupFile, "path" | "size"> & Partial<BackupFile>)[] = [];
  for (const { path, sha256 } of [
    ...originals.filter(isSha256).map((name) => ({ path: `files/${name}`, sha256: name })),
    ...models,
  ]) {
    const size = await disk.size(join(directory, path));
    // Somebody removed it: what its documents say of it is true of the backup too.
    if (size !== undefined) wanted.push({ path, size, sha256 });
  }
  for (const file of tables.flatMap(({ files }) => files))
    wanted.push({ ...file, path: `tables/${file.path}` });
  const isKnown = ({ path, size, crc32: crc, sha256 }: (typeof wanted)[number]) => {
    const before = known.get(path);
    const isSame = before?.crc32 === crc && (sha256 === undefined || before?.sha256 === sha256);
    return before?.size === size && isSame ? before : undefined;
  };
  const total = sumOf(wanted);
  const toCopy = sharesDisk ? 0 : sumOf(wanted.filter((file) => isKnown(file) === undefined));
  if (toCopy > 0 && (await disk.freeBytes(folder)) < toCopy + KEEP_FREE_BYTES) throw noRoom(folder);

  const files: BackupFile[] = [];
  let [done, addedBytes] = [0, 0];
  const folders = new Set([into]);
  for (const file of wanted) {
    signal?.throwIfAborted();
    onProgress(done, total);
    const to = join(into, file.path);
    await disk.makeDirectory(dirname(to));
    for (let parent = dirname(to); parent !== into; parent = dirname(parent)) folders.add(parent);
    const before = isKnown(file);
    if (
      before !== undefined &&
      earlier !== undefined &&
      (await tryLink(disk, join(folder, earlier.name, file.path), to))
    ) {
      files.push(before);
    } else {
      const from = join(directory, file.path);
      const isLinked = sharesDisk && (await tryLink(disk, from, to));
      const read = isLinked ? await digest(disk, from) : await copyFile(disk, from, to);
      if (file.crc32 !== undefined && read.crc32 !== file.crc32)
        throw new ServiceError(
          "DAMAGED",
          `The file ${file.path} of the store is damaged; no backup was made.`,
        );
      files.push({ ...file, sha256: read.sha256 });
      if (!isLinked) addedBytes += file.size;
    }
    done += file.size;
  }
  onProgress(done, total);
  const small = new Map([[checkpointName(checkpoint.number), encodeCheckpoint(checkpoint)]]);
  for (const path of SMALL_FILES)
    if ((await disk.size(join(directory, path))) !== undefined)
      small.set(path, await disk.readFile(join(directory, path)));
  await disk.makeDirectory(into);
  for (const [path, bytes] of small) {
    await replaceFile(disk, join(into, path), bytes);
    files.push({ path, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
    addedBytes += bytes.length;
  }
  for (const place of [...folders].sort().reverse()) await disk.syncDirectory(place);
  const memories = tables.find((table) => tableOf(table.name) === "memories")?.rows ?? 0;
  const position = { storeId, epoch, sequence, ancestors: await readAncestors(disk, directory) };
  const manifest = { ...position, name, createdAt, program, memories, addedBytes, sharesDisk, files };
  await writeManifest(disk, into, manifest);
  return manifest;
}

/** The backups in a folder, newest first, and a sentence on each that cannot be used. A missing folder has none. */
export async function listBackups(
  disk: Disk,
  folder: string,
): Promise<{ readonly items: readonly Backup[]; readonly damaged: readonly string[] }> {
  const items: Backup[] = [];
  const damaged: string[] = [];
  for (const entry of await disk.list(folder)) {
    if (!entry.isDirectory() || !(await hasManifest(disk, folder, entry.name))) continue;
    const place = join(folder, entry.name);
    try {
      const manifest = await readManifest(disk, folder, entry.name);
      const verified = await lastVerified(disk, place, manifest);
      if (typeof verified === "string") damaged.push(verified);
      else items.push(summaryOf(manifest, verified));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      damaged.push(error.message);
    }
  }
  return { items: items.sort((a, b) => b.createdAt - a.createdAt), damaged };
}

/** Checks every file's SHA-256 and opens the tables. @throws {ServiceError} NOT_FOUND; DAMAGED, naming files. */
export async function verifyBackup(disk: Disk, folder: string, name: string, now: number): Promise<Backup> {
  const manifest = await readManifest(disk, folder, name);
  const place = join(folder, name);
  const note = (text: string) => replaceFile(disk, join(place, VERIFIED), Buffer.from(text));
  try {
    const found = await damagedFiles(disk, place, manifest);
    if (found.length > 0) throw damagedBackup(name, found.join("; "));
    await checkTables(disk, place, manifest, folder);
    await note(String(now));
  } catch (error) {
    // Somebody removed it meanwhile.
    if (!(await hasManifest(disk, folder, name))) throw unknown(folder, name);
    // Lists tell it from now on, where this folder can be written.
    if (error instanceof ServiceError && error.code === "DAMAGED")
      await note(error.message).catch(() => undefined);
    throw error;
  }
  return summaryOf(manifest, now);
}

/** Removes a backup; files that others share stay theirs. @throws {ServiceError} NOT_FOUND. */
export async function removeBackup(disk: Disk, folder: string, name: string): Promise<void> {
  if (!(await hasManifest(disk, folder, name))) throw unknown(folder, name);
  // Half a backup never stands under a backup's name.
  const away = join(folder, `${REMOVED}${name}`);
  await removeTree(disk, away);
  await disk.rename(join(folder, name), away);
  await disk.syncDirectory(folder);
  await finishRemovals(disk, folder);
}

/** Removes what killed processes left of backups that they removed: what was deleted since is in it. */
export async function finishRemovals(disk: Disk, folder: string): Promise<void> {
  for (const { name } of await disk.list(folder))
    if (name.startsWith(REMOVED))
      await removeTree(disk, join(folder, name)).catch((error: unknown) => {
        // Somebody else removes it too.
        if (!hasCode(error, "ENOENT")) throw error;
      });
}

/** Opens the tables as a start would, on links, so that nothing that LanceDB may write lands in the backup. */
async function checkTables(
  disk: Disk,
  place: string,
  manifest: BackupManifest,
  folder: string,
): Promise<void> {
  const { tables } = await checkpointOf(disk, place, manifest);
  const scratch = join(folder, `${UNFINISHED}check-${manifest.storeId}`);
  await removeTree(disk, scratch);
  try {
    await disk.makeDirectory(scratch);
    const paths = tables.flatMap(({ files }) => files.map(({ path }) => path));
    await linkFiles(disk, join(place, "tables"), scratch, paths);
    const rows = await countMemories(scratch, tables).catch((error: Error) => {
      throw damagedBackup(manifest.name, error.message);
    });
    if (rows !== manifest.memories)
      throw damagedBackup(manifest.name, `it has ${rows} memories instead of ${manifest.memories}`);
  } finally {
    await removeTree(disk, scratch).catch(() => undefined);
  }
}

/** Reads every memory. */
async function countMemories(directory: string, tables: readonly TableState[]): Promise<number> {
  const opened = await openTables(directory, lanceTables(tables));
  try {
    let rows = 0;
    for await (const batch of opened.scanMemories()) rows += batch.length;
    return rows;
  } finally {
    await opened.close();
  }
}

async function newestOf(disk: Disk, folder: string, storeId: string): Promise<BackupManifest | undefined> {
  const { items } = await listBackups(disk, folder);
  const newest = items.find((backup) => backup.storeId === storeId);
  return newest && (await readManifest(disk, folder, newest.name));
}

/** When it was last found whole, or a sentence on how it was found damaged since. */
async function lastVerified(
  disk: Disk,
  place: string,
  { name, createdAt }: BackupManifest,
): Promise<number | string> {
  const text = (await disk.readFile(join(place, VERIFIED)).catch(() => "")).toString();
  const time = Number(text);
  if (Number.isSafeInteger(time)) return time > 0 ? time : createdAt;
  return text.startsWith(`The backup ${name} `) ? text : createdAt;
}

function summaryOf(
  { epoch, sequence, ancestors: _ancestors, files, program: _program, ...manifest }: BackupManifest,
  verified: number,
): Backup {
  return { ...manifest, position: `${epoch}.${sequence}`, bytes: sumOf(files), verifiedAt: verified };
}

function sumOf(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function noRoom(folder: string, cause?: unknown): ServiceError {
  return storeFull(
    `There is no room for a backup in ${folder}. Free some space there, remove older ones with \`memoryd backup prune\`, or ` +
      "choose another folder.",
    { cause },
  );
}
