import { setImmediate as nextTurn } from "node:timers/promises";
import { inPieces, runAtOnce } from "../core/at-once.ts";
import { ANALYSER_VERSION, memoryTerms } from "../core/text/analyser.ts";
import type { UnpurgedRows } from "../core/status.ts";
import type { Change, MemoryRow } from "../core/rows.ts";
import type { BelievedTime } from "./checkpoints/checkpoint.ts";
import type { Stage, StoreCatalogue } from "./catalogue/catalogue.ts";
import type { Overlay } from "./catalogue/overlay.ts";
import type { StampedVectors } from "./catalogue/stamped-vectors.ts";
import type { WordIndex } from "./catalogue/word-index.ts";
import type { ImagePart, IndexImage } from "./image/index-image.ts";
import type { JournalRecord } from "./journal/journal.ts";
import { type PurgeLedger, unpurgedIn } from "./checkpoints/purge-ledger.ts";
import type { RecentFeed } from "./recent-feed.ts";
import { EMBEDDING_DIMENSIONS } from "../core/embedding.ts";
import { presentOf } from "../core/facts/fact-store.ts";
import type { Clock, Ordinal, Steps } from "../core/ports.ts";
import { traitsOf } from "../core/recall/traits.ts";
import type { ScannedRows, SmallTable } from "./tables/tables.ts";

export interface StoreLog {
  info(details: object, phrase: string): void;
  warn(details: object, phrase: string): void;
  error(details: object, phrase: string): void;
}

/** The memory side of a store: everything that is rebuilt at open. */
export interface StoreIndexes {
  readonly catalogue: StoreCatalogue;
  readonly overlay: Overlay;
  readonly words: WordIndex;
  readonly vectors: StampedVectors;
  readonly ledger: PurgeLedger;
  readonly feed: Pick<RecentFeed, "publish" | "names">;
  /** True while waypoints that were lost are made again. */
  lacksEdges: boolean;
  /** One more than the largest `order` given so far. */
  nextOrder: number;
  /** The time of the newest record, epoch milliseconds. */
  lastTime: number;
  /** Undefined before the first look at the clock. */
  believed: BelievedTime | undefined;
}

/** Never earlier than the last record's, unless that one is further ahead of the clock than a clock is set back. */
export function timeOfRecord(
  indexes: Pick<StoreIndexes, "lastTime" | "catalogue">,
  clock: Clock,
  log: Pick<StoreLog, "warn">,
): number {
  const { lastTime } = indexes;
  const now = presentOf(clock, lastTime);
  if (now < lastTime) {
    log.warn(
      { clock: new Date(now), lastRecord: new Date(lastTime) },
      "the clock shows an earlier time than the last record; new records go by the clock",
    );
    indexes.lastTime = now;
    indexes.catalogue.facts.clockIs(now);
  }
  return now;
}

type RecordToStage = Pick<JournalRecord, "time" | "changes" | "erases">;

export interface StagedRecord {
  readonly stage: Stage;
  /** See `unpurgedIn`. */
  readonly unpurged: UnpurgedRows | undefined;
  /** The largest `order` of its memories. */
  readonly lastOrder: number;
}

/** As `StoreCatalogue.stage`. */
export function* stageRecord(
  { catalogue }: Pick<StoreIndexes, "catalogue">,
  { time, changes, erases }: RecordToStage,
): Steps<StagedRecord> {
  const unpurged = yield* unpurgedIn(time, changes);
  let lastOrder = 0;
  for (const { table, row } of changes)
    if (table === "memories" && row !== null) lastOrder = Math.max(lastOrder, row.order);
  yield;
  return { stage: yield* catalogue.stage(changes, erases), unpurged, lastOrder };
}

/** Follows a record in what the next record's numbers are drawn from. */
export function noteRecord(
  indexes: StoreIndexes,
  time: number,
  { unpurged, lastOrder }: Omit<StagedRecord, "stage">,
): void {
  indexes.lastTime = time;
  indexes.ledger.note(unpurged);
  indexes.nextOrder = Math.max(indexes.nextOrder, lastOrder + 1);
}

/**
 * The changes of a record from the journal, which may still have vectors of a model that is no longer known. These remove
 * what the tables have, which may be of an earlier text where the model was changed there and back.
 */
export function withKnownVectors({ vectors }: StoreIndexes, changes: readonly Change[]): Change[] {
  return changes.map((change): Change =>
    (change.table === "vectors" || change.table === "tokens") &&
    change.row !== null &&
    !vectors.isKnown(change.row.stamp)
      ? { ...change, row: null }
      : change,
  );
}

