import { join } from "node:path";
import { notFound, ServiceError, storeUnusable } from "../../core/errors.ts";
import { type Checkpoint, decodeCheckpoint, isTablePath } from "../checkpoints/checkpoint.ts";
import { areAncestors, type Lineage } from "../checkpoints/erasures.ts";
import {
  decodeChecksummed,
  encodeChecksummed,
  arrayOf,
  isBoolean,
  isCount,
  isSha256,
  isStoreId,
  isText,
  isTime,
  objectOf,
  optional,
} from "../files/shapes.ts";
import { type Disk, faultOf, listFilesBelow, replaceFile } from "../files/disk.ts";

/** A file of a backup; its path is that in a data directory, with `/`. */
export interface BackupFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Checksum of a table's file: files of one path are the same only if it is equal. */
  readonly crc32?: number;
}

/** Contents of a backup's file `MANIFEST`, which is written last. */
export interface BackupManifest extends Lineage {
  readonly name: string;
  readonly createdAt: number;
  /** Version of the program that made it. */
  readonly program: string;
  readonly memories: number;
  /** The part of its bytes that no earlier backup in the folder and no file of the store shares. */
  readonly addedBytes: number;
  /** Whether files are shared with the store on the same disk: then it does not protect from the loss of that disk. */
  readonly sharesDisk: boolean;
  readonly files: readonly BackupFile[];
}

const FORMAT = 1;
const MANIFEST = "MANIFEST";
export const BACKUP_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** Small files of a data directory that belong to what is restored. */
export const SMALL_FILES = ["KEYS", "MODEL"] as const;
/** What `copyState` writes, and nothing else: a backup may come from elsewhere, and a checksum proves no author. */
const BACKED_UP = [
  /^CHECKPOINT-\d{10}$/,
  new RegExp(`^(${SMALL_FILES.join("|")})$`),
  /^files\/[0-9a-f]{64}$/,
  /^models\/[A-Za-z0-9][\w.-]{0,63}\/(model\.onnx|tokenizer(_config)?\.json|projection\.bin|sectors\.json|MODEL\.json)$/,
];
/** Paths of tables are compared with those of the checkpoint later. */
const isBackedUp = (path: string) =>
  BACKED_UP.some((pattern) => pattern.test(path)) ||
  (path.startsWith("tables/") && isTablePath(path.slice("tables/".length)));
const isManifest = objectOf({
  storeId: isStoreId,
  epoch: isCount,
  sequence: isCount,
  ancestors: optional(areAncestors),
  createdAt: isTime,
  program: isText,
  memories: isCount,
  addedBytes: isCount,
  sharesDisk: isBoolean,
  files: arrayOf(objectOf({ path: isText, size: isCount, sha256: isSha256, crc32: optional(isCount) })),
});

/** Faults of a backup's files, in sentences; every file of the right length is read whole, and no link is followed. */
export async function damagedFiles(disk: Disk, folder: string, { files }: BackupManifest): Promise<string[]> {
  const regular = new Set(await listFilesBelow(disk, folder, (entry) => entry.isFile()));
  const found: string[] = [];
  for (const { path, size, sha256 } of files) {
    const place = join(folder, path);
    const isForeign = !regular.has(path) && (await disk.size(place)) !== undefined;
    const fault = isForeign ? "is a link or no regular file" : await faultOf(disk, place, { size, sha256 });
    if (fault !== undefined) found.push(`${path} ${fault}`);
  }
  return found;
}

/** @throws {ServiceError} NOT_FOUND; DAMAGED; STORE_UNUSABLE for one of a newer format. */
export async function readManifest(disk: Disk, folder: string, name: string): Promise<BackupManifest> {
  if (!(await hasManifest(disk, folder, name))) throw unknown(folder, name);
  const bytes = await disk.readFile(join(folder, name, MANIFEST)).catch((error: Error) => {
    throw damagedBackup(name, `its MANIFEST cannot be read: ${error.message}`);
  });
  const decoded = decodeChecksummed("backup", bytes);
  if (decoded === undefined) throw damagedBackup(name, "its MANIFEST has changed");
  if (decoded.format > FORMAT)
    throw storeUnusable(
      `The backup ${name} has format ${decoded.format} and this memoryd knows up to ${FORMAT}: it was made by a newer version. ` +
        "Use that version.",
    );
  const manifest = decoded.value(isManifest) as BackupManifest | undefined;
  if (manifest === undefined)
    throw damagedBackup(name, "its MANIFEST does not hold what memoryd writes there");
  const paths = manifest.files.map(({ path }) => path);
  const foreign = paths.find((path) => !isBackedUp(path));
  if (foreign !== undefined)
    throw damagedBackup(name, `its MANIFEST lists ${JSON.stringify(foreign)}, which no backup holds`);
  if (new Set(paths).size < paths.length) throw damagedBackup(name, "its MANIFEST lists a file twice");
  // A folder that was renamed has its new name.
  return { ...manifest, name };
}

/** The checkpoint in a backup, of its store and its tables. @throws {ServiceError} DAMAGED; STORE_UNUSABLE for one of a newer format. */
export async function checkpointOf(
  disk: Disk,
  place: string,
  { name, files, storeId, epoch, sequence }: BackupManifest,
): Promise<Checkpoint> {
  const paths = files.map(({ path }) => path);
  const [path, another] = paths.filter((each) => each.startsWith("CHECKPOINT-"));
  if (path === undefined || another !== undefined)
    throw damagedBackup(name, "its MANIFEST does not list one CHECKPOINT file");
  const number = Number(path.slice("CHECKPOINT-".length));
  const checkpoint = decodeCheckpoint(number, await disk.readFile(join(place, path)));
  if (typeof checkpoint === "string") throw damagedBackup(name, checkpoint);
  const tables = checkpoint.tables.flatMap((table) => table.files.map((file) => `tables/${file.path}`));
  const listed = paths.filter((each) => each.startsWith("tables/"));
  const isSame =
    [checkpoint.storeId, checkpoint.epoch, checkpoint.sequence, ...tables.sort()].join() ===
    [storeId, epoch, sequence, ...listed.sort()].join();
  if (!isSame) throw damagedBackup(name, `its MANIFEST and ${path} are of different states`);
  return checkpoint;
}

export function damagedBackup(name: string, what: string): ServiceError {
  return new ServiceError(
    "DAMAGED",
    `The backup ${name} is damaged: ${what}. Use another one, and look at the disk that it is on.`,
  );
}

/** Whether a folder holds a backup's MANIFEST, of whatever content. */
export async function hasManifest(disk: Disk, folder: string, name: string): Promise<boolean> {
  return BACKUP_NAME.test(name) && (await disk.size(join(folder, name, MANIFEST))) !== undefined;
}

/** Makes a folder a backup, durably: the last of its files. */
export function writeManifest(disk: Disk, place: string, manifest: BackupManifest): Promise<void> {
  return replaceFile(disk, join(place, MANIFEST), encodeChecksummed("backup", FORMAT, manifest));
}

export function unknown(folder: string, name: string): ServiceError {
  return notFound(`There is no backup ${name} in ${folder}; \`memoryd backup list\` shows them.`);
}
