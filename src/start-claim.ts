import { mkdir } from "node:fs/promises";
import { refuseForeignDirectory } from "./storage/data-directory.ts";
import { nodeDisk } from "./storage/disk.ts";
import { claimRight, type DirectoryLock } from "./storage/lock.ts";

/**
 * The right to start the daemon of a data directory, which one process has at a time; undefined while another has it. It
 * ends with its process, whatever becomes of that.
 *
 * @throws {ServiceError} STORE_UNUSABLE if the directory cannot be written to, or holds other things.
 */
export async function claimStart(dataDir: string): Promise<DirectoryLock | undefined> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await refuseForeignDirectory(nodeDisk, dataDir);
  return claimRight(dataDir, "starting");
}