/** How long steps run before others get their turn. */
const SLICE_MS = 20;

/** Runs steps for as long as a slice, or to their end. */
export function runSlice<T>(steps: Generator<unknown, T>): IteratorResult<unknown, T> {
  const end = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true || performance.now() >= end) return step;
  }
}

/** Runs steps to their end, with turns for others. */
export async function inSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const step = runSlice(steps);
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Makes the rows of a durable record readable, then findable, and answers about what they weigh in bytes. */
export function* showInSteps(
  indexes: Pick<StoreIndexes, "catalogue" | "overlay" | "words" | "vectors">,
  { sequence, changes }: Pick<JournalRecord, "sequence" | "changes">,
  { ordinals }: Pick<Stage, "ordinals">,
): Generator<void, number> {
  let bytes = 0;
  // Once for a record of no changes, too.
  for (let i = 0; i === 0 || i < changes.length; i += 1) {
    const isLast = i >= changes.length - 1;
    const part = changes.slice(i, i + 1);
    bytes += indexes.overlay.put(sequence, part, isLast);
    makeFindable(indexes, part, ordinals);
    if (!isLast) yield;
  }
  yield* indexes.words.tidyInSteps();
  return bytes;
}

/** Makes the memories of some changes findable by their words and vectors. */
function makeFindable(
  { catalogue, words, vectors }: Pick<StoreIndexes, "catalogue" | "words" | "vectors">,
  changes: readonly Change[],
  ordinals: Stage["ordinals"],
): void {
  for (const change of changes) {
    if (change.table !== "memories" && change.table !== "vectors") continue;
    // Vectors alone are written where they are made again.
    const ordinal = ordinals.get(change.id) ?? catalogue.ordinalOf(change.id);
    if (ordinal === undefined) continue;
    if (change.table === "memories") {
      if (change.row === null) words.remove(ordinal);
      else words.put(ordinal, termsOf(change.row));
    } else if (change.row === null) vectors.index.remove(ordinal);
    else vectors.put(ordinal, change.row);
  }
}

/** Tables of which an image has everything that is held in memory. */
const IMAGED_TABLES: ReadonlySet<string> = new Set(["memories", "vectors", "signals", "edges"]);

/** The changes that bring indexes of an image up to a record that the tables have already. */
export const missingInImage = (changes: readonly Change[]): Change[] =>
  changes.filter(({ table }) => IMAGED_TABLES.has(table));

/** Brings indexes up to rows that rest already. New memories come in the order of adding. */
export function catchUp(indexes: StoreIndexes, changes: readonly Change[]): void {
  const { stage, lastOrder } = runAtOnce(stageRecord(indexes, { time: 0, changes }));
  indexes.nextOrder = Math.max(indexes.nextOrder, lastOrder + 1);
  makeFindable(indexes, changes, stage.ordinals);
  runAtOnce(indexes.words.tidyInSteps());
}

/**
 * Rows of records as they are after the last of these, for `catchUp`: memories in the order of adding. One that was deleted
 * and came back is the newest again, as after loading.
 */
export function inOrderOfAdding(catalogue: StoreCatalogue, changes: readonly Change[]): Change[] {
  const others: Change[] = [];
  const memories: Extract<Change, { readonly table: "memories" }>[] = [];
  for (const change of changes)
    if (change.table === "memories") memories.push(change);
    else others.push(change);
  memories.sort((a, b) => (a.row?.order ?? 0) - (b.row?.order ?? 0));
  const isBack = ({ id, row }: (typeof memories)[number]): boolean => {
    const ordinal = row === null ? undefined : catalogue.ordinalOf(id);
    return ordinal !== undefined && catalogue.orderAt(ordinal) !== row?.order;
  };
  const gone = memories.filter(isBack).map(({ table, id }): Change => ({ table, id, row: null }));
  return [...gone, ...memories, ...others];
}

/** Terms of another analyser version, such as an older journal has, are made again. */
function termsOf(row: MemoryRow): Iterable<string> {
  return row.analyserVersion === ANALYSER_VERSION ? termsIn(row.terms) : memoryTerms(row);
}

const termsIn = (terms: string): string[] => (terms === "" ? [] : terms.split(" "));

/** Whether a staged record became durable, once that is known. */
export async function isDurable(staged: { readonly settled: Promise<void> } | undefined): Promise<boolean> {
  try {
    await staged?.settled;
    return true;
  } catch {
    return false;
  }
}

/** Indexes that an image holds. */
type ImagedIndexes = Pick<StoreIndexes, "catalogue" | "words" | "vectors">;

