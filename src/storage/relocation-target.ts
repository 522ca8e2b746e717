import { constants, type BigIntStats } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import { type Disk, hasCode } from "./disk.ts";
import { INCOMING_NAME, MOVED_NAME, readIncoming, readMoved, whereDataIs } from "./moved.ts";
import type { Contents } from "./relocation-contents.ts";

/** What is kept free beside a copy: for folders, and for the daemon that starts there. */
const MARGIN_BYTES = 32 * 1024 ** 2;
/** What an empty folder may hold. */
const NOTHING = /^(lock(\..*)?|lost\+found)$/;

export interface Target {
  /** Whether it is the place that the data is in. */
  readonly isHere: boolean;
  /** Whether there is such a folder. */
  readonly exists: boolean;
  /** Bytes that have to be copied, as far as can be known before. */
  readonly toCopy: number;
}

/**
 * Looks whether a data directory can be moved to a place. Changes nothing.
 *
 * @throws {ServiceError} STORE_UNUSABLE that says why not.
 */
export async function checkTarget(disk: Disk, from: string, to: string, contents: Contents): Promise<Target> {
  const home = await statOf(from);
  if (home === undefined) throw refused(`There is no folder ${from}.`);
  const there = await folderAt(to);
  if (there !== undefined && isSame(home, there)) return { isHere: true, exists: true, toCopy: 0 };

  const parent = await nearestFolder(there === undefined ? dirname(to) : to);
  if (await isOnTheWay(home, parent.path))
    throw refused(`${to} lies inside the data directory ${from}; choose a place outside of it.`);
  if (there !== undefined && (await isOnTheWay(there, from)))
    throw refused(`The data directory ${from} lies inside ${to}; choose an empty folder, or a new one.`);
  const isResumed = there !== undefined && (await requireEmpty(disk, from, home, to));
  await requireWritable(from);
  await requireWritable(parent.path);

  // Files keep their place on one file system, and get another name only.
  const toCopy =
    parent.stat.dev === home.dev ? 0 : contents.bytes - (isResumed ? await bytesAt(disk, to, contents) : 0);
  const free = await disk.freeBytes(parent.path);
  if (toCopy > 0 && free < toCopy + MARGIN_BYTES) {
    throw refused(
      `The disk of ${to} has ${inMegabytes(free)} free, and ${inMegabytes(toCopy + MARGIN_BYTES)} are needed; free some space there, or choose another place.`,
    );
  }
  return { isHere: false, exists: there !== undefined, toCopy };
}

/** Whether there is something of an earlier try. @throws {ServiceError} if there is anything else. */
async function requireEmpty(disk: Disk, from: string, home: BigIntStats, to: string): Promise<boolean> {
  const incoming = readIncoming(to);
  if (incoming !== undefined) {
    const origin = await statOf(incoming.from);
    if (origin !== undefined && isSame(origin, home)) return true;
    throw refused(
      `${to} holds an unfinished move from ${incoming.from}; go on with that one, or remove ${join(to, INCOMING_NAME)} and what is beside it.`,
    );
  }
  const moved = readMoved(to);
  // Back to where it once came from.
  const leadsHere = moved !== undefined && isSame((await statOf(whereDataIs(to))) ?? home, home);
  const names = (await disk.list(to)).map(({ name }) => name);
  const other = names.find((name) => !NOTHING.test(name) && !(name === MOVED_NAME && leadsHere));
  if (other === undefined) return false;
  throw refused(
    `${to} is not empty (${other} is there); choose an empty folder, or a new one. ${from} stays as it is.`,
  );
}

async function bytesAt(disk: Disk, to: string, { files }: Contents): Promise<number> {
  let bytes = 0;
  for (const { path, size } of files) if ((await disk.size(join(to, path))) === size) bytes += size;
  return bytes;
}

async function requireWritable(folder: string): Promise<void> {
  try {
    await fs.access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = hasCode(error, "EROFS") ? "its disk can only be read" : "you may not write there";
    throw refused(`${folder} cannot be changed: ${why}.`);
  }
}

async function folderAt(path: string): Promise<BigIntStats | undefined> {
  const found = await statOf(path);
  if (found === undefined && (await fs.lstat(path).catch(() => undefined)) !== undefined)
    throw refused(`${path} is a symbolic link to a place that is not there.`);
  if (found !== undefined && !found.isDirectory()) throw refused(`${path} is a file; name a folder.`);
  return found;
}

async function nearestFolder(path: string): Promise<{ path: string; stat: BigIntStats }> {
  for (let place = path; ; place = dirname(place)) {
    const stat = await statOf(place);
    if (stat?.isDirectory()) return { path: place, stat };
    if (stat !== undefined) throw refused(`${place} is a file, so that there can be no folder in it.`);
    if (dirname(place) === place) throw refused(`There is no folder on the way to ${path}.`);
  }
}

/** Whether a folder is a path's, or one above it: by what they are, not by how they are written. */
async function isOnTheWay(folder: BigIntStats, path: string): Promise<boolean> {
  for (let place = await fs.realpath(path); ; place = dirname(place)) {
    const stat = await statOf(place);
    if (stat !== undefined && isSame(stat, folder)) return true;
    if (dirname(place) === place) return false;
  }
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await fs.stat(path, { bigint: true });
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (hasCode(error, "EACCES")) throw refused(`${path} cannot be looked at: you may not go there.`);
    throw error;
  }
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function refused(message: string): ServiceError {
  return new ServiceError("STORE_UNUSABLE", `${message} Nothing was changed.`);
}
