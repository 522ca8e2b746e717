import { storeUnusable } from "../../core/errors.ts";
import type { Disk } from "./disk.ts";

/** In a data directory: temporary files of LanceDB's own. */
export const TEMPORARY_FOLDER = "lancedb-tmp";
/** Files that only data directories have, besides those in their own folders. */
const STORE_NAMES =
  /^(CHECKPOINT-\d+(\.tmp)?|INDEXES|KEYS(\.tmp)?|MODEL(\..*)?|journal|tables|set-aside|backups|doctor|ERASED(\.tmp)?|UNDO(\.tmp)?|ANCESTORS(\.tmp)?|files|DAMAGED(\.tmp)?|daemon\.json(\..*)?)$/;
/** Files that exist before there is a store: a starter's claim and its log, consents to agents' hooks and what these note. */
const OTHER_NAMES =
  /^(lock(\..*)?|memoryd\.log(\..*)?|models|hooks(-told|-late)?\.json(\..*)?|watch(-status|ed-folders)\.json(\..*)?|captured|ended|owed|lancedb-tmp|lost\+found)$/;

/** Refuses a folder with other things and no store. @throws {ServiceError} STORE_UNUSABLE. */
export async function refuseForeignDirectory(disk: Disk, directory: string): Promise<void> {
  const names = (await disk.list(directory)).map(({ name }) => name);
  if (names.some((name) => STORE_NAMES.test(name)) || names.every((name) => OTHER_NAMES.test(name))) return;
  throw storeUnusable(
    `${directory} holds other things and no memories; name an empty folder, or a new one, with --data-dir. Nothing was changed.`,
  );
}

/** True if a store was ever made there. */
export async function holdsStore(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.list(directory)).some(({ name }) => /^(CHECKPOINT-\d+|journal|tables)$/.test(name));
}
