import { ServiceError } from "../../core/errors.ts";

/** What to do about a journal that cannot be read, and that nothing was done about it yet. */
const ADVICE = "Nothing was changed. Make a copy of the data directory, then restore a backup.";

/** A journal that cannot be trusted: opening it is refused, with a sentence that names the file. */
export function journalUnusable(file: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError("STORE_UNUSABLE", `The journal file ${file} ${problem}. ${ADVICE}`, { cause });
}
