import { join } from "node:path";
import { type Disk, replaceFile } from "./disk.ts";

/** A user whose data was erased: a backup from before must not bring it back. */
export interface Erasure {
  readonly storeId: string;
  /** SHA-256 of the store's id and the user's: the list must not name who was erased. */
  readonly user: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Position of the store when it was done: backups before it have the user's data. */
  readonly epoch: number;
  readonly sequence: number;
  readonly keepsDocuments: boolean;
  readonly includesFacts: boolean;
}

/** In the data directory, and beside backups. */
const NAME = "ERASED";

/** Notes an erasure in a folder, durably. @throws the disk's error. */
export async function noteErasures(disk: Disk, folder: string, erasures: readonly Erasure[]): Promise<void> {
  const known = await readErasures(disk, folder);
  const lines = new Set([...known, ...erasures].map((erasure) => JSON.stringify(erasure)));
  if (lines.size > known.length)
    await replaceFile(disk, join(folder, NAME), Buffer.from([...lines, ""].join("\n")));
}

/** What is noted in a folder, oldest first. */
export async function readErasures(disk: Disk, folder: string): Promise<Erasure[]> {
  if ((await disk.size(join(folder, NAME))) === undefined) return [];
  const lines = (await disk.readFile(join(folder, NAME))).toString().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Erasure);
}
