import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ANALYSER_VERSION, memoryTerms } from "../core/text/analyser.ts";
import { EMBEDDING_DIMENSIONS, type EmbeddingStamp, stampKey } from "../core/embedding.ts";
import { ServiceError } from "../core/errors.ts";
import type { Clock, Ordinal } from "../core/ports.ts";
import { traitsOf } from "../core/recall/traits.ts";
import { StoreCatalogue } from "./catalogue/catalogue.ts";
import { Overlay } from "./catalogue/overlay.ts";
import { StampedVectors } from "./catalogue/stamped-vectors.ts";
import { WordIndex } from "./catalogue/word-index.ts";
import {
  CHECKPOINT_FORMAT,
  chooseCheckpoint,
  type ChosenCheckpoint,
  noteSuspects,
  scrub,
  verifyFiles,
  without,
} from "./checkpoint.ts";
import type { TableName } from "../core/rows.ts";
import { Checkpointer, type CheckpointerLimits } from "./checkpointer.ts";
import type { Disk } from "./disk.ts";
import { type Purge, createPurge } from "./purge.ts";
import { PurgeLedger } from "./purge-ledger.ts";
import type { Journal } from "./journal/journal.ts";
import { checkJournal, holdsRecords, openJournal, removeUnused } from "./journal/open-journal.ts";
import { LanceDbMemoryStore, type StoreLog } from "./lancedb-memory-store.ts";
import { noteRecord, showDurable, type StoreIndexes, withKnownVectors } from "./store-indexes.ts";
import { mendTimes } from "./mend-times.ts";
import { openTablesAt } from "./open-tables-at.ts";
import { watchDiskSpace } from "./disk-space.ts";
import type { Tables } from "./tables/tables.ts";
import { copyBeforeUpgrade, STORE_FORMATS } from "./upgrade-copy.ts";

export interface StoreOptions {
  readonly disk: Disk;
  /** The data directory; the caller holds its lock. */
  readonly directory: string;
  readonly clock: Clock;
  /** What new vectors are made with, given what those in the store were made with; asked once, before the tables are read. */
  readonly stamp: (stored: EmbeddingStamp | undefined) => EmbeddingStamp;
  /** Of another stamp than `stamp` answers: whether questions can be embedded with it too. Such vectors are kept meanwhile. */
  readonly isReadable?: (stored: EmbeddingStamp) => boolean;
  /** Whether vectors of another stamp that is not readable are dropped, for `remake` to make them again; else refused. */
  readonly changesModel?: boolean;
  readonly log: StoreLog;
  readonly limits?: Partial<CheckpointerLimits>;
  /** Called when a checkpoint was written and the one before is the older of the two that are kept. */
  readonly onCheckpoint?: () => void;
}

export interface OpenedStore {
  readonly store: LanceDbMemoryStore;
  readonly storeId: string;
  readonly journal: Pick<Journal, "position" | "readOnly" | "bytes">;
  /** True where no document has gone between the two checkpoints that are kept: what no row of now names, neither does. */
  readonly hasAllDocuments: boolean;
  readonly checkpointer: Pick<Checkpointer, "latest" | "stopped" | "flush" | "hold" | "roomNeeded">;
  readonly tables: Pick<Tables, "failure">;
  readonly purge: Purge;
  /** What was lost before this start and cannot be made again, in sentences. */
  readonly losses: readonly string[];
  /** What the background check of the files has found wrong so far, in sentences. */
  readonly damage: readonly string[];
}

/** The newest format this program reads and writes. */
export const STORE_FORMAT = CHECKPOINT_FORMAT;

const FIRST_EPOCH = 1;

