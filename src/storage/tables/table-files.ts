import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { type Disk, listFilesBelow, readInPieces } from "../files/disk.ts";
import type { TableState } from "./table-spec.ts";

/** A file of a table as it was when it was synced. LanceDB never changes a file it has written. */
export interface TableFile {
  /** Below the folder of all tables, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly crc32: number;
}

/** A file or folder could not be synced. What the disk holds of it is unknown from then on, whatever a second try says. */
export class SyncError extends Error {
  override readonly name = "SyncError";
}

const NEWEST = 2n ** 64n - 1n;

/** The file that names everything a version of a table consists of. Named so that the newest sorts first. */
export function manifestName(version: number): string {
  return `${String(NEWEST - BigInt(version)).padStart(20, "0")}.manifest`;
}

/** The version in the name of such a file; undefined if it is another file. */
export function versionOfManifest(name: string): number | undefined {
  const digits = /^(\d{20})\.manifest$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(NEWEST - BigInt(digits));
}

/**
 * The files that a version of a table consists of, as paths below the folder of all tables: those whose names, or the
 * random part of them, stand in its manifest. That may take in a file which a manifest only remembers, never leave
 * out one it needs; and it asks nothing of the manifest's inner form but how Protocol Buffers write a name and a number.
 *
 * @throws {Error} if the manifest is missing.
 */
export async function filesOfVersion(disk: Disk, directory: string, state: TableState): Promise<string[]> {
  const folder = `${state.name}.lance`;
  const manifestPath = `_versions/${manifestName(state.version)}`;
  const manifest = await disk.readFile(join(directory, folder, manifestPath));
  const files = await listFilesBelow(disk, join(directory, folder));
  return files
    .filter((path) => path === manifestPath || isNamedIn(manifest, path))
    .map((path) => `${folder}/${path}`);
}

function isNamedIn(manifest: Buffer, path: string): boolean {
  const [folder, name = ""] = path.split("/");
  switch (folder) {
    case "_versions":
      return false;
    case "_indices":
      return manifest.includes(Buffer.from(name.replaceAll("-", ""), "hex"));
    case "_deletions": {
      // fragment-version-id.arrow or .bin, the id a random number of 64 bits
      const id = name.split(/[-.]/)[2];
      return id === undefined || !/^\d+$/.test(id) || manifest.includes(varint(BigInt(id)));
    }
    case "data":
    case "_transactions":
      return manifest.includes(name);
    default:
      // Nothing we know of: better kept than missed.
      return true;
  }
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/**
 * Makes files durable, with the folders they stand in. Those in `known` are so already and are not read again.
 *
 * @throws {SyncError} if the disk refuses.
 */
export async function syncFiles(
  disk: Disk,
  directory: string,
  paths: readonly string[],
  known: ReadonlyMap<string, TableFile>,
): Promise<TableFile[]> {
  const files: TableFile[] = [];
  const folders = new Set<string>();
  for (const path of paths) {
    const before = known.get(path);
    if (before === undefined) {
      // A folder may be as new as the file: up to the folder of all tables and its own place.
      for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
        folders.add(join(directory, folder));
    }
    files.push(before ?? { path, ...(await syncFile(disk, join(directory, path))) });
  }
  if (folders.size > 0) folders.add(directory).add(dirname(directory));
  for (const folder of folders) await synced(folder, disk.syncDirectory(folder));
  return files;
}

/** Syncs a file. @returns its size and CRC-32. */
async function syncFile(
  disk: Disk,
  path: string,
): Promise<{ readonly size: number; readonly crc32: number }> {
  const file = await disk.open(path, "write");
  try {
    let crc = 0;
    const size = await readInPieces(file, (await disk.size(path)) ?? 0, (piece) => {
      crc = crc32(piece, crc);
    });
    await synced(path, file.sync());
    return { size, crc32: crc };
  } finally {
    await file.close();
  }
}

/**
 * Moves every file that is not to be kept into another folder, so that LanceDB, which opens the newest manifest it finds,
 * finds no later one than it should.
 */
export async function moveOthers(
  disk: Disk,
  directory: string,
  into: string,
  keep: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (const path of await listFilesBelow(disk, directory)) {
    if (keep.has(path)) continue;
    await disk.makeDirectory(dirname(join(into, path)));
    await disk.rename(join(directory, path), join(into, path));
  }
}

/** True for the file in which LanceDB notes its newest version, to find it faster. It is not needed, and changes with every version. */
export function isVersionHint(path: string): boolean {
  return basename(path) === "latest_version_hint.json";
}

async function synced(path: string, done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    throw new SyncError(`could not sync ${path}`, { cause: error });
  }
}
