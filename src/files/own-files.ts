/** Small files of the data directory that are not the store's, read whole and replaced whole; and JSON. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isMissing } from "../config/narrow.ts";
import { jsonOf } from "../schemas/json-limits.ts";

export { jsonOf } from "../schemas/json-limits.ts";

/** The text of a file; undefined if there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The JSON in a file; undefined if there is none, null for a damaged one. */
export function readJson(path: string): unknown {
  const text = readIfThere(path);
  return text === undefined ? undefined : (jsonOf(text) ?? null);
}

/** Writes JSON in a file's place, for its owner alone. */
export const writeJson = (path: string, value: unknown): void =>
  replaceText(path, `${JSON.stringify(value, null, 2)}\n`);

/**
 * Writes a text in a file's place: readers see the old file or the new one, whole.
 * @param isSynced also after a power failure. @param lastLook called before; nothing is changed where it throws.
 */
export function replaceText(
  path: string,
  text: string,
  {
    mode = 0o600,
    isSynced = false,
    lastLook = () => {},
  }: { mode?: number; isSynced?: boolean; lastLook?: () => void } = {},
): void {
  const temporary = `${path}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, text, { mode, flag: "wx", flush: isSynced });
    // The mode above passes the umask.
    chmodSync(temporary, mode);
    lastLook();
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Makes a folder with its parents, by default for its owner alone; nothing where it is there. Not by `recursive`: where a parent
 * that is there refuses with ENOENT, as /proc does, Node 20 goes on for ever.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const isThere = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere(path)) return;
  const parent = dirname(resolve(path));
  if (!isThere(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isThere(path)) throw error;
  }
}
