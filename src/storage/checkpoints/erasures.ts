import { join } from "node:path";
import { storeUnusable } from "../../core/errors.ts";
import { type Disk, replaceFile } from "../files/disk.ts";
import {
  arrayOf,
  isBoolean,
  isCount,
  isSha256,
  isStoreId,
  isText,
  isTime,
  objectOf,
  optional,
  type Shape,
} from "../files/shapes.ts";

/** A position of a store, and the stores whose backups it was restored from, the first one first. */
export interface Lineage {
  readonly storeId: string;
  readonly epoch: number;
  readonly sequence: number;
  /** Absent for none. */
  readonly ancestors?: readonly Ancestor[];
}

/** A store at the position of a backup that another store was restored from. */
export interface Ancestor extends Omit<Lineage, "ancestors"> {
  /** The folder of that backup. */
  readonly folder: string;
}

/** A user whose data was erased: a backup from before must not bring it back. Its position is that of the store then. */
export interface Erasure extends Lineage {
  /** SHA-256 of the store's id and the user's: the list must not name who was erased. */
  readonly user: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly keepsDocuments: boolean;
  readonly includesFacts: boolean;
}

const position = { storeId: isStoreId, epoch: isCount, sequence: isCount };
export const areAncestors = arrayOf(objectOf({ ...position, folder: isText }));
const isErasure = objectOf({
  ...position,
  ancestors: optional(areAncestors),
  user: isSha256,
  at: isTime,
  keepsDocuments: isBoolean,
  includesFacts: isBoolean,
});

/** In the data directory, and beside backups. */
const NAME = "ERASED";
/** In the data directory of a restored store. */
const ANCESTORS = "ANCESTORS";

/** Notes an erasure in a folder, durably. @throws the disk's error. */
export async function noteErasures(disk: Disk, folder: string, erasures: readonly Erasure[]): Promise<void> {
  const known = await readErasures(disk, folder);
  const lines = new Set([...known, ...erasures].map((erasure) => JSON.stringify(erasure)));
  if (lines.size > known.length)
    await replaceFile(disk, join(folder, NAME), Buffer.from([...lines, ""].join("\n")));
}

/** The noted erasures of a folder, oldest first. */
export async function readErasures(disk: Disk, folder: string): Promise<Erasure[]> {
  if ((await disk.size(join(folder, NAME))) === undefined) return [];
  const lines = (await disk.readFile(join(folder, NAME))).toString().split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line) => parsed(join(folder, NAME), line, isErasure) as Erasure);
}

/** Notes in a data directory what its store was restored from. */
export async function noteAncestors(
  disk: Disk,
  directory: string,
  ancestors: readonly Ancestor[],
): Promise<void> {
  await replaceFile(disk, join(directory, ANCESTORS), Buffer.from(JSON.stringify(ancestors)));
}

/** The stores that a store was restored from; none for one that began empty. */
export async function readAncestors(disk: Disk, directory: string): Promise<readonly Ancestor[]> {
  if ((await disk.size(join(directory, ANCESTORS))) === undefined) return [];
  const path = join(directory, ANCESTORS);
  return parsed(path, (await disk.readFile(path)).toString(), areAncestors) as Ancestor[];
}

/** @throws {ServiceError} STORE_UNUSABLE, naming the file. */
function parsed(path: string, text: string, shape: Shape): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (shape(value)) return value;
  } catch {
    // No JSON.
  }
  throw storeUnusable(
    `The file ${path} is damaged: it does not hold what memoryd writes there. Restore it from a backup, or move it away.`,
  );
}

/**
 * Whether a backup may hold data that an erasure removed from its store, or from one with which it has an ancestor in
 * common. Where the one is not a past of the other, the times decide.
 */
export function isErasedLater(erasure: Erasure, backup: Lineage & { readonly createdAt: number }): boolean {
  const erased = [...(erasure.ancestors ?? []), erasure];
  for (const left of [...(backup.ancestors ?? []), backup].reverse()) {
    const common = erased.find(({ storeId }) => storeId === left.storeId);
    if (common === undefined) continue;
    const order = comparePositions(common, left);
    if (common === erasure && order <= 0) return false;
    if (left === backup && order >= 0) return true;
    return erasure.at > backup.createdAt;
  }
  return false;
}

export function comparePositions(
  a: Pick<Lineage, "epoch" | "sequence">,
  b: Pick<Lineage, "epoch" | "sequence">,
): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}
