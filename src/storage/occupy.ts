import { join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import { nodeDisk } from "./disk.ts";
import { acquireLock, type DirectoryLock } from "./lock.ts";
import { hasArrived, INCOMING_NAME, readIncoming, readMoved } from "./moved.ts";
import { finishRelocation } from "./relocate.ts";

/**
 * Makes this process the only one in a data directory, which is whole and not moved from here: a move that had come to
 * its end but for some tidying is finished.
 *
 * @throws {ServiceError} STORE_UNUSABLE as `acquireLock`; also where the data was moved from, or is not all there yet.
 */
export async function occupy(directory: string): Promise<DirectoryLock> {
  const lock = await acquireLock(directory);
  try {
    if (hasArrived(directory)) await finishRelocation(nodeDisk, directory);
    refuseHalf(directory);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function refuseHalf(directory: string): void {
  const moved = readMoved(directory);
  if (moved !== undefined) {
    throw new ServiceError(
      "STORE_UNUSABLE",
      `What was in ${directory} has been moved to ${moved.to} at this moment; try again.`,
      { retryAfterSeconds: 1 },
    );
  }
  const incoming = readIncoming(directory);
  if (incoming === undefined) return;
  throw new ServiceError(
    "STORE_UNUSABLE",
    `${directory} holds an unfinished move from ${incoming.from}, where everything still is. \`memoryd data move ${directory} ` +
      `--data-dir ${incoming.from}\` goes on with it; to give it up, remove ${directory}. (If ${incoming.from} has gone ` +
      `and you are certain that all is here, remove ${join(directory, INCOMING_NAME)}.)`,
  );
}
