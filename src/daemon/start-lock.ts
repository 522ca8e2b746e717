import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { refuseForeignDirectory } from "../storage/data-directory.ts";
import { nodeDisk } from "../storage/disk.ts";
import { type DirectoryLock, tryLock } from "../storage/lock.ts";

/**
 * The lock under which one process at a time starts the daemon of a data directory; undefined while another has it. It ends
 * with its process.
 *
 * @throws {ServiceError} STORE_UNUSABLE if the directory cannot be written to, or holds other things.
 */
export async function lockStart(dataDir: string): Promise<DirectoryLock | undefined> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await refuseForeignDirectory(nodeDisk, dataDir);
  return tryLock(dataDir, START_LOCK);
}

/** The file of that lock, for people. */
export function startLockOf(dataDir: string): string {
  return join(dataDir, `lock.${START_LOCK}`);
}

const START_LOCK = "starting";