/**
 * Opens the store of a data directory, or makes one: tables at the newest whole checkpoint, the memory side from their
 * slim columns, then the journal since.
 *
 * @throws {ServiceError} STORE_UNUSABLE, saying what to do: damage, a newer format, vectors of another model.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { disk, directory, clock, log } = options;
  const journalFolder = join(directory, "journal");
  const hasJournal = await holdsRecords(disk, journalFolder);
  let chosen = await chooseCheckpoint(disk, directory, { hasJournal });
  const stored = Object.values(chosen?.checkpoint.stamps ?? {});
  const stamp = options.stamp(stored[0]);
  const [other, ...others] = stored.filter((each) => stampKey(each) !== stampKey(stamp));
  const before = others.length === 0 && other && options.isReadable?.(other) === true ? other : undefined;
  if (chosen !== undefined && other !== undefined && before === undefined) {
    if (options.changesModel !== true) throw madeByAnother(stampKey(other), stamp, directory);
    chosen = { ...chosen, lost: new Set([...chosen.lost, "vectors", "tokens"]) };
  }

  const header = {
    storeId: chosen?.checkpoint.storeId ?? randomUUID(),
    epoch: chosen?.checkpoint.epoch ?? FIRST_EPOCH,
  };
  const after = chosen?.checkpoint.sequence ?? 0;
  // Before the tables are opened, because that moves files: a store that is refused stays as it is.
  if (chosen !== undefined) {
    await checkJournal({ disk, directory: journalFolder, ...header, after, begin: false });
    await copyBeforeUpgrade(disk, directory, chosen.checkpoint);
  }
  const loaded = await openAndLoad(options, chosen, () => new StampedVectors(stamp, before));
  const { tables, indexes } = loaded;
  ({ chosen } = loaded);
  for (const reason of new Set(chosen?.damage)) log.warn({ reason }, "damaged file");
  for (const reason of lossesOf(chosen)) log.error({ reason }, "a part of the store was lost");
  let journal: Journal | undefined;
  try {
    const checkpointer = new Checkpointer({
      disk,
      directory,
      tables,
      overlay: indexes.overlay,
      journal: {
        assertInPlace: async () => journal?.assertInPlace(),
        dropThrough: (sequence, ends) => {
          options.onCheckpoint?.();
          return journal?.dropThrough(sequence, ends);
        },
      },
      describe: () => ({
        ...header,
        stamps: indexes.vectors.stamps,
        analyserVersion: ANALYSER_VERSION,
        formats: STORE_FORMATS,
        clockFloor: indexes.lastTime,
        nextOrder: indexes.nextOrder,
        ...(indexes.ledger.waiting === undefined ? {} : { unerased: indexes.ledger.waiting }),
        ...(indexes.lacksEdges ? { lacksEdges: true } : {}),
      }),
      report: (error) => log.error({ err: error }, "checkpoint failed"),
      openedAt: chosen,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
    if (chosen === undefined) await removeUnused(disk, journalFolder);
    let store: LanceDbMemoryStore | undefined;
    const replayed = { rows: 0, bytes: 0 };
    const opened = await openJournal({
      disk,
      directory: journalFolder,
      ...header,
      after,
      begin: chosen === undefined,
      onRecord: ({ sequence, time, changes: all }) => {
        const changes = withKnownVectors(indexes, all);
        noteRecord(indexes, time, changes);
        replayed.rows += changes.length;
        replayed.bytes += showDurable(indexes, sequence, changes, indexes.catalogue.stage(changes));
      },
      onRefused: () => store?.takeBackStaged(),
      onStopped: (reason) => log.error({ err: reason }, "store is read-only"),
    });
    ({ journal } = opened);
    // A store has its journal before its first checkpoint: one whose journal is gone never looks like a new one.
    if (chosen === undefined) await checkpointer.flush();
    // Only now are all of them on the disk for certain: a checkpoint must never be ahead of the journal.
    checkpointer.notePending(replayed.rows, replayed.bytes);
    if (opened.tornTail !== undefined) log.warn(opened.tornTail, "unfinished write set aside");

    const room = watchDiskSpace({
      disk,
      directory,
      needed: () => checkpointer.roomNeeded,
      onChange: ({ isLacking, free, needed }) =>
        log[isLacking ? "warn" : "info"](
          { free, needed },
          isLacking ? "disk is full" : "disk has room again",
        ),
    });
    store = new LanceDbMemoryStore({ indexes, journal, tables, checkpointer, room, clock, log });
    // A start says it too.
    await store.lookAtDiskSpace();
    // A full disk, say: reads and deletions go on, and the next start tries again.
    await mendTimes(store, clock, log).catch((error: unknown) =>
      log.warn({ err: error }, "times that a wrong clock gave were not mended"),
    );
    const damage = scrubInBackground(options, checkpointer, store, chosen?.damagedFiles);
    const { ledger } = indexes;
    const purge = createPurge({ disk, directory, store, tables, journal, checkpointer, ledger });
    return {
      store,
      storeId: header.storeId,
      hasAllDocuments: hasAllDocuments(chosen),
      journal,
      checkpointer,
      tables,
      purge,
      damage,
      losses: lossesOf(chosen),
    };
  } catch (error) {
    await journal?.close();
    await tables.close();
    throw error;
  }
}

interface LoadedStore {
  readonly chosen: ChosenCheckpoint | undefined;
  readonly tables: Tables;
  readonly indexes: StoreIndexes;
}

/** Opens the tables and reads them in; where that fails, without those of which a file turns out to be damaged. */
async function openAndLoad(
  options: StoreOptions,
  chosen: ChosenCheckpoint | undefined,
  newVectors: () => StampedVectors,
): Promise<LoadedStore> {
  const { disk, directory, log } = options;
  let tables: Tables | undefined;
  try {
    tables = await openTablesAt(disk, directory, chosen, (error) =>
      log.error({ err: error }, "tables failed"),
    );
    const indexes = emptyIndexes(options, chosen, newVectors());
    await loadIndexes(indexes, tables, log).catch((error: unknown) => {
      throw unreadable(directory, error);
    });
    return { chosen, tables, indexes };
  } catch (error) {
    await tables?.close();
    if (chosen === undefined) throw error;
    const found = await verifyFiles(disk, directory, chosen.checkpoint, () => true);
    const rest = without(chosen, found);
    const isMore =
      rest !== undefined && rest.lost.size + rest.unindexed.size > chosen.lost.size + chosen.unindexed.size;
    if (!isMore) throw error;
    const damage = [...chosen.damage, ...found.map(({ sentence }) => sentence)];
    return openAndLoad(options, { ...rest, damage: [...new Set(damage)] }, newVectors);
  }
}

