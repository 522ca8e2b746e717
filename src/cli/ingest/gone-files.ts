import { lstat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";

/** What of the files taken in earlier is no longer there. */
export interface GoneFiles {
  /** Paths at or below the roots. */
  readonly known: number;
  readonly gone: readonly string[];
  /** Roots that are not there themselves: a disk that is not mounted looks so. */
  readonly missingRoots: readonly string[];
}

/**
 * Asks for each known path whether there is anything at it. Only a clear no counts: a file that became empty, is left
 * out now, or lies in a folder that may not be read has not been deleted.
 */
export async function findGone(roots: readonly string[], paths: Iterable<string>): Promise<GoneFiles> {
  const folders = roots.map((root) => resolve(root));
  const missingRoots: string[] = [];
  for (const folder of folders) if (await isGone(folder)) missingRoots.push(folder);
  const gone: string[] = [];
  let known = 0;
  for (const path of paths) {
    if (!folders.some((folder) => isWithin(folder, path))) continue;
    known += 1;
    if (await isGone(path)) gone.push(path);
  }
  return { known, gone, missingRoots };
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path);
}

async function isGone(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => false,
    (error: unknown) =>
      error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"),
  );
}
