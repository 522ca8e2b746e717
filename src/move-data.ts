import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "./core/errors.ts";
import { holdsStore } from "./storage/data-directory.ts";
import { nodeDisk } from "./storage/disk.ts";
import { acquireLock, claimRight } from "./storage/lock.ts";
import { hasArrived, MOVED_NAME, whereDataIs } from "./storage/moved.ts";
import { occupy } from "./storage/occupy.ts";
import { relocate, type Relocated, type RelocateOptions } from "./storage/relocate.ts";
import { contentsOf } from "./storage/relocation-contents.ts";
import { checkTarget, type Target } from "./storage/relocation-target.ts";

export interface MovedStore extends Relocated {
  /** The file in the old place that leads to the new one. */
  readonly mark: string;
}

/** Where what was in a data directory is by now. @throws {ServiceError} STORE_UNUSABLE if it is not there. */
export function currentPlace(dataDir: string): string {
  return whereDataIs(dataDir);
}

/** Looks whether a store can be moved. Changes nothing. @throws {ServiceError} STORE_UNUSABLE that says why not. */
export async function checkMove(from: string, to: string): Promise<Target> {
  if (!(await holdsStore(nodeDisk, from)))
    throw new ServiceError(
      "STORE_UNUSABLE",
      `There is no store in ${from}, so there is nothing to move; name another folder with --data-dir.`,
    );
  return await checkTarget(nodeDisk, from, to, await contentsOf(from));
}

/** Tidies up behind a move to a place that was cut short after it had happened. Returns whether there was one. */
export async function finishMove(place: string): Promise<boolean> {
  if (!hasArrived(place)) return false;
  await (await occupy(place)).release();
  return true;
}

/**
 * Makes the new place of a move, which was looked at, and holds the right to start a daemon in it: agents are led there the
 * moment that the data is there, and would start one of their own.
 *
 * @throws {ServiceError} STORE_UNUSABLE if another process holds it, or if the place cannot be written to.
 */
export async function withRightThere<T>(to: string, { exists }: Target, work: () => Promise<T>): Promise<T> {
  await nodeDisk.makeDirectory(to);
  try {
    // Not `claimStart`: where data goes back, a mark leads from there to where it still is.
    const right = await claimRight(to, "starting");
    if (right === undefined) {
      throw new ServiceError(
        "STORE_UNUSABLE",
        `Another process is moving to ${to}, or starting memoryd there, at this moment; try again when it is done. Nothing was changed.`,
      );
    }
    try {
      return await work();
    } finally {
      await right.release();
    }
  } catch (error) {
    // Only if it is empty again.
    if (!exists) await rmdir(to).catch(() => undefined);
    throw error;
  }
}

/**
 * Moves a store whose daemon does not run into a place that is there. Killed at any moment, all is in the old place or in the new one.
 *
 * @throws {ServiceError} STORE_UNUSABLE, Node's errors, or the signal's reason.
 */
export async function moveStore(
  from: string,
  to: string,
  options: Pick<RelocateOptions, "onProgress" | "signal">,
): Promise<MovedStore> {
  const lock = await occupy(from);
  try {
    // Once more: now nothing changes there any more.
    await checkMove(from, to);
    const targetLock = await acquireLock(to);
    try {
      return {
        ...(await relocate(from, to, { disk: nodeDisk, ...options })),
        mark: join(from, MOVED_NAME),
      };
    } finally {
      await targetLock.release();
    }
  } finally {
    await lock.release();
  }
}
