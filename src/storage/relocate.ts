import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import { type Disk, hasCode, removeTree } from "./disk.ts";
import { CAME_FROM_NAME, inheritEarlierPlaces, leadEarlierPlaces } from "./earlier-places.ts";
import { contentsOf, type Contents, STAYS } from "./relocation-contents.ts";
import { INCOMING_NAME, MOVED_NAME, readIncoming, readMoved, writeIncoming, writeMoved } from "./moved.ts";

export interface RelocateOptions {
  readonly disk: Disk;
  /** As link(2): a second name of a file on the same file system. */
  readonly link?: typeof fs.link;
  /** Bytes that have come over so far. */
  readonly onProgress: (progress: { readonly bytes: number; readonly totalBytes: number }) => void;
  /** Aborted before the move has happened, nothing is changed. */
  readonly signal: AbortSignal;
}

export interface Relocated extends Finished {
  readonly files: number;
  readonly bytes: number;
  /** Bytes that were copied; the others only got another name. */
  readonly copiedBytes: number;
}

export interface Finished {
  /** Files in the old place that are not as they are in the new one, and were left there. */
  readonly left: readonly string[];
  /** Marks in earlier places that could not be led to the new one. */
  readonly untold: readonly string[];
}

const CHUNK_BYTES = 1024 ** 2;
/** What file systems that cannot link files say, and those that may not for this user. */
const NO_LINK = ["EXDEV", "EPERM", "EACCES", "ENOTSUP", "ENOSYS", "EOPNOTSUPP", "EMLINK", "EINVAL"] as const;

/**
 * Moves all that is in a data directory to another place. Until the mark in the old place is durable, everything is
 * there, and what an earlier try has left in the new one is used; from then on everything is in the new place. The
 * caller holds the locks of both and has looked at the target.
 *
 * @throws Node's errors, or the signal's reason; then nothing was changed, unless the mark was being written.
 */
export async function relocate(from: string, to: string, options: RelocateOptions): Promise<Relocated> {
  const { disk } = options;
  const contents = await contentsOf(from);
  const { id } = readIncoming(to) ?? (await writeIncoming(disk, to, from));
  let copiedBytes: number;
  try {
    copiedBytes = await bringOver(contents, from, to, options);
    await inheritEarlierPlaces(disk, { id, from }, to);
  } catch (error) {
    await undo(disk, to).catch(() => undefined);
    throw error;
  }
  // From here on nothing is taken back: after a failure nobody knows whether the mark is on the disk.
  await writeMoved(disk, from, { id, to });
  const finished = await finishRelocation(disk, to, { keepsLocks: true });
  return { files: contents.files.length, bytes: contents.bytes, copiedBytes, ...finished };
}

async function bringOver(
  { files, folders, bytes: totalBytes }: Contents,
  from: string,
  to: string,
  { disk, link = fs.link, onProgress, signal }: RelocateOptions,
): Promise<number> {
  await removeOthers(disk, to, new Set([...files.map(({ path }) => path), ...folders]));
  for (const folder of folders) await disk.makeDirectory(join(to, folder));

  let bytes = 0;
  let copiedBytes = 0;
  for (const { path, size } of files) {
    signal.throwIfAborted();
    onProgress({ bytes, totalBytes });
    const [source, target] = [join(from, path), join(to, path)];
    if (!(await isSame(disk, source, target))) {
      await disk.remove(target);
      if (!(await linked(link, source, target))) {
        await copyVerified(disk, source, target, (done) => {
          signal.throwIfAborted();
          onProgress({ bytes: bytes + done, totalBytes });
        });
        copiedBytes += size;
      }
    }
    bytes += size;
  }
  // The deepest first: `contentsOf` has parents before what is in them.
  for (const folder of [...folders].reverse()) await disk.syncDirectory(join(to, folder));
  await disk.syncDirectory(to);
  await disk.syncDirectory(dirname(to));
  signal.throwIfAborted();
  onProgress({ bytes, totalBytes });
  return copiedBytes;
}

/** What an earlier try brought over and is gone from the old place since. */
async function removeOthers(disk: Disk, to: string, wanted: ReadonlySet<string>): Promise<void> {
  const there = await contentsOf(to);
  for (const { path } of there.files) if (!wanted.has(path)) await disk.remove(join(to, path));
  for (const folder of [...there.folders].reverse())
    if (!wanted.has(folder)) await removeTree(disk, join(to, folder));
}

