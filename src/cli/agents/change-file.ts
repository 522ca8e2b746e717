import * as fs from "node:fs";
import { makeFolder, replaceText } from "../../files/own-files.ts";
import { isWithin } from "../../files/watched-folders.ts";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { messageOf } from "../../config/narrow.ts";
import { CliFailure, printTable, textIn } from "../output/output.ts";
import { RefusedEdit } from "./known-agents.ts";

export interface FileChange {
  readonly changed: boolean;
  /** Path of the copy of the person's own file, if it was made now. */
  readonly backup: string | undefined;
}

/** The text of a file; undefined if there is none. @throws {CliFailure} if it cannot be read as UTF-8. */
export function readConfigFile(path: string): string | undefined {
  const bytes = orFailure(path, "read", () =>
    fs.statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : fs.readFileSync(path),
  );
  return bytes && textIn(bytes, `${path} is not UTF-8; nothing was changed.`);
}

/**
 * Gives a file the text that `change` makes of its text, at once, keeping its mode. The person's own text stays beside it as
 * `….before-memoryd`, which is made once and goes when the file has that text again. A symbolic link stays one. Does nothing
 * where the text stays.
 * @param newMode the mode of a file that was not there.
 * @param advice what to do where it cannot be edited.
 * @param change gets "" for a file that is not there, and the text of the copy if there is one; undefined removes the file, and
 * the folders that are empty then.
 * @throws {CliFailure} if it cannot be read, edited or written, or changed meanwhile.
 */
export function changeConfigFile(
  path: string,
  newMode: number,
  advice: string,
  change: (text: string, own: string | undefined) => string | undefined,
): FileChange {
  const before = readConfigFile(path);
  const backup = `${before === undefined ? path : fs.realpathSync(path)}.before-memoryd`;
  const own = readConfigFile(backup);
  // A file that is to go and was the person's becomes theirs again.
  const after = edited(path, advice, () => change(before ?? "", own)) ?? own;
  if (after === (before ?? "")) return { changed: false, backup: undefined };
  if (after === undefined) {
    orFailure(path, "removed", () => fs.rmSync(path));
    removeEmptyFolders(dirname(path));
    return { changed: true, backup: undefined };
  }
  return orFailure(path, "written", () => {
    makeFolder(dirname(path), 0o777);
    const target = before === undefined && !isLink(path) ? path : fs.realpathSync(path);
    const mode = before === undefined ? newMode : fs.statSync(target).mode & 0o777;
    const isFirst = before !== undefined && own === undefined;
    if (isFirst) replaceText(backup, before, { mode, isSynced: true });
    const lastLook = () => {
      if (readConfigFile(target) === before) return;
      throw new CliFailure(`${path} was changed by another program just now; try again.`);
    };
    replaceText(target, after, { mode, isSynced: true, lastLook });
    if (after === own) fs.rmSync(backup, { force: true });
    return { changed: true, backup: isFirst ? backup : undefined };
  });
}

/** Removes a folder and those around it as long as they are empty, below the person's own and the one that the command runs in. */
function removeEmptyFolders(folder: string): void {
  const isOfPerson = (path: string) => path === homedir() || isWithin(path, process.cwd());
  try {
    for (let path = folder; !isOfPerson(path) && dirname(path) !== path; path = dirname(path))
      fs.rmdirSync(path);
  } catch {
    // It is not empty, or not ours to remove.
  }
}

function orFailure<T>(path: string, deed: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(`${path} cannot be ${deed}: ${messageOf(error)}.`, { cause: error });
  }
}

/** The file's text as `change` has it. @param advice what to do where it cannot be edited. @throws {CliFailure} then. */
export function edited<T>(file: string, advice: string, change: () => T): T {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof RefusedEdit)) throw error;
    throw new CliFailure(`${file} was left as it is. ${error.message}, so mend it${advice}.`, {
      cause: error,
    });
  }
}

/** Names a file that was changed, and the copy of what it was. */
export function printChange(file: string, { changed, backup }: FileChange): void {
  if (changed)
    printTable([["file", file], ...(backup === undefined ? [] : [["as it was", backup] as const])]);
}

const isLink = (path: string): boolean =>
  fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
