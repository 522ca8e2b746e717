import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { UnpurgedRows } from "../../core/status.ts";
import type { EmbeddingStamp } from "../../core/embedding.ts";
import { type ServiceError, storeUnusable } from "../../core/errors.ts";
import {
  decodeChecksummed,
  encodeChecksummed,
  arrayOf,
  isCount,
  isStoreId,
  isText,
  matches,
  objectOf,
} from "../files/shapes.ts";
import { type Disk, faultOf, listFilesBelow, replaceFile } from "../files/disk.ts";
import type { TableFile } from "../tables/table-files.ts";
import type { LanceTable, TableName } from "../../core/rows.ts";
import { type FlatTable, tableOf, type TableState } from "../tables/table-spec.ts";

/** State of a store after the record `sequence`, apart from its rows. */
export interface CheckpointHeader {
  readonly storeId: string;
  readonly epoch: number;
  readonly sequence: number;
  /** By `stampKey`: what the vectors in the tables were made with. */
  readonly stamps: Readonly<Record<string, EmbeddingStamp>>;
  readonly analyserVersion: number;
  /** Time of the last record, epoch milliseconds. */
  readonly clockFloor: number;
  /** The `order` of the next memory. */
  readonly nextOrder: number;
  /** Rows that were deleted and stand in files yet; absent when there are none. */
  readonly unerased?: UnpurgedRows;
  /** True while edges that were lost are made again. */
  readonly lacksEdges?: true;
  readonly believed?: BelievedTime;
}

export interface CheckpointedTable extends TableState {
  readonly files: readonly TableFile[];
}

/** A moment that the store can be opened at: all tables together, at versions whose files are on the disk. */
export interface Checkpoint extends CheckpointHeader {
  /** Grows by 1 with each. */
  readonly number: number;
  readonly tables: readonly CheckpointedTable[];
}

/** The checkpoint to open at, and what is known of the others. */
export interface ChosenCheckpoint {
  readonly checkpoint: Checkpoint;
  /** The one before, whose files are kept too; undefined after the very first. */
  readonly older: Checkpoint | undefined;
  /** For the next one; above that of a damaged one. */
  readonly nextNumber: number;
  /** Damage, in sentences: newer checkpoints that could not be used, and the parts in `lost` and `unindexed`. */
  readonly damage: readonly string[];
  /** Tables of the checkpoint to be opened without: their rows can be made again, or cost only themselves. */
  readonly lost: ReadonlySet<TableName | FlatTable>;
  /** Tables whose index, or notes of LanceDB's own, are damaged; their rows are whole. */
  readonly unindexed: ReadonlySet<LanceTable>;
  /** Paths of the files for which these are done without. */
  readonly damagedFiles: ReadonlySet<string>;
}

/** A file of a table that is not as it was when it was synced. */
export interface FileDamage {
  readonly path: string;
  readonly sentence: string;
}

/** Tables that a store can open without: they are made again from the memories, or nothing depends on them. */
const EXPENDABLE: ReadonlySet<TableName | FlatTable> = new Set([
  "vectors",
  "tokens",
  "texts",
  "edges",
  "signals",
  "jobs",
  "requests",
  "versions",
]);

/** No absolute path, no `..`, and nothing that Windows reads as one. */
export const isTablePath = matches(/^[a-z]+-g[1-9]\d*\.(lance|flat)(\/[.-]*\w[\w.-]*)+$/);
const isCheckpoint = objectOf({
  storeId: isStoreId,
  epoch: isCount,
  sequence: isCount,
  stamps: objectOf({}),
  analyserVersion: isCount,
  clockFloor: Number.isFinite,
  nextOrder: isCount,
  tables: arrayOf(
    objectOf({
      name: (name) => isText(name) && tableOf(String(name)) !== undefined,
      version: isCount,
      rows: isCount,
      files: arrayOf(objectOf({ path: isTablePath, size: isCount, crc32: isCount })),
    }),
  ),
});

