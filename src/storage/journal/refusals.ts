import { dirname } from "node:path";
import { notReady, type ServiceError, storeFull, storeUnusable } from "../../core/errors.ts";
import type { Change } from "../../core/rows.ts";
import { hasCode } from "../files/disk.ts";

/** True if the disk, or a quota on it, was full. */
export function isFull(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

export function diskFull(cause?: unknown): ServiceError {
  return storeFull(
    "The disk is full, so nothing was stored. Free some space; deleting memories for good still works.",
    { cause },
  );
}

export function writeRefused(cause: unknown): ServiceError {
  return notReady(`The disk refused a write${codeOf(cause)}; nothing of it was stored. Try again.`, {
    cause,
    retryAfterSeconds: 1,
  });
}

/** After a failed sync, or where a failed write could not be cut off. */
export function diskFailed(cause: unknown): ServiceError {
  return notReady(
    `The disk failed to keep a write${codeOf(cause)}, so nothing more is stored until the daemon is restarted. ` +
      "Reading goes on. Look at the disk before you restart it.",
    { cause },
  );
}

/** @param path where the journal file should be. The process is named because `memoryd stop` finds it by a file that went too. */
export function movedAway(path: string): ServiceError {
  return notReady(
    `The data directory was moved or removed, or another put in its place, while memoryd ran: ${dirname(path)} is no longer ` +
      "the folder that it writes to, so nothing more is stored. Put the directory back, or stop the daemon " +
      `(process ${process.pid}); then start it again.`,
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
}

/** Advice for a journal that cannot be read, with the note that nothing was changed yet. */
const ADVICE = "Nothing was changed. Make a copy of the data directory, then restore a backup.";

/** A journal that cannot be trusted: opening it is refused, with a sentence that names the file. */
export function journalUnusable(file: string, problem: string, cause?: unknown): ServiceError {
  return storeUnusable(`The journal file ${file} ${problem}. ${ADVICE}`, { cause });
}

/**
 * Whether a record removes: a memory or a fact, whose links it may clear elsewhere, or nothing but rows and what jobs were
 * asked for. What goes to the trash stays.
 */
export function frees(changes: readonly Change[]): boolean {
  let isAllRemoval = true;
  let removesText = false;
  // In one pass: the deletion of a user has a million changes.
  for (const change of changes) {
    const { table, row } = change;
    if (row === null) removesText ||= table === "memories" || table === "facts";
    else if (table === "versions") return false;
    else isAllRemoval &&= givesUpJob(change);
  }
  return isAllRemoval || removesText;
}

/** Its request goes, and with it the need of its file. */
function givesUpJob({ table, row }: Change): boolean {
  return table === "jobs" && (row?.status === "cancelled" || row?.status === "failed");
}
