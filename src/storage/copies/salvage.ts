import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { duplicateHash } from "../../core/memories/compose-memory.ts";
import type { Change, LanceTable, MemoryRow, Rows, TableName } from "../../core/rows.ts";
import { type Checkpoint, readCheckpoints, tablesFolder, verifyFiles } from "../checkpoints/checkpoint.ts";
import { type Disk, listFilesBelow, removeTree, replaceFile, linkFiles } from "../files/disk.ts";
import { parseSegmentName } from "../journal/format.ts";
import { readEndMark } from "../journal/journal-files.ts";
import type { JournalRecord } from "../journal/journal.ts";
import { salvageSegment } from "../journal/read-segment.ts";
import { versionOfManifest } from "../tables/table-files.ts";
import { generationOf, type StateToOpen, tableOf } from "../tables/table-spec.ts";
import { nothingDeleted } from "../tables/arrow-columns.ts";
import { openTables, type Tables } from "../tables/tables.ts";

/** The tables of an export, each after those that it names. */
const SALVAGED = ["memories", "signals", "documents", "facts", "edges"] as const;
type SalvagedTable = (typeof SALVAGED)[number];

export interface SalvageOptions {
  readonly disk: Disk;
  /** The data directory, of which nothing changes. */
  readonly directory: string;
  /** A folder for links to the tables. */
  readonly scratch: string;
  /** Gets a sentence on everything that could not be read. */
  readonly faults: string[];
  /**
   * Gets memories from damaged files whose content is not what was hashed when they were written, or of which it is not known
   * whether they were deleted.
   */
  readonly onDoubtful: (row: MemoryRow) => void;
}

/** A state of one table that may be readable. */
interface Source {
  readonly state: StateToOpen;
  /** Below the folder of tables. */
  readonly files: readonly string[];
  readonly damaged: ReadonlySet<string>;
  /** A sentence for each damaged file. */
  readonly sentences: readonly string[];
}

const ROWS_PER_READ = 500;

/**
 * All rows of a store that can be read, as changes that leave them when they are applied in order: of tables whose files are
 * damaged the rows whose bytes are whole, and records of the journal on both sides of damage. A table of which no manifest
 * can be read is left out: its rows cannot be told from deleted ones.
 *
 * @throws {ServiceError} STORE_UNUSABLE for a store of a newer format.
 */
export async function* salvageChanges(options: SalvageOptions): AsyncGenerator<readonly Change[], void> {
  const { disk, directory, faults } = options;
  const { readable, damage } = await readCheckpoints(disk, directory);
  faults.push(...damage);
  const [newest, older] = readable;
  if (newest === undefined) {
    for (const table of SALVAGED) yield* rowsOf(options, table, await newestSource(disk, directory, table));
    for await (const record of recordsOf(options)) yield wanted(record);
    return;
  }
  const [now, before] = [await sourcesOf(disk, directory, newest), await sourcesOf(disk, directory, older)];
  for (const { sentences } of now.values()) faults.push(...sentences);
  const damaged = new Set(SALVAGED.filter((table) => (now.get(table)?.damaged.size ?? 0) > 0));
  // Rows that the newest state lacks may be in the one before and the journal since.
  for (const table of damaged) yield* rowsOf(options, table, before.get(table));
  if (damaged.size > 0)
    for await (const record of recordsOf({ ...options, faults: [] }, newest))
      if (record.sequence <= newest.sequence) yield wanted(record, damaged);
  for (const table of SALVAGED) yield* rowsOf(options, table, now.get(table));
  for await (const record of recordsOf(options, newest))
    if (record.sequence > newest.sequence) yield wanted(record);
}

function wanted({ changes }: JournalRecord, among: ReadonlySet<TableName> = new Set(SALVAGED)): Change[] {
  return changes.filter(({ table }) => among.has(table));
}

function isSalvaged(table: string | undefined): table is SalvagedTable {
  return SALVAGED.some((each) => each === table);
}

async function sourcesOf(
  disk: Disk,
  directory: string,
  checkpoint: Checkpoint | undefined,
): Promise<Map<SalvagedTable, Source>> {
  const sources = new Map<SalvagedTable, Source>();
  for (const state of checkpoint?.tables ?? []) {
    const table = tableOf(state.name);
    if (!isSalvaged(table)) continue;
    const found = await verifyFiles(disk, directory, { tables: [state] }, () => true);
    const damaged = new Set(found.map(({ path }) => path));
    const sentences = found.map(({ sentence }) => sentence);
    sources.set(table, { state, files: state.files.map(({ path }) => path), damaged, sentences });
  }
  return sources;
}

