import { createWriteStream } from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { VERSION } from "../config/limits.ts";
import { conflict, ServiceError, storeFull } from "../core/errors.ts";
import { INITIAL_SALIENCE, type Memory } from "../core/memory.ts";
import { memoryOf, type MemoryRow } from "../core/rows.ts";
import { exportRecords, type TransferRecord } from "../core/transfer/export-records.ts";
import { linesOf } from "../http/transfer-line.ts";
import { hasCode, nodeDisk, removeTree, copyFile } from "../storage/files/disk.ts";
import { lockDataDirectory } from "../storage/files/lock.ts";
import type { OpenedStore } from "../storage/open-store.ts";
import { refuseInsideStore } from "../storage/copies/restore-backup.ts";
import { salvageChanges } from "../storage/copies/salvage.ts";
import { QUIET, requireStore, withLockedStore } from "./stopped-store.ts";

/** Files of an export in a folder, as `memoryd import` knows them. */
export type ExportNames = { readonly index: string; readonly originals: string };

/** Beside the export, in its format; not read by an import of the folder. */
const DOUBTFUL = "doubtful.ndjson";
/** Other files that are written are small. */
const LEAST_FREE_BYTES = 16 * 1024 ** 2;

/**
 * Writes all of a store that can be read to an export in a new folder, whether the store can be opened or not. The data
 * directory stays as it is. The folder appears whole.
 * @throws {ServiceError} CONFLICT where the folder holds anything; INVALID_REQUEST where it is inside a data directory; STORE_UNUSABLE where no store is, or another process has
 *   it, or a newer version wrote it; STORE_FULL.
 */
export async function salvageStopped(
  dataDir: string,
  folder: string,
  { index, originals }: ExportNames,
  onProgress: (memories: number) => void,
) {
  const target = resolve(folder);
  await requireStore(dataDir);
  if ((await nodeDisk.list(target)).length > 0)
    throw conflict(`${target} is not empty; name an empty folder or a new one.`);
  await refuseInsideStore(nodeDisk, target);
  const release = await keepOthersOut(dataDir);
  const unfinished = `${target}.unfinished`;
  const faults: string[] = [];
  const doubtful = new Map<string, MemoryRow>();
  const deleted = new Set<string>();
  try {
    await removeTree(nodeDisk, unfinished);
    const scratch = join(unfinished, "store");
    const readable = salvageChanges({
      disk: nodeDisk,
      directory: dataDir,
      scratch: join(unfinished, "tables"),
      faults,
      onDoubtful: (row) => doubtful.set(row.id, row),
    });
    await nodeDisk.makeDirectory(scratch);
    await withScratch(scratch, async ({ store }) => {
      for await (const changes of readable) {
        for (const { table, id, row } of changes)
          if (table === "memories") deleted[row === null ? "add" : "delete"](id);
        if (changes.length > 0) await store.commit(() => ({ changes, result: undefined }));
        onProgress(store.catalogue.size);
      }
    });
    // Opened again it has its memories in the order in which they were added.
    const counts = await withScratch(scratch, async ({ store }) => {
      for (const id of doubtful.keys())
        if (store.catalogue.find(id) !== undefined || deleted.has(id)) doubtful.delete(id);
      const records = exportRecords({ store }, { waypoints: true });
      const counts = await writeLines(join(unfinished, index), records, faults);
      const needed = new Set(store.catalogue.documents.neededFiles());
      const { memories, documents, facts, waypoints } = counts;
      const copied = await copyOriginals(dataDir, join(unfinished, originals), needed, faults);
      return { memories, documents, facts, waypoints, originals: copied };
    });
    if (doubtful.size > 0)
      await writeLines(join(unfinished, DOUBTFUL), doubtfulRecords(doubtful.values()), faults);
    await removeTree(nodeDisk, scratch);
    await nodeDisk.removeDirectory(target);
    await nodeDisk.rename(unfinished, target);
    await nodeDisk.syncDirectory(resolve(target, ".."));
    return {
      ...counts,
      /** Memories that are not as they were written, or may have been deleted; in a file of their own. */
      doubtful: doubtful.size,
      /** The parts that could not be read, in sentences. */
      faults: [...new Set(faults)],
    };
  } catch (error) {
    const isFull = error instanceof ServiceError && error.code === "STORE_FULL";
    if (!isFull && !hasCode(error, "ENOSPC", "EDQUOT")) throw error;
    throw storeFull(`There is no room for the export in ${target}; name a folder on another disk.`, {
      cause: error,
    });
  } finally {
    await removeTree(nodeDisk, unfinished).catch(() => undefined);
    await release();
  }
}

/** A disk that cannot be written to has no lock, and needs none. */
async function keepOthersOut(dataDir: string): Promise<() => Promise<void>> {
  try {
    const lock = await lockDataDirectory(dataDir);
    return () => lock.release();
  } catch (error) {
    if (error instanceof ServiceError && error.retryAfterSeconds === undefined) return async () => {};
    throw error;
  }
}

/** A store of its own for what is readable: it puts rows of several places in one order, whatever their number. */
const withScratch = <T>(directory: string, work: (opened: OpenedStore) => Promise<T>): Promise<T> =>
  withLockedStore(directory, QUIET, work, { limits: { freeBytes: LEAST_FREE_BYTES } });

type Counts = Readonly<Record<"memories" | "documents" | "facts" | "waypoints", number>>;

async function writeLines(
  path: string,
  records: AsyncIterable<TransferRecord>,
  faults: string[],
): Promise<Counts> {
  let last = "";
  async function* lines(): AsyncGenerator<string, void> {
    // A row of a damaged file may hold what no line can say.
    const onFault = ({ kind }: TransferRecord) => faults.push(`a ${kind} cannot be written`);
    for await (const line of linesOf(records, VERSION, onFault)) yield (last = line);
  }
  // Synced before it is closed.
  await pipeline(lines, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
  return JSON.parse(last) as Counts;
}

async function* doubtfulRecords(rows: Iterable<MemoryRow>): AsyncGenerator<TransferRecord, void> {
  for (const row of rows) {
    const memory: Memory = memoryOf(row);
    yield { kind: "memory", memory, signals: { salience: INITIAL_SALIENCE, lastSeenAt: row.createdAt } };
  }
}

/** Those that are as their names say; also of documents that were lost, so that they can be ingested again. */
async function copyOriginals(
  dataDir: string,
  into: string,
  needed: ReadonlySet<string>,
  faults: string[],
): Promise<number> {
  let copied = 0;
  await nodeDisk.makeDirectory(into);
  const there = (await nodeDisk.list(join(dataDir, "files"))).map(({ name }) => name);
  for (const name of there.filter((each) => /^[0-9a-f]{64}$/.test(each))) {
    const read = await copyFile(nodeDisk, join(dataDir, "files", name), join(into, name)).catch(
      (error: Error) => error,
    );
    if (!(read instanceof Error) && read.sha256 === name) {
      copied += 1;
      continue;
    }
    await nodeDisk.remove(join(into, name));
    if (needed.has(name)) faults.push(`the original ${name} is damaged`);
  }
  for (const name of needed) if (!there.includes(name)) faults.push(`the original ${name} is missing`);
  await nodeDisk.syncDirectory(into);
  return copied;
}
