import { ServiceError } from "../core/errors.ts";
import type { Disk } from "./disk.ts";

/** What tells a data directory from another folder, besides what is in its own. */
const STORE_NAMES =
  /^(CHECKPOINT-\d+(\.tmp)?|KEYS(\.tmp)?|MODEL(\.tmp)?|journal|tables|set-aside|before-upgrade|backups|ERASED(\.tmp)?|files|DAMAGED(\.tmp)?|daemon\.json(\..*)?)$/;
/** What stands there before there is a store: who starts one claims it and opens a log. */
const OTHER_NAMES = /^(lock(\..*)?|memoryd\.log(\..*)?|ingested\.ndjson(\.tmp)?|lost\+found)$/;

/**
 * Refuses a folder that holds other things and no store: it would become private, and other things would come to stand
 * between memories.
 *
 * @throws {ServiceError} STORE_UNUSABLE.
 */
export async function refuseForeignDirectory(disk: Disk, directory: string): Promise<void> {
  const names = (await disk.list(directory)).map(({ name }) => name);
  if (names.includes("MOVED")) {
    throw new ServiceError(
      "STORE_UNUSABLE",
      `memoryd 0.1.0 moved what was in ${directory} to another folder, which the file MOVED there names; name that folder ` +
        "with --data-dir. Nothing was changed.",
    );
  }
  if (names.some((name) => STORE_NAMES.test(name)) || names.every((name) => OTHER_NAMES.test(name))) return;
  throw new ServiceError(
    "STORE_UNUSABLE",
    `${directory} holds other things and no memories; name an empty folder, or a new one, with --data-dir. Nothing was changed.`,
  );
}

/** Whether a store was ever made there. */
export async function holdsStore(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.list(directory)).some(({ name }) => /^(CHECKPOINT-\d+|journal|tables)$/.test(name));
}