const LOSSES: Readonly<Partial<Record<TableName, string>>> = {
  signals: "How often memories were found and reinforced was lost: each has the salience that it began with.",
  jobs: "The list of jobs was lost: documents that were waiting to be read have to be sent again.",
  requests: "The Idempotency-Keys of the last day were lost: a repeated request may be done twice.",
  edges: "Waypoints were lost and are made again, without what questions and corrections had taught them.",
};

function lossesOf(chosen: ChosenCheckpoint | undefined): string[] {
  return [...(chosen?.lost ?? [])].flatMap((table) => LOSSES[table] ?? []);
}

/** A table of one name and version has the same rows. */
function hasAllDocuments(chosen: ChosenCheckpoint | undefined): boolean {
  if (chosen?.older === undefined) return true;
  const [now, before] = [chosen.checkpoint, chosen.older].map(({ tables }) =>
    tables.find(({ name }) => /^documents(?:-|$)/.test(name)),
  );
  return now?.name === before?.name && now?.version === before?.version;
}

/** Vectors of unlike models cannot be compared: refused, rather than answered wrongly. */
function madeByAnother(foreign: string, stamp: EmbeddingStamp, directory: string): ServiceError {
  return new ServiceError(
    "STORE_UNUSABLE",
    `The memories in ${directory} were embedded with another model or rule (${foreign}; this memoryd has ${stampKey(stamp)}). ` +
      "Start the version that wrote them, or choose another data directory. Nothing was changed.",
  );
}

function unreadable(directory: string, error: unknown): ServiceError {
  return new ServiceError(
    "STORE_UNUSABLE",
    `The tables of the store in ${directory} cannot be read: ${error instanceof Error ? error.message : String(error)}. ` +
      "Nothing was deleted. Look at the disk; if it is sound, restore the folder from a backup.",
    { cause: error },
  );
}

