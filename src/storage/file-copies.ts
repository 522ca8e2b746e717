import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Disk, hasCode, readInPieces } from "./disk.ts";

/** Makes a hard link; false on file systems without them, and between two disks. */
export async function tryLink(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.link(from, to);
    return true;
  } catch (error) {
    if (
      hasCode(
        error,
        "EXDEV",
        "EPERM",
        "ENOTSUP",
        "EOPNOTSUPP",
        "ENOSYS",
        "EMLINK",
        "EINVAL",
        "ENOENT",
        "EISDIR",
      )
    )
      return false;
    throw error;
  }
}

interface Digest {
  readonly size: number;
  readonly sha256: string;
  readonly crc32: number;
}

/** Reads a file whole. */
export function digest(disk: Disk, path: string): Promise<Digest> {
  return readThrough(disk, path, async () => {});
}

/** Copies a file, synced; its folder is the caller's to sync. */
export async function copyFile(disk: Disk, from: string, to: string): Promise<Digest> {
  const file = await disk.open(to, "create");
  try {
    const read = await readThrough(disk, from, (piece, position) => file.write(piece, position));
    await file.sync();
    return read;
  } finally {
    await file.close();
  }
}

async function readThrough(
  disk: Disk,
  path: string,
  onPiece: (piece: Uint8Array, position: number) => Promise<void>,
): Promise<Digest> {
  const file = await disk.open(path, "read");
  try {
    const hash = createHash("sha256");
    let crc = 0;
    const size = await readInPieces(file, (await disk.size(path)) ?? 0, (piece, position) => {
      hash.update(piece);
      crc = crc32(piece, crc);
      return onPiece(piece, position);
    });
    return { size, sha256: hash.digest("hex"), crc32: crc };
  } finally {
    await file.close();
  }
}