/** Parts of an image, of indexes that were just loaded from the tables. */
export function imageOf({ catalogue, words, vectors }: ImagedIndexes): Record<string, ImagePart> {
  return { ...catalogue.toParts(), words: words.toPart(), vectors: vectors.index.toPart() };
}

/**
 * Fills the memory side of a store from its tables, and from an image what that has.
 *
 * @throws {Error} where the tables contradict themselves, or the image is damaged.
 */
export async function loadIndexes(
  indexes: StoreIndexes,
  tables: ScannedRows,
  log: StoreLog,
  image?: IndexImage,
): Promise<void> {
  if (image === undefined) await loadImaged(indexes, tables, log);
  else {
    const { catalogue, words, vectors } = indexes;
    catalogue.fromParts({ memories: await image.read("memories"), edges: await image.read("edges") });
    words.fromPart(await image.read("words"));
    await vectors.fromImage(image, "vectors");
  }
  await loadRows(indexes, tables, ["requests", "facts", "documents", "jobs"]);
  for await (const batch of tables.scanVersions()) {
    for (const entry of batch) indexes.catalogue.versions.load(entry);
  }
}

/** Fills indexes that an image holds from the tables. */
async function loadImaged(indexes: ImagedIndexes, tables: ScannedRows, log: StoreLog): Promise<void> {
  await loadMemories(indexes, tables, log);
  await loadRows(indexes, tables, ["signals", "edges"]);
}

async function loadRows(
  { catalogue }: Pick<StoreIndexes, "catalogue">,
  tables: ScannedRows,
  names: readonly SmallTable[],
): Promise<void> {
  for (const table of names)
    for await (const batch of tables.scan(table))
      catalogue.loadRows(batch.map(({ id, row }) => ({ table, id, row }) as Change));
}

async function loadMemories(indexes: ImagedIndexes, tables: ScannedRows, log: StoreLog): Promise<void> {
  // Ordinals ascend with the order of adding, and rows come in any: so the places are dealt out first, and the rows go
  // straight to theirs. Holding all rows to sort them would take more memory than everything else.
  const orders: number[] = [];
  for await (const batch of tables.scanOrders()) for (const order of batch) orders.push(order);
  const ordinalOf = new Map<number, Ordinal>();
  // One by one: V8 holds a pair of numbers as floats, and given ordinals that are no small integers it compiles the code of
  // questions again and again, which took twice the time of the questions themselves.
  Float64Array.from(orders)
    .sort()
    .forEach((order, ordinal) => ordinalOf.set(order, ordinal));

  const outdated: { readonly id: string; readonly ordinal: Ordinal }[] = [];
  for await (const batch of tables.scanMemories()) {
    for (const memory of batch) {
      const ordinal = ordinalOf.get(memory.order);
      if (ordinal === undefined) throw new TypeError("a memory was scanned once only");
      indexes.catalogue.load(ordinal, memory);
      if (memory.analyserVersion === ANALYSER_VERSION) indexes.words.put(ordinal, termsIn(memory.terms));
      else outdated.push({ id: memory.id, ordinal });
    }
  }
  await analyseAgain(indexes, tables, outdated, log);
  indexes.words.pack();

  for await (const windows of tables.scanVectors()) {
    windows.memoryIds.forEach((id, i) => {
      const ordinal = indexes.catalogue.ordinalOf(id);
      const values = windows.values.subarray(i * EMBEDDING_DIMENSIONS, (i + 1) * EMBEDDING_DIMENSIONS);
      if (ordinal !== undefined)
        indexes.vectors.addWindow(ordinal, windows.stamps[i] ?? "", {
          values,
          scale: windows.scales[i] ?? 0,
        });
    });
  }
}

const ROWS_ANALYSED_AT_A_TIME = 500;

/** Memories whose terms an older analyser wrote are read and analysed at every start until they are written again. */
async function analyseAgain(
  indexes: ImagedIndexes,
  tables: ScannedRows,
  outdated: readonly { readonly id: string; readonly ordinal: Ordinal }[],
  log: StoreLog,
): Promise<void> {
  if (outdated.length > 0) log.info({ memories: outdated.length }, "analysing memories anew");
  for (const batch of inPieces(outdated, ROWS_ANALYSED_AT_A_TIME)) {
    const rows = await tables.read(
      "memories",
      batch.map(({ id }) => id),
    );
    for (const { id, ordinal } of batch) {
      const row = rows.get(id);
      if (row === undefined) continue;
      indexes.words.put(ordinal, memoryTerms(row));
      indexes.catalogue.setTraits(ordinal, traitsOf(row.content));
    }
  }
}