/** The only one that is read. */
export const CHECKPOINT_FORMAT = 2;
/** Two, so that one can be damaged; the journal is kept since the older. */
const KEPT = 2;
/** Files below are read whole at open: manifests and lists of deleted rows, where damage would be believed. */
const SMALL_BYTES = 1024 * 1024;
/** Between pieces of 8 MiB: at most 100 MB/s, which leaves the disk to others. */
const SCRUB_PAUSE_MS = 80;
/** The check begins so long after the open, because the first questions come before. */
const SCRUB_DELAY_MS = 5_000;
const NAME = /^CHECKPOINT-(\d{10})$/;

export function tablesFolder(directory: string): string {
  return join(directory, "tables");
}

/** Writes a checkpoint whose files are synced already, and lets those go that are neither it nor `older`. */
export async function writeCheckpoint(
  disk: Disk,
  directory: string,
  checkpoint: Checkpoint,
  older: Checkpoint | undefined,
): Promise<void> {
  await replaceFile(disk, join(directory, checkpointName(checkpoint.number)), encodeCheckpoint(checkpoint));
  for (const number of await numbersIn(disk, directory)) {
    if (number !== checkpoint.number && number !== older?.number)
      await disk.remove(join(directory, checkpointName(number)));
  }
}

/** The newest checkpoint whose files are whole; undefined without a store. @throws {ServiceError} STORE_UNUSABLE. */
export async function chooseCheckpoint(
  disk: Disk,
  directory: string,
  { hasJournal }: { readonly hasJournal: boolean },
): Promise<ChosenCheckpoint | undefined> {
  const numbers = await numbersIn(disk, directory);
  const [newest] = numbers;
  if (newest === undefined) {
    const hasTables = (await listFilesBelow(disk, tablesFolder(directory))).length > 0;
    if (!hasJournal && !hasTables) return undefined;
    throw unusable(
      `${directory} holds a store without its CHECKPOINT file. Restore the folder from a backup, or write what can be read to an export with \`memoryd doctor --salvage FOLDER\``,
    );
  }
  const { readable, damage } = await readCheckpoints(disk, directory);
  const suspects = await readSuspects(disk, directory);
  let usable: ChosenCheckpoint | undefined;
  for (const [i, checkpoint] of readable.slice(0, KEPT).entries()) {
    const mustRead = (path: string) => suspects.has(path) && dispensable(path) !== undefined;
    const found = await verifyFiles(disk, directory, checkpoint, mustRead);
    const base = { checkpoint, older: readable[i + 1], nextNumber: newest + 1, damage, ...NOTHING_LOST };
    if (found.length === 0) return base;
    damage.push(...found.map(({ sentence }) => sentence));
    // Only where none is whole: the one before and the journal since have everything.
    usable ??= without(base, found);
  }
  if (usable !== undefined) return usable;
  throw unusable(
    `the store in ${directory} is damaged, and so is the state before: ${damage.join("; ")}. ` +
      "Nothing was changed. Restore the folder from a backup, or write what can be read to an export with `memoryd doctor --salvage FOLDER`",
  );
}

/** Whole checkpoints, newest first, and a sentence on each damaged one. @throws {ServiceError} STORE_UNUSABLE. */
export async function readCheckpoints(
  disk: Disk,
  directory: string,
): Promise<{ readonly readable: Checkpoint[]; readonly damage: string[] }> {
  const damage: string[] = [];
  const readable: Checkpoint[] = [];
  for (const number of await numbersIn(disk, directory)) {
    const bytes = await disk.readFile(join(directory, checkpointName(number)));
    const checkpoint = decodeCheckpoint(number, bytes);
    if (typeof checkpoint === "string") damage.push(checkpoint);
    else readable.push(checkpoint);
  }
  return { readable, damage };
}

export const NOTHING_LOST = {
  lost: new Set<TableName | FlatTable>(),
  unindexed: new Set<LanceTable>(),
  damagedFiles: new Set<string>(),
};

/** The table of a file that can be done without, and whether only its index goes with it; undefined for any other file. */
function dispensable(
  path: string,
): { readonly table: TableName | FlatTable; readonly isIndex: boolean } | undefined {
  const [folder = "", kind = ""] = path.split("/");
  const table = tableOf(folder.replace(/\.\w+$/, "")) as TableName | FlatTable | undefined;
  const isIndex = kind === "_indices" || kind === "_transactions";
  return table !== undefined && (isIndex || EXPENDABLE.has(table)) ? { table, isIndex } : undefined;
}

