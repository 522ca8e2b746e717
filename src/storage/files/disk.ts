import { constants, type Dirent, readSync } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The file operations that durability rests on, and no others: a test puts a failing disk in its place.
 * Paths are absolute. Errors are Node's own, with their `code`.
 */
export interface Disk {
  /** Opens a regular file for reading, or for reading and writing, at positions; `create` fails if the file exists. New files are 0600. */
  open(path: string, mode: "read" | "write" | "create"): Promise<DiskFile>;
  readFile(path: string): Promise<Buffer>;
  /** Files and folders directly in a folder, by name; a missing folder has none. */
  list(path: string): Promise<Dirent[]>;
  /** Bytes; undefined if there is no such file. */
  size(path: string): Promise<number | undefined>;
  /** Replaces what is there. Durable only after `syncDirectory` of the parent (of both, when it moves between two). */
  rename(from: string, to: string): Promise<void>;
  /** Makes another name of a file: both are the same bytes. Fails where the file system has no such names. */
  link(from: string, to: string): Promise<void>;
  /** No error if it is gone already. Durable only after `syncDirectory` of the parent. */
  remove(path: string): Promise<void>;
  /** An empty folder; no error if it is gone already. */
  removeDirectory(path: string): Promise<void>;
  /** With parents, 0700, and durable on return. */
  makeDirectory(path: string): Promise<void>;
  /** Makes creations, renames and removals in a folder durable. Does nothing on Windows, which cannot. */
  syncDirectory(path: string): Promise<void>;
  /** Tells the disks of two folders apart. */
  device(path: string): Promise<number>;
  /** Bytes free for this user on the file system that holds `path`. */
  freeBytes(path: string): Promise<number>;
}

export interface DiskFile {
  /** Writes all of it, or throws with an unknown part written. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Fills the buffer from `position`; the number of bytes there were. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** The same at once, for bytes that the system probably has in memory. */
  readSync(into: Uint8Array, position: number): number;
  truncate(length: number): Promise<void>;
  /**
   * Contents and length on the disk: fdatasync on Linux, F_FULLFSYNC on macOS (libuv's doing), FlushFileBuffers on
   * Windows, which wants a file opened for writing. Never try again after it failed: the kernel may have dropped
   * the pages, and then the second call succeeds without having written them.
   */
  sync(): Promise<void>;
  /** Whether the path still names this file. @throws where the system will not tell. */
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

const FLAGS = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
} as const;

/** Without waiting for the writer of a pipe. @throws for what is no file: a device or pipe may never end. */
async function openRegular(path: string, flags: number): Promise<fs.FileHandle> {
  // Windows lacks the flag.
  const handle = await fs.open(path, flags | ((constants.O_NONBLOCK as number | undefined) ?? 0), 0o600);
  const stats = await handle.stat();
  // Reading a folder fails with the system's own EISDIR.
  if (stats.isFile() || stats.isDirectory()) return handle;
  await handle.close();
  throw Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL", path });
}

