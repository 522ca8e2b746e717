import { join } from "node:path";
import type { UndoInput, UndoLog, UndoPorts, undoChanges } from "../core/history/undo.ts";
import { inTurns } from "../core/at-once.ts";
import { nodeDisk, replaceFile } from "../storage/files/disk.ts";
import { arrayOf, isCount, isText, objectOf, optional, orNull } from "../storage/files/shapes.ts";
import { jsonOf, readIfThere } from "../files/own-files.ts";
import type { Logger } from "./system.ts";

const FILE = "UNDO";
const isUndo = objectOf({
  since: isCount,
  userId: optional(isText),
  client: optional(orNull(isText)),
  kinds: optional(arrayOf(isText)),
  undoneBy: optional(isText),
});

/** Undos that have begun, in a file of the data directory: an undo is many records, and a crash may come between two. */
export function openUndoLog(dataDir: string, log: Pick<Logger, "info" | "warn">) {
  const path = join(dataDir, FILE);
  const found = jsonOf(readIfThere(path) ?? "");
  const left = arrayOf(isUndo)(found) ? (found as UndoInput[]) : [];
  const running = new Set(left);
  const inTurn = inTurns();
  let isClosing = false;
  const save = (): Promise<void> =>
    inTurn(async () => {
      if (running.size > 0) return replaceFile(nodeDisk, path, Buffer.from(JSON.stringify([...running])));
      await nodeDisk.remove(path);
      await nodeDisk.syncDirectory(dataDir);
    });
  const end = (input: UndoInput) => {
    running.delete(input);
    return save();
  };
  const undos: UndoLog = {
    async begin(input) {
      running.add(input);
      await save().catch((error: unknown) => {
        running.delete(input);
        throw error;
      });
      return () => end(input);
    },
  };
  return {
    undos,
    /** Finishes those that a crash cut short. What to take back is known before anything else is written. */
    async finish(undo: typeof undoChanges, ports: UndoPorts): Promise<void> {
      for (const input of left) {
        const changes = await undo({ ...ports, undos: undefined }, { ...input, dryRun: false });
        if (isClosing) return;
        await end(input);
        log.info({ changes: changes.length }, "an undo that a crash cut short is finished");
      }
    },
    /** From now on what is refused, as the store closes, is left to the next start. */
    close(): void {
      isClosing = true;
    },
  };
}
