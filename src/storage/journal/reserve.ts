import { randomFillSync } from "node:crypto";
import { join } from "node:path";
import { type Disk, replaceFile } from "../disk.ts";

export const RESERVE_BYTES = 1024 * 1024;

/** Room on the disk kept for the journal: given up on a full disk so that memories can still be deleted. */
export interface Reserve {
  /** Makes the file unless it is there; true when it is. Needs as much free space. */
  ensure(): Promise<boolean>;
  /** Frees the room; false if it was given up before. */
  giveUp(): Promise<boolean>;
}

export function createReserve(disk: Disk, directory: string): Reserve {
  const path = join(directory, "reserve");
  return {
    async ensure() {
      try {
        if ((await disk.size(path)) === RESERVE_BYTES) return true;
        // Random: a file system that compresses, or keeps zeros as holes, would set nothing aside.
        await replaceFile(disk, path, randomFillSync(new Uint8Array(RESERVE_BYTES)));
        return true;
      } catch {
        return false;
      }
    },
    async giveUp() {
      if ((await disk.size(path)) === undefined) return false;
      await disk.remove(path);
      await disk.syncDirectory(directory);
      return true;
    },
  };
}