export const nodeDisk: Disk = {
  async open(path, mode) {
    const handle = await openRegular(path, FLAGS[mode]);
    return {
      async write(bytes, position) {
        for (let done = 0; done < bytes.length;) {
          const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
          if (bytesWritten === 0) throw new Error(`the disk took no bytes at ${position + done} of ${path}`);
          done += bytesWritten;
        }
      },
      async read(into, position) {
        let done = 0;
        while (done < into.length) {
          const { bytesRead } = await handle.read(into, done, into.length - done, position + done);
          if (bytesRead === 0) break;
          done += bytesRead;
        }
        return done;
      },
      readSync: (into, position) => readSync(handle.fd, into, 0, into.length, position),
      truncate: (length) => handle.truncate(length),
      sync: () => handle.datasync(),
      async isAt(at) {
        try {
          const [file, named] = await Promise.all([
            handle.stat({ bigint: true }),
            fs.stat(at, { bigint: true }),
          ]);
          // Not every file system of Windows numbers its files; there an open one is not moved away either.
          return process.platform === "win32" || (file.ino === named.ino && file.dev === named.dev);
        } catch (error) {
          if (hasCode(error, "ENOENT", "ENOTDIR")) return false;
          throw error;
        }
      },
      close: () => handle.close(),
    };
  },
  async readFile(path) {
    const handle = await openRegular(path, FLAGS.read);
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  },
  async list(path) {
    try {
      return await fs.readdir(path, { withFileTypes: true });
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  },
  async size(path) {
    try {
      return (await fs.stat(path)).size;
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    }
  },
  rename: (from, to) => fs.rename(from, to),
  link: (from, to) => fs.link(from, to),
  remove: (path) => fs.rm(path, { force: true }),
  async removeDirectory(path) {
    try {
      await fs.rmdir(path);
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  },
  async makeDirectory(path) {
    const parent = dirname(resolve(path));
    if (await isDirectory(path)) {
      try {
        // Making it may have been cut short before it was durable.
        if (await isEmpty(path)) await nodeDisk.syncDirectory(parent);
      } catch (error) {
        // Somebody else made it.
        if (!hasCode(error, "EACCES", "EPERM")) throw error;
      }
      return;
    }
    // Not by `recursive`: where a parent that is there refuses with ENOENT, as /proc does, that goes on for ever.
    await nodeDisk.makeDirectory(parent);
    try {
      await fs.mkdir(path, { mode: 0o700 });
    } catch (error) {
      if (!hasCode(error, "EEXIST") || !(await isDirectory(path))) throw error;
    }
    await nodeDisk.syncDirectory(parent);
  },
  async syncDirectory(path) {
    if (process.platform === "win32") return;
    const handle = await fs.open(path, constants.O_RDONLY);
    try {
      await handle.sync();
    } catch (error) {
      // Some network and FUSE file systems have no such call; they keep folders in their own way.
      if (!hasCode(error, "EINVAL", "ENOTSUP")) throw error;
    } finally {
      await handle.close();
    }
  },
  device: async (path) => (await fs.stat(path)).dev,
  async freeBytes(path) {
    const { bavail, bsize } = await fs.statfs(path);
    return bavail * bsize;
  },
};

/** True for Node's errors with one of these codes (`ENOENT`, `ENOSPC`, …). */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}

/**
 * Replaces a small file so that after a crash at any moment either the old or the new content is there, whole:
 * a temporary file beside it, synced, renamed over it, the folder synced.
 */
export async function replaceFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  await disk.remove(temporary);
  const file = await disk.open(temporary, "create");
  try {
    await file.write(bytes, 0);
    await file.sync();
  } catch (error) {
    await file.close();
    // A half-written file on a full disk would keep the space that its next try needs.
    await disk.remove(temporary).catch(() => undefined);
    throw error;
  }
  await file.close();
  await disk.rename(temporary, path);
  await disk.syncDirectory(dirname(path));
}

/** Some 3 ms of checksums. Each piece waits for a turn of the event loop, which a question may keep for 30 ms. */
const PIECE_BYTES = 8 * 1024 * 1024;

/** Reads a file in pieces of at most 8 MiB, each valid until `onPiece` is through. @returns its length. */
export async function readInPieces(
  file: Pick<DiskFile, "read">,
  expected: number,
  onPiece: (piece: Uint8Array, position: number) => void | Promise<void>,
): Promise<number> {
  // Most files are small, and megabytes for each would keep the garbage collector busy.
  const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, expected + 1));
  for (let position = 0; ;) {
    const length = await file.read(buffer, position);
    if (length > 0) await onPiece(buffer.subarray(0, length), position);
    position += length;
    if (length < buffer.length) return position;
  }
}

/** Every file below a folder, as paths relative to it with `/`, sorted; links are files. */
export async function listFilesBelow(
  disk: Disk,
  root: string,
  isWanted: (entry: Dirent) => boolean = () => true,
): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string, prefix: string): Promise<void> => {
    for (const entry of await disk.list(folder)) {
      if (entry.isDirectory()) await visit(join(folder, entry.name), `${prefix}${entry.name}/`);
      else if (isWanted(entry)) found.push(`${prefix}${entry.name}`);
    }
  };
  await visit(root, "");
  return found.sort();
}

/** Total length of the files below a folder. */
export async function usageBelow(disk: Disk, root: string): Promise<{ bytes: number; files: number }> {
  const sizes: number[] = [];
  for (const path of await listFilesBelow(disk, root)) sizes.push((await disk.size(join(root, path))) ?? 0);
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length };
}