function emptyIndexes(
  { clock }: StoreOptions,
  chosen: ChosenCheckpoint | undefined,
  vectors: StampedVectors,
): StoreIndexes {
  return {
    catalogue: new StoreCatalogue(() => clock.now()),
    overlay: new Overlay(),
    words: new WordIndex(),
    vectors,
    ledger: new PurgeLedger(chosen?.checkpoint.unerased),
    lacksEdges: chosen?.checkpoint.lacksEdges === true || chosen?.lost.has("edges") === true,
    nextOrder: chosen?.checkpoint.nextOrder ?? 1,
    lastTime: chosen?.checkpoint.clockFloor ?? 0,
  };
}

async function loadIndexes(indexes: StoreIndexes, tables: Tables, log: StoreLog): Promise<void> {
  // Ordinals ascend with the order of adding, and rows come in any: so the places are dealt out first, and the rows go
  // straight to theirs. Holding all rows to sort them would take more memory than everything else.
  const orders: number[] = [];
  for await (const batch of tables.scanOrders()) for (const order of batch) orders.push(order);
  const ordinalOf = new Map(
    Array.from(Float64Array.from(orders).sort(), (order, ordinal) => [order, ordinal]),
  );

  const outdated: { readonly id: string; readonly ordinal: Ordinal }[] = [];
  const loadTerms = indexes.words.startLoading();
  for await (const batch of tables.scanMemories()) {
    for (const memory of batch) {
      const ordinal = ordinalOf.get(memory.order);
      if (ordinal === undefined) throw new TypeError("a memory was scanned once only");
      indexes.catalogue.load(ordinal, memory);
      if (memory.analyserVersion === ANALYSER_VERSION) loadTerms(ordinal, memory.terms);
      else outdated.push({ id: memory.id, ordinal });
    }
  }
  await analyseAgain(indexes, tables, outdated, log);

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
  for await (const batch of tables.scan("signals")) {
    for (const { id, row } of batch) indexes.catalogue.loadSignals(id, row);
  }
  for await (const batch of tables.scan("edges"))
    for (const { row } of batch) indexes.catalogue.loadEdge(row);
  for await (const batch of tables.scan("requests")) {
    for (const { id, row } of batch) indexes.catalogue.loadRequest(id, row);
  }
  for await (const batch of tables.scan("facts")) {
    indexes.catalogue.facts.apply(batch.map(({ id, row }) => ({ table: "facts", id, row })));
  }
  for await (const batch of tables.scan("documents")) {
    for (const { id, row } of batch) indexes.catalogue.documents.apply({ table: "documents", id, row });
  }
  for await (const batch of tables.scan("jobs")) {
    for (const { id, row } of batch) indexes.catalogue.documents.apply({ table: "jobs", id, row });
  }
}

const ROWS_ANALYSED_AT_A_TIME = 500;

/** Memories whose terms an older analyser wrote are read and analysed at every start until they are written again. */
async function analyseAgain(
  indexes: StoreIndexes,
  tables: Tables,
  outdated: readonly { readonly id: string; readonly ordinal: Ordinal }[],
  log: StoreLog,
): Promise<void> {
  if (outdated.length > 0) log.info({ memories: outdated.length }, "analysing memories anew");
  for (let first = 0; first < outdated.length; first += ROWS_ANALYSED_AT_A_TIME) {
    const batch = outdated.slice(first, first + ROWS_ANALYSED_AT_A_TIME);
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

/** LanceDB believes what a file says; so every file is read against its checksum once a start, slowly. */
function scrubInBackground(
  { disk, directory, log }: StoreOptions,
  checkpointer: Checkpointer,
  store: LanceDbMemoryStore,
  known: ReadonlySet<string> | undefined,
): readonly string[] {
  const damage: string[] = [];
  const done = scrub(disk, directory, () => latestOf(checkpointer), store.closing, known).then(
    async (found) => {
      for (const { sentence } of found) {
        damage.push(sentence);
        log.error({ reason: sentence }, "damaged file");
      }
      await noteSuspects(
        disk,
        directory,
        found.map(({ path }) => path),
      );
    },
  );
  done.catch((error: unknown) => {
    if (!store.closing.aborted) log.error({ err: error }, "check of the files failed");
  });
  return damage;
}

function latestOf({ latest }: Pick<Checkpointer, "latest">) {
  if (latest === undefined) throw new TypeError("an open store has a checkpoint");
  return latest;
}
