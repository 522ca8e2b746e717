import type { Dirent } from "node:fs";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import { hasCode } from "./disk.ts";

export interface Contents {
  /** Relative to the place. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Parents before what is in them. */
  readonly folders: readonly string[];
  readonly bytes: number;
}

/** At the top of a data directory: what belongs to the place, or to a process, and not to the data. */
export const STAYS =
  /^(lock(\..*)?|daemon\.json(\..*)?|MOVED(\.tmp)?|INCOMING(\.tmp)?|CAME_FROM(\.tmp)?|lost\+found)$/;

/**
 * All that moves when a data directory does.
 *
 * @throws {ServiceError} STORE_UNUSABLE if there is something that is neither file nor folder.
 */
export async function contentsOf(place: string): Promise<Contents> {
  const files: { path: string; size: number }[] = [];
  const folders: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await entriesOf(join(place, folder))) {
      if (folder === "" && STAYS.test(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        folders.push(path);
        await visit(path);
      } else if (entry.isFile()) files.push({ path, size: (await fs.lstat(join(place, path))).size });
      else throw neither(join(place, path), entry);
    }
  };
  await visit("");
  return { files, folders, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await fs.readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

function neither(path: string, entry: Dirent): ServiceError {
  const what = entry.isSymbolicLink() ? "a symbolic link" : "neither a file nor a folder";
  return new ServiceError(
    "STORE_UNUSABLE",
    `${path} is ${what}, which cannot be moved with the rest. Put what it stands for in its place, or take it away. Nothing was changed.`,
  );
}