/** Removes a folder with all that is in it, for certain: a power failure does not bring it back. */
export async function removeTree(disk: Disk, root: string): Promise<void> {
  if ((await disk.size(root)) === undefined) return;
  for (const entry of await disk.list(root)) {
    const path = join(root, entry.name);
    await (entry.isDirectory() ? removeTree(disk, path) : disk.remove(path));
  }
  // An empty one too: an earlier try may have removed the files and then failed to sync.
  await disk.syncDirectory(root);
  await disk.removeDirectory(root);
}

async function isEmpty(path: string): Promise<boolean> {
  const folder = await fs.opendir(path);
  try {
    return (await folder.read()) === null;
  } finally {
    await folder.close();
  }
}

/** @throws the system's error where the path cannot be looked at; ENOTDIR where a file is in its way is "no". */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)).isDirectory();
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}

const LINK_REFUSALS = "EXDEV EPERM ENOTSUP EOPNOTSUPP ENOSYS EMLINK EINVAL ENOENT EISDIR".split(" ");

/** Makes a hard link; false on file systems without them, and between two disks. */
export async function tryLink(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, ...LINK_REFUSALS)) return false;
    throw error;
  }
}

/** Links files into another folder, or copies them; paths below both. Missing files are left out. */
export async function linkFiles(
  disk: Disk,
  from: string,
  to: string,
  paths: Iterable<string>,
): Promise<void> {
  for (const path of paths) {
    const [source, target] = [join(from, path), join(to, path)];
    if ((await disk.size(source)) === undefined) continue;
    await disk.makeDirectory(dirname(target));
    if (!(await tryLink(disk, source, target))) await copyFile(disk, source, target);
  }
}

interface Digest {
  readonly size: number;
  readonly sha256: string;
  readonly crc32: number;
}

/** Reads a file whole. */
export async function digest(disk: Disk, path: string, onPiece: OnPiece = async () => {}): Promise<Digest> {
  const hash = createHash("sha256");
  const read = await readThrough(disk, path, (piece, position) => {
    hash.update(piece);
    return onPiece(piece, position);
  });
  return { ...read, sha256: hash.digest("hex") };
}

/**
 * The end of a sentence on how a file differs from what it was when it was synced; undefined where it does not.
 * @param expected without checksums its length alone is compared.
 */
export async function faultOf(
  disk: Disk,
  path: string,
  expected: { readonly size?: number } & Partial<Pick<Digest, "sha256" | "crc32">>,
  pause?: () => Promise<void>,
): Promise<string | undefined> {
  const size = await disk.size(path);
  if (size === undefined) return "is missing";
  if (size !== (expected.size ?? size)) return `has ${size} bytes instead of ${expected.size}`;
  if (expected.sha256 === undefined && expected.crc32 === undefined) return undefined;
  // A check of all files reads gigabytes: SHA-256 takes three times as long as CRC-32.
  const read: (...of: Parameters<typeof readThrough>) => Promise<Omit<Digest, "sha256"> & Partial<Digest>> =
    expected.sha256 === undefined ? readThrough : digest;
  const now = await read(disk, path, async (_piece, position) => {
    if (position > 0) await pause?.();
  }).catch((error: Error) => error);
  if (now instanceof Error) return `cannot be read: ${now.message}`;
  const isSame =
    now.size === size && now.sha256 === expected.sha256 && now.crc32 === (expected.crc32 ?? now.crc32);
  return isSame ? undefined : "has changed";
}

/** Copies a file, synced; its folder is the caller's to sync. */
export async function copyFile(disk: Disk, from: string, to: string): Promise<Digest> {
  const file = await disk.open(to, "create");
  try {
    const read = await digest(disk, from, (piece, position) => file.write(piece, position));
    await file.sync();
    return read;
  } finally {
    await file.close();
  }
}

type OnPiece = (piece: Uint8Array, position: number) => Promise<void>;

async function readThrough(disk: Disk, path: string, onPiece: OnPiece) {
  const file = await disk.open(path, "read");
  try {
    let crc = 0;
    const size = await readInPieces(file, (await disk.size(path)) ?? 0, (piece, position) => {
      crc = crc32(piece, crc);
      return onPiece(piece, position);
    });
    return { size, crc32: crc };
  } finally {
    await file.close();
  }
}