/** The checkpoint to be opened without what is damaged; undefined where that cannot be done without. */
export function without(
  chosen: ChosenCheckpoint,
  found: readonly FileDamage[],
): ChosenCheckpoint | undefined {
  const [lost, unindexed] = [new Set(chosen.lost), new Set(chosen.unindexed)];
  for (const { path } of found) {
    const part = dispensable(path);
    if (part === undefined) return undefined;
    (part.isIndex ? (unindexed as Set<TableName | FlatTable>) : lost).add(part.table);
  }
  const damagedFiles = new Set([...chosen.damagedFiles, ...found.map(({ path }) => path)]);
  return { ...chosen, lost, unindexed, damagedFiles };
}

const LOSSES: Readonly<Partial<Record<TableName, string>>> = {
  signals: "How often memories were found and reinforced was lost: each has the salience that it began with.",
  jobs: "The list of jobs was lost: documents that were waiting to be read have to be sent again.",
  requests: "The Idempotency-Keys of the last day were lost: a repeated request may be done twice.",
  versions: "Earlier versions of memories and the trash were lost.",
  edges:
    "Links between memories were lost, and what was said of guesses that one replaces another; the guesses are made again.",
};

/** The losses for good of opening a checkpoint, a sentence each. */
export function lossesOf(chosen: Pick<ChosenCheckpoint, "lost"> | undefined): string[] {
  return [...(chosen?.lost ?? [])].flatMap((table) => LOSSES[table as TableName] ?? []);
}

/** Faults of a checkpoint's files: sizes of all, contents of the small ones and of those to be read whole. */
export async function verifyFiles(
  disk: Disk,
  directory: string,
  { tables }: Pick<Checkpoint, "tables">,
  mustRead: (path: string) => boolean = () => false,
  { pause, signal }: { readonly pause?: () => Promise<void>; readonly signal?: AbortSignal | undefined } = {},
): Promise<FileDamage[]> {
  const found: FileDamage[] = [];
  for (const { path, size, crc32: crc } of tables.flatMap(({ files }) => files)) {
    signal?.throwIfAborted();
    const expected = size < SMALL_BYTES || mustRead(path) ? { size, crc32: crc } : { size };
    const fault = await faultOf(disk, join(tablesFolder(directory), path), expected, pause);
    if (fault !== undefined) found.push({ path, sentence: `${path} ${fault}` });
  }
  signal?.throwIfAborted();
  return found;
}

/** Paths, one a line, of large files that were found damaged while the store was open: the next open reads them whole. */
const SUSPECTS_NAME = "DAMAGED";

async function readSuspects(disk: Disk, directory: string): Promise<ReadonlySet<string>> {
  const path = join(directory, SUSPECTS_NAME);
  if ((await disk.size(path)) === undefined) return new Set();
  return new Set((await disk.readFile(path)).toString().split("\n"));
}

/** Beside those noted before: an open that could not read them whole leaves them. */
export async function noteSuspects(disk: Disk, directory: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const all = new Set([...(await readSuspects(disk, directory)), ...paths]);
  await replaceFile(disk, join(directory, SUSPECTS_NAME), Buffer.from([...all].join("\n")));
}

/**
 * Reads every file of the latest checkpoint, slowly, in the background. A file that a later checkpoint has let go in the meantime is
 * passed over, and what is `known` to be damaged. Rejects with an AbortError when stopped.
 */
export async function scrub(
  disk: Disk,
  directory: string,
  latest: () => Pick<Checkpoint, "tables">,
  signal?: AbortSignal,
  known: ReadonlySet<string> = new Set(),
): Promise<FileDamage[]> {
  const pause = () => sleep(SCRUB_PAUSE_MS, undefined, { ref: false, signal });
  const found = await verifyFiles(disk, directory, latest(), (path) => !known.has(path), { pause, signal });
  const kept = new Set(latest().tables.flatMap(({ files }) => files.map(({ path }) => path)));
  return found.filter(({ path }) => kept.has(path) && !known.has(path));
}

