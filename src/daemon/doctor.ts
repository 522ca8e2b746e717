import { inPieces } from "../core/at-once.ts";
import { join } from "node:path";
import { type Finding, note, ok, wrong } from "../core/status.ts";
import { ServiceError } from "../core/errors.ts";
import { verified } from "../models/bundled-models.ts";
import { modelsOf } from "../models/added/added-models.ts";
import { BUNDLED_WHISPER } from "../models/whisper/whisper-model.ts";
import { faultOf, hasCode, nodeDisk, removeTree } from "../storage/files/disk.ts";
import { noteSuspects } from "../storage/checkpoints/checkpoint.ts";
import { examineStore, few, linkStore } from "../storage/copies/examine.ts";
import type { Examination } from "../storage/copies/examine.ts";
import { type DirectoryLock, lockDataDirectory } from "../storage/files/lock.ts";
import type { OpenedStore } from "../storage/open-store.ts";
import { QUIET, requireStore, withLockedStore } from "./stopped-store.ts";
import { systemClock } from "./system.ts";

/** In the data directory: links and copies that are opened to see whether the store would. */
const SCRATCH = "doctor";
const ROWS_PER_READ = 500;

/**
 * Examines a stopped store by links, so nothing of it changes; damaged files are noted, as the next start reads large files whole only
 * where they are. @throws {ServiceError} STORE_UNUSABLE.
 */
export async function examineStopped(dataDir: string): Promise<readonly Finding[]> {
  await requireStore(dataDir);
  let lock: DirectoryLock | undefined;
  const findings: Finding[] = [];
  try {
    lock = await lockDataDirectory(dataDir);
    findings.push(ok("lock", "No other process uses the data directory."));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    findings.push(wrong("lock", error.message));
    // Somebody else writes there: what is read meanwhile proves nothing.
    if (error.retryAfterSeconds !== undefined) return findings;
  }
  try {
    const examined = await examineStore(nodeDisk, dataDir, systemClock.now());
    if (lock !== undefined) await noteSuspects(nodeDisk, dataDir, examined.damaged);
    const opening = examined.canOpen ? await examineOpening(dataDir, examined) : [];
    return [...findings, ...examined.findings, ...opening];
  } catch (error) {
    if (!hasCode(error, "EACCES", "EPERM", "EIO", "EROFS") || !(error instanceof Error)) throw error;
    const remedy = "Make every file in it readable for this user, or look at the disk.";
    return [...findings, wrong("files", `${error.message}.`, remedy)];
  } finally {
    await lock?.release();
  }
}

/** Opens what the store would open as, and compares what must agree. */
async function examineOpening(dataDir: string, examined: Examination): Promise<Finding[]> {
  const scratch = join(dataDir, SCRATCH);
  try {
    await linkStore(nodeDisk, dataDir, scratch, examined);
    return await withLockedStore(scratch, QUIET, async (opened) => [
      await compareCounts(opened),
      await examineOriginals(dataDir, opened),
    ]);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "STORE_UNUSABLE") {
      const remedy =
        "Restore a backup, or write out what can be read with `memoryd doctor --salvage FOLDER`.";
      return [wrong("opening", error.message.replaceAll(scratch, dataDir), remedy)];
    }
    if (!hasCode(error, "ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM") || !(error instanceof Error))
      throw error;
    const message = `Not tried, because nothing can be written to ${dataDir} (${error.message}).`;
    return [wrong("opening", message, "Free some space, or make it writable.")];
  } finally {
    await removeTree(nodeDisk, scratch).catch(() => undefined);
  }
}

async function compareCounts({ store }: OpenedStore): Promise<Finding> {
  const { catalogue } = store;
  const ids = [...store.memoryIds()];
  let read = 0;
  for (const some of inPieces(ids, ROWS_PER_READ)) read += (await store.readRows(some)).size;
  const lacking = [...store.lackingVectors()].length;
  const counts = `${ids.length} memories, ${catalogue.facts.size} facts and ${catalogue.documents.byId.size} documents`;
  if (read < ids.length)
    return wrong(
      "counts",
      `Of ${counts}: ${ids.length - read} memories are listed and cannot be read.`,
      "Everything else is served. Restore a backup if it must be whole.",
    );
  if (store.vectors.before !== undefined)
    return note(
      "counts",
      `${counts}; the model was changed, and ${lacking} memories are found by words alone.`,
      "The daemon embeds them again as it runs.",
    );
  if (lacking > 0 || store.lacksEdges)
    return wrong(
      "counts",
      `${counts}; ${lacking} memories without vectors${store.lacksEdges ? ", and what replaces what is not inferred again yet" : ""}.`,
      "The next start makes them again, in the background.",
    );
  return ok("counts", `${counts} agree with their tables.`);
}

async function examineOriginals(dataDir: string, { store }: OpenedStore): Promise<Finding> {
  const needed = store.catalogue.documents.neededFiles();
  const faults: string[] = [];
  for (const sha256 of needed) {
    const fault = await faultOf(nodeDisk, join(dataDir, "files", sha256), { sha256 });
    if (fault !== undefined) faults.push(`${sha256} ${fault}`);
  }
  if (faults.length === 0) return ok("originals", `${needed.length} are whole.`);
  return wrong(
    "originals",
    `${few(faults)}.`,
    "What was read from them is whole. Ingest the same files again for the same user and project.",
  );
}

/** Reads the models that ship, and those that were added into a data directory, against their hashes. */
export async function examineModels(dataDir: string): Promise<Finding> {
  const faults: string[] = [];
  const all = [...modelsOf(dataDir).flatMap((model) => Object.values(model.files)), ...BUNDLED_WHISPER];
  // Models share some.
  const files = [...new Map(all.map((file) => [file.path, file])).values()];
  for (const file of files) await verified(file).catch((error: Error) => faults.push(error.message));
  return faults.length === 0
    ? ok("models", `${files.length} files are as they were shipped or added.`)
    : wrong(
        "models",
        `${faults.join("; ")}.`,
        "Of a model that ships, install memoryd again; of one that was added, put back its folder from a backup.",
      );
}
