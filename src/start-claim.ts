import { mkdir } from "node:fs/promises";
import { refuseForeignDirectory } from "./storage/data-directory.ts";
import { nodeDisk } from "./storage/disk.ts";
import { claimRight, type DirectoryLock } from "./storage/lock.ts";
import { whereDataIs } from "./storage/moved.ts";

/**
 * The right to start the daemon of a data directory, which one process has at a time; undefined while another has it. It
 * ends with its process, whatever becomes of that.
 *
 * @param named the directory as it was named; the right is had where its data is by now.
 * @throws {ServiceError} STORE_UNUSABLE if the directory cannot be written to, or holds other things.
 */
export async function claimStart(named: string): Promise<DirectoryLock | undefined> {
  const dataDir = whereDataIs(named);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await refuseForeignDirectory(nodeDisk, dataDir);
  return claimRight(dataDir, "starting");
}