/** Reads every file against its checksum, slowly: LanceDB believes what it says. @returns what was found so far. */
export function scrubInBackground({
  disk,
  directory,
  log,
  checkpointer,
  signal,
  known,
}: {
  readonly disk: Disk;
  readonly directory: string;
  readonly log: { error(details: object, phrase: string): void };
  readonly checkpointer: { readonly latest: Checkpoint | undefined };
  readonly signal: AbortSignal;
  readonly known: ReadonlySet<string> | undefined;
}): readonly string[] {
  const damage: string[] = [];
  const latest = () => checkpointer.latest ?? { tables: [] };
  const done = sleep(SCRUB_DELAY_MS, undefined, { ref: false, signal }).then(async () => {
    const found = await scrub(disk, directory, latest, signal, known);
    for (const { sentence } of found) {
      damage.push(sentence);
      log.error({ reason: sentence }, "damaged file");
    }
    await noteSuspects(
      disk,
      directory,
      found.map(({ path }) => path),
    );
  });
  done.catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, "check of the files failed");
  });
  return damage;
}

export function encodeCheckpoint({ number: _number, ...body }: Checkpoint): Buffer {
  return encodeChecksummed("checkpoint", CHECKPOINT_FORMAT, body);
}

/** The checkpoint, or a sentence on what is wrong. @throws {ServiceError} STORE_UNUSABLE for a newer format. */
export function decodeCheckpoint(number: number, bytes: Buffer): Checkpoint | string {
  const decoded = decodeChecksummed("checkpoint", bytes);
  if (decoded === undefined) return `${checkpointName(number)} is damaged`;
  const { format } = decoded;
  if (format !== CHECKPOINT_FORMAT)
    throw unusable(
      `the store has format ${format} and this memoryd knows format ${CHECKPOINT_FORMAT}: it was written by ` +
        (format > CHECKPOINT_FORMAT
          ? "a newer version. Install that version, restore a backup from before the upgrade, or choose another data directory"
          : "a version from before the first release. Nothing was changed. Write it to an export with that version (`memoryd export`), and import that into another data directory"),
    );
  const body = decoded.value(isCheckpoint) as Omit<Checkpoint, "number"> | undefined;
  return body === undefined ? `${checkpointName(number)} is damaged` : { ...body, number };
}

/** Path of the file in the data directory. */
export function checkpointName(number: number): string {
  return `CHECKPOINT-${String(number).padStart(10, "0")}`;
}

/** Newest first. */
async function numbersIn(disk: Disk, directory: string): Promise<number[]> {
  const names = (await disk.list(directory)).map(({ name }) => NAME.exec(name)?.[1]);
  return names.flatMap((digits) => (digits === undefined ? [] : [Number(digits)])).sort((a, b) => b - a);
}

function unusable(sentence: string): ServiceError {
  return storeUnusable(`${sentence}.`);
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Further than this at once the clock has jumped, or the store was not open for as long. */
const STEP_MS = DAY_MS;
/** How long a clock must go on from where it jumped to before it is believed. */
const CONFIRMED_AFTER_MS = 7 * DAY_MS;

/** The time that is certain enough to remove something for good, epoch milliseconds. */
export interface BelievedTime {
  readonly at: number;
  /** The clock's time when it was first found elsewhere. */
  readonly jumpedTo?: number;
}

/**
 * The time to believe after a look at the clock. Steps of up to a day are believed at once, when it is looked at often enough;
 * a jump in either direction only when the clock has gone on from there for a week.
 */
export function believe(known: BelievedTime | undefined, now: number): BelievedTime {
  if (known === undefined) return { at: now };
  if (Math.abs(now - known.at) <= STEP_MS) return { at: Math.max(known.at, now) };
  const { jumpedTo } = known;
  if (jumpedTo === undefined || now < jumpedTo) return { at: known.at, jumpedTo: now };
  return now - jumpedTo >= CONFIRMED_AFTER_MS ? { at: now } : known;
}

/** Notes a look at the clock; answers whether that is worth a checkpoint of its own. */
export function lookAt(known: { believed: BelievedTime | undefined }, now: number): boolean {
  const before = known.believed;
  const after = believe(before, now);
  known.believed = after;
  const isSameDay = Math.floor((before?.at ?? 0) / DAY_MS) === Math.floor(after.at / DAY_MS);
  return !isSameDay || before?.jumpedTo !== after.jumpedTo;
}