/** Whether a file came over in an earlier try, and has not changed since. */
async function isSame(disk: Disk, source: string, target: string): Promise<boolean> {
  const size = await disk.size(target);
  if (size === undefined || size !== (await disk.size(source))) return false;
  if (await isOneFile(source, target)) return true;
  if (!(await sha256Of(disk, source)).equals(await sha256Of(disk, target))) return false;
  // Whoever copied it may have ended before this.
  const file = await disk.open(target, "write");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}

async function isOneFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([fs.stat(one, { bigint: true }), fs.stat(other, { bigint: true })]);
  return a.dev === b.dev && a.ino === b.ino;
}

async function linked(link: typeof fs.link, source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (hasCode(error, ...NO_LINK)) return false;
    throw error;
  }
}

/** @throws {ServiceError} STORE_UNUSABLE if the copy does not read as what was written. */
async function copyVerified(
  disk: Disk,
  source: string,
  target: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const written = createHash("sha256");
  const file = await disk.open(target, "create");
  try {
    let position = 0;
    for await (const chunk of chunksOf(disk, source)) {
      onProgress(position);
      written.update(chunk);
      await file.write(chunk, position);
      position += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (!written.digest().equals(await sha256Of(disk, target))) {
    throw new ServiceError(
      "STORE_UNUSABLE",
      `The copy ${target} does not read as it was written: that disk cannot be relied on. Nothing was changed.`,
    );
  }
}

async function sha256Of(disk: Disk, path: string): Promise<Buffer> {
  const hash = createHash("sha256");
  for await (const chunk of chunksOf(disk, path)) hash.update(chunk);
  return hash.digest();
}

/** Each chunk is good until the next one. */
async function* chunksOf(disk: Disk, path: string): AsyncGenerator<Uint8Array> {
  const file = await disk.open(path, "read");
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let position = 0; ;) {
      const count = await file.read(buffer, position);
      if (count > 0) yield buffer.subarray(0, count);
      if (count < buffer.length) return;
      position += count;
    }
  } finally {
    await file.close();
  }
}

/** Takes away what a failed try brought to the new place; what was there before stays. */
async function undo(disk: Disk, to: string): Promise<void> {
  await removeOthers(disk, to, new Set());
  await disk.remove(join(to, CAME_FROM_NAME));
  await disk.remove(join(to, INCOMING_NAME));
}

/**
 * Tidies up behind a move that has happened: removes from the old place what is the same in the new one, leads earlier
 * places to the new one, then removes the marks in it. The caller has the new place.
 *
 * @param keepsLocks where somebody holds the lock of the old place.
 */
export async function finishRelocation(
  disk: Disk,
  to: string,
  { keepsLocks = false }: { readonly keepsLocks?: boolean } = {},
): Promise<Finished> {
  const incoming = readIncoming(to);
  if (incoming === undefined || readMoved(incoming.from)?.id !== incoming.id) return { left: [], untold: [] };
  const { from } = incoming;
  // The mark was perhaps written by a process that ended before it was durable.
  await disk.syncDirectory(from);

  const { files, folders } = await contentsOf(from);
  const left: string[] = [];
  for (const { path, size } of files) {
    if ((await disk.size(join(to, path))) === size) await disk.remove(join(from, path));
    else left.push(join(from, path));
  }
  for (const folder of [...folders].reverse()) {
    await fs.rmdir(join(from, folder)).catch((error: unknown) => {
      if (!hasCode(error, "ENOTEMPTY", "EEXIST", "ENOENT")) throw error;
    });
  }
  for (const { name } of await disk.list(from)) {
    const isLock = name === "lock" || name.startsWith("lock.");
    const isOfData = name.startsWith("daemon.json") || name === INCOMING_NAME || name === CAME_FROM_NAME;
    const isOver = isOfData || (isLock && !keepsLocks);
    if (isOver && STAYS.test(name)) await disk.remove(join(from, name));
  }
  await disk.syncDirectory(from);

  // In this order: an `INCOMING` that has arrived is what tells this place from one that was moved from.
  await disk.remove(join(to, MOVED_NAME));
  await disk.syncDirectory(to);
  const untold = await leadEarlierPlaces(disk, to);
  await disk.remove(join(to, INCOMING_NAME));
  await disk.syncDirectory(to);
  return { left, untold };
}