/** The newest state that a table's folder holds, where no checkpoint says which one counts. */
async function newestSource(
  disk: Disk,
  directory: string,
  table: SalvagedTable,
): Promise<Source | undefined> {
  const names = (await disk.list(tablesFolder(directory)))
    .map(({ name }) => name.replace(/\.lance$/, ""))
    .filter((name) => tableOf(name) === table)
    .sort((a, b) => (generationOf(b) ?? 0) - (generationOf(a) ?? 0));
  for (const name of names) {
    const files = await listFilesBelow(disk, join(tablesFolder(directory), `${name}.lance`));
    const versions = files.flatMap((path) => versionOfManifest(path.replace("_versions/", "")) ?? []);
    if (versions.length === 0) continue;
    const version = Math.max(...versions);
    const paths = files.map((path) => `${name}.lance/${path}`);
    // Nothing says what its files were: every row has to prove itself.
    const damaged = new Set(paths.filter((path) => !path.includes("/_deletions/")));
    return { state: { name, version }, files: paths, damaged, sentences: [] };
  }
  return undefined;
}

/** Rows of a table in changes; those that cannot be read are counted among the faults. */
async function* rowsOf(
  { disk, directory, scratch, faults, onDoubtful }: SalvageOptions,
  table: SalvagedTable,
  source: Source | undefined,
): AsyncGenerator<readonly Change[], void> {
  if (source === undefined) return;
  const { state, files, damaged } = source;
  const deletions = [...damaged].filter((path) => path.includes("/_deletions/"));
  let tables: Tables | undefined;
  try {
    await removeTree(disk, scratch);
    await disk.makeDirectory(scratch);
    await linkFiles(disk, tablesFolder(directory), scratch, files);
    for (const path of deletions) {
      await disk.makeDirectory(dirname(join(scratch, path)));
      await replaceFile(disk, join(scratch, path), nothingDeleted());
    }
    const { name, version } = state;
    tables = await openTables(scratch, [deletions.length === 0 ? state : { name, version }]);
    if (deletions.length > 0) {
      faults.push(`which rows of ${state.name} were deleted cannot be read`);
      if (table === "memories")
        for await (const batch of tables.scan(table)) for (const { row } of batch) onDoubtful(row);
      return;
    }
    const rows = (await tables.states())[0]?.rows ?? 0;
    let lost = 0;
    for (let first = 0; first < rows; first += ROWS_PER_READ) {
      const found = await readable(tables, table, first, Math.min(ROWS_PER_READ, rows - first));
      lost += found.lost;
      const changes: Change[] = [];
      for (const [id, row] of found.rows) {
        if (damaged.size > 0 && table === "memories" && !isWhole(row as MemoryRow))
          onDoubtful(row as MemoryRow);
        else changes.push({ table, id, row } as Change);
      }
      yield changes;
    }
    if (lost > 0) faults.push(`${lost} of ${rows} rows of ${state.name} cannot be read`);
  } catch (error) {
    faults.push(`${state.name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await tables?.close();
    await removeTree(disk, scratch);
  }
}

/** LanceDB refuses a range as a whole: halves of it tell which rows it is about. */
async function readable<T extends LanceTable>(
  tables: Tables,
  table: T,
  first: number,
  count: number,
): Promise<{ readonly rows: Map<string, Rows[T]>; readonly lost: number }> {
  try {
    return { rows: await tables.readRange(table, first, count), lost: 0 };
  } catch (error) {
    if (tables.failure !== undefined) throw error;
    if (count === 1) return { rows: new Map(), lost: 1 };
    const half = count >> 1;
    const [a, b] = [
      await readable(tables, table, first, half),
      await readable(tables, table, first + half, count - half),
    ];
    return { rows: new Map([...a.rows, ...b.rows]), lost: a.lost + b.lost };
  }
}

/** LanceDB has no checksums, and the row has one of what its user wrote. */
function isWhole(row: MemoryRow): boolean {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  return duplicateHash(sha256, row) === row.duplicateHash;
}

/** Every record that can be read, of the checkpoint's epoch or else of the last. */
async function* recordsOf(
  { disk, directory, faults }: SalvageOptions,
  checkpoint?: Checkpoint,
): AsyncGenerator<JournalRecord, void> {
  const folder = join(directory, "journal");
  const segments = (await disk.list(folder))
    .flatMap(({ name }) => {
      const position = parseSegmentName(name);
      return position === undefined ? [] : [{ name, ...position }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const epoch = checkpoint?.epoch ?? segments.at(-1)?.epoch;
  let last = checkpoint?.sequence;
  if (!segments.some((segment) => segment.epoch === epoch))
    faults.push(
      "the journal is missing: what was written since the newest checkpoint (of a store with few writes that is all) stands " +
        "only there; copy the folder `journal` too, if it is anywhere",
    );
  for (const segment of segments) {
    if (segment.epoch !== epoch) continue;
    const bytes = await disk.readFile(join(folder, segment.name)).catch((error: Error) => error);
    if (bytes instanceof Error) faults.push(`${segment.name} cannot be read: ${bytes.message}`);
    else
      for (const record of salvageSegment(segment.name, bytes, faults)) {
        if (last !== undefined && record.sequence > last + 1)
          faults.push(`the records ${last + 1} to ${record.sequence - 1} of the journal are missing`);
        last = Math.max(last ?? 0, record.sequence);
        yield record;
      }
  }
  const end = await readEndMark(disk, folder).catch(() => undefined);
  if (end !== undefined && end.epoch === epoch && end.sequence > (last ?? 0))
    faults.push(`the records ${(last ?? 0) + 1} to ${end.sequence} of the journal are missing`);
}
