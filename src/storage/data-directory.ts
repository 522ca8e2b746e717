import { ServiceError } from "../core/errors.ts";
import type { Disk } from "./disk.ts";

/** What a data directory holds, besides what is in its folders. */
const OWN_NAMES =
  /^(CHECKPOINT-\d+(\.tmp)?|journal|tables|set-aside|files|lock(\..*)?|daemon\.json(\..*)?|memoryd\.log(\..*)?|lost\+found)$/;

/**
 * Refuses a folder that holds other things and no store: it would become private, and other things would come to stand
 * between memories.
 *
 * @throws {ServiceError} STORE_UNUSABLE.
 */
export async function refuseForeignDirectory(disk: Disk, directory: string): Promise<void> {
  const names = (await disk.list(directory)).map(({ name }) => name);
  if (names.length === 0 || names.some((name) => OWN_NAMES.test(name))) return;
  throw new ServiceError(
    "STORE_UNUSABLE",
    `${directory} holds other things and no memories; name an empty folder, or a new one, with --data-dir. Nothing was changed.`,
  );
}

/** Whether a store was ever made there. */
export async function holdsStore(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.list(directory)).some(({ name }) => /^(CHECKPOINT-\d+|journal|tables)$/.test(name));
}
