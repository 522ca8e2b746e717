import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { runAtOnce } from "../core/at-once.ts";
import { ANALYSER_VERSION } from "../core/text/analyser.ts";
import { type EmbeddingStamp, stampKey } from "../core/embedding.ts";
import { type ServiceError, storeUnusable } from "../core/errors.ts";
import { presentOf } from "../core/facts/fact-store.ts";
import type { Feed } from "../core/feed.ts";
import type { Clock } from "../core/ports.ts";
import {
  believe,
  CHECKPOINT_FORMAT,
  chooseCheckpoint,
  type ChosenCheckpoint,
  lossesOf,
  scrubInBackground,
  verifyFiles,
  without,
} from "./checkpoints/checkpoint.ts";
import { StoreCatalogue } from "./catalogue/catalogue.ts";
import { Overlay } from "./catalogue/overlay.ts";
import { StampedVectors } from "./catalogue/stamped-vectors.ts";
import { WordIndex } from "./catalogue/word-index.ts";
import type { LanceTable, Rows } from "../core/rows.ts";
import { Checkpointer, type CheckpointerLimits } from "./checkpoints/checkpointer.ts";
import type { Disk } from "./files/disk.ts";
import { createPurge, type Purge } from "./checkpoints/purge.ts";
import { PurgeLedger } from "./checkpoints/purge-ledger.ts";
import type { Journal } from "./journal/journal.ts";
import { checkJournal, holdsRecords, openJournal, removeUnused } from "./journal/open-journal.ts";
import { IndexedMemoryStore } from "./indexed-memory-store.ts";
import {
  catchUp,
  loadIndexes,
  missingInImage,
  noteRecord,
  showInSteps,
  stageRecord,
  type StoreIndexes,
  type StoreLog,
  withKnownVectors,
} from "./store-indexes.ts";
import { findImage, imagedJournalBytes, imageKey, keepImage } from "./image/kept-image.ts";
import { type IndexImage, removeImage } from "./image/index-image.ts";
import { copyTexts, openRowsAt, openTablesAt, setAside, unreadable } from "./checkpoints/open-tables-at.ts";
import { RecentFeed } from "./recent-feed.ts";
import { watchDiskSpace } from "./files/disk-space.ts";
import type { Tables } from "./tables/tables.ts";
import type { RowFiles } from "./tables/row-files.ts";
import { TEXTS, TOKENS } from "./tables/specs.ts";
import { lanceCacheSizes } from "./tables/table-spec.ts";
import type { StoredRows } from "./store-ports.ts";

export interface StoreOptions {
  readonly disk: Disk;
  /** The data directory; the caller holds its lock. */
  readonly directory: string;
  readonly clock: Clock;
  /** Chooses the stamp of new vectors, given the stamps in the store; called once, before the tables are read. */
  readonly stamp: (stored: EmbeddingStamp | undefined) => EmbeddingStamp;
  /** True: vectors of that stamp, which is not the one of `stamp`, are made again by `remake`. False: the store is refused. */
  readonly changesModel?: (stored: EmbeddingStamp) => boolean;
  readonly log: StoreLog;
  readonly limits?: Partial<CheckpointerLimits>;
  /** Bytes for the caches of the tables. */
  readonly cacheBytes?: number | undefined;
  /** Memories from which an image of the indexes is written; for tests. */
  readonly imageFrom?: number;
}

export interface OpenedStore {
  readonly store: IndexedMemoryStore;
  readonly storeId: string;
  readonly journal: Pick<Journal, "position" | "readOnly" | "bytes">;
  /** True where no document and no version has gone between the two checkpoints that are kept: what no row of now names, neither does. */
  readonly hasAllDocuments: boolean;
  readonly checkpointer: Pick<Checkpointer, "latest" | "stopped" | "flush" | "note" | "hold" | "roomNeeded">;
  readonly tables: Pick<Tables, "failure">;
  readonly purge: Purge;
  readonly feed: Feed;
  /** Losses before this start that cannot be made good, in sentences. */
  readonly losses: readonly string[];
  /** Faults that the background check of the files has found so far, in sentences. */
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
  const [latest] = stored;
  const stamp = options.stamp(latest);
  const isOther = (each: EmbeddingStamp) => stampKey(each) !== stampKey(stamp);
  if (latest !== undefined && isOther(latest) && options.changesModel?.(latest) !== true)
    throw madeByAnother(stampKey(latest), stamp, directory);

  const header = {
    storeId: chosen?.checkpoint.storeId ?? randomUUID(),
    epoch: chosen?.checkpoint.epoch ?? FIRST_EPOCH,
  };
  const after = chosen?.checkpoint.sequence ?? 0;
  // Before the tables are opened, because that moves files: a store that is refused stays as it is.
  if (chosen !== undefined)
    await checkJournal({ disk, directory: journalFolder, ...header, after, begin: false });
  const feed = new RecentFeed({ clock, isNew: chosen === undefined && !hasJournal });
  const newParts = () => ({ feed, vectors: new StampedVectors(stamp, stored.find(isOther)) });
  const image = await findImage(options, imageKey(chosen, newParts().vectors), async (sequence) => {
    if (sequence >= after) return sequence === after;
    const since = { disk, directory: journalFolder, ...header, after: sequence, begin: false };
    return checkJournal(since).then(
      (journal) => journal.sequence >= after,
      () => false,
    );
  });
  const putBack = await setAside(disk, directory, chosen);
  const loaded = await openAndLoad(options, chosen, image, newParts).catch(async (error: unknown) => {
    await putBack();
    throw error;
  });
  const { tables, indexes } = loaded;
  let { imagedThrough } = loaded;
  ({ chosen } = loaded);
  const tokens = await openRowsAt(TOKENS, options, chosen);
  const texts = await openRowsAt(TEXTS, options, chosen);
  const files = [tokens, texts];
  for (const reason of new Set(chosen?.damage)) log.warn({ reason }, "damaged file");
  for (const reason of lossesOf(chosen)) log.error({ reason }, "a part of the store was lost");
  let journal: Journal | undefined;
  /** The last record that both kept checkpoints have. */
  let checkpointed = chosen?.older?.sequence ?? 0;
  try {
    const checkpointer = new Checkpointer({
      disk,
      directory,
      tables,
      files,
      overlay: indexes.overlay,
      journal: {
        assertInPlace: async () => journal?.assertInPlace(),
        async dropThrough(sequence, isPurge) {
          checkpointed = sequence;
          // A purge: nothing may be left of what it removes.
          const mustGo =
            isPurge || (journal?.bytes ?? 0) > imagedJournalBytes(checkpointer.latest?.tables ?? []);
          const [removed] = await Promise.allSettled([mustGo ? giveUpImage() : undefined]);
          await journal?.dropThrough(Math.min(sequence, imagedThrough ?? sequence));
          if (removed.status === "rejected") throw removed.reason;
        },
      },
      describe: () => ({
        ...header,
        stamps: indexes.vectors.stamps,
        analyserVersion: ANALYSER_VERSION,
        clockFloor: indexes.lastTime,
        nextOrder: indexes.nextOrder,
        ...(indexes.ledger.waiting === undefined ? {} : { unerased: indexes.ledger.waiting }),
        ...(indexes.lacksEdges ? { lacksEdges: true } : {}),
        ...(indexes.believed && { believed: indexes.believed }),
      }),
      report: (error) => log.error({ err: error }, "checkpoint failed"),
      openedAt: chosen,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
    const giveUpImage = () => {
      imagedThrough = undefined;
      return removeImage(disk, directory);
    };
    const { catalogue } = indexes;
    if (chosen === undefined) await removeUnused(disk, journalFolder);
    let store: IndexedMemoryStore | undefined;
    const replayed = { rows: 0, bytes: 0 };
    const opened = await openJournal({
      disk,
      directory: journalFolder,
      ...header,
      after: Math.min(after, imagedThrough ?? after),
      begin: chosen === undefined,
      onRecord: (record) => {
        const changes = withKnownVectors(indexes, record.changes);
        if (record.sequence <= after) {
          catchUp(indexes, missingInImage(changes));
          return;
        }
        const staged = runAtOnce(stageRecord(indexes, { ...record, changes }));
        noteRecord(indexes, record.time, staged);
        replayed.rows += changes.length;
        replayed.bytes += runAtOnce(showInSteps(indexes, { ...record, changes }, staged.stage));
      },
      onRefused: () => store?.takeBackStaged(),
      onStopped: (reason) => log.error({ err: reason }, "store is read-only"),
    });
    ({ journal } = opened);
    for (const rows of files) rows.place(catalogue);
    // A store has its journal before its first checkpoint: one whose journal is gone never looks like a new one.
    if (chosen === undefined) await checkpointer.flush();
    if (opened.tornBytes > 0) log.warn({ bytes: opened.tornBytes }, "unfinished write cut off");
    const hasRoom = async () => (await disk.freeBytes(directory)) >= checkpointer.roomNeeded;
    await copyTexts(texts, tables, indexes, hasRoom)
      .then((isNew) => (isNew ? checkpointer.note() : undefined))
      .catch((error: unknown) => log.warn({ err: error }, "texts not copied"));
    // Only now are all of them on the disk for certain: a checkpoint must never be ahead of the journal.
    checkpointer.notePending(replayed.rows, replayed.bytes);

    const room = watchDiskSpace({
      disk,
      directory,
      needed: () => checkpointer.roomNeeded,
      onChange({ isLacking, free, needed }) {
        log[isLacking ? "warn" : "info"](
          { free, needed },
          isLacking ? "disk is full" : "disk has room again",
        );
        if (!isLacking) return;
        void giveUpImage()
          .then(() => journal?.dropThrough(checkpointed))
          .catch(() => undefined);
      },
    });
    store = new IndexedMemoryStore({
      indexes,
      journal,
      tables: withTexts(tables, texts),
      tokens,
      checkpointer,
      room,
      clock,
      log,
    });
    // A start says it too.
    await store.lookAtDiskSpace();
    const { facts } = store.catalogue;
    // Facts that a wrong clock dated in the future are known by now all the same.
    if (presentOf(clock, facts.latestRecordedAt) < facts.latestRecordedAt) facts.clockIs(clock.now());
    const damage = scrubInBackground({
      disk,
      directory,
      log,
      checkpointer,
      signal: store.closing,
      known: chosen?.damagedFiles,
    });
    const { ledger } = indexes;
    const purge = createPurge({ disk, directory, store, tables, files, journal, checkpointer, ledger });
    return {
      store,
      storeId: header.storeId,
      hasAllDocuments: hasAllDocuments(chosen),
      journal,
      checkpointer,
      tables,
      purge,
      feed,
      damage,
      losses: lossesOf(chosen),
    };
  } catch (error) {
    await journal?.close();
    for (const rows of files) await rows.close();
    await tables.close();
    throw error;
  }
}

/** Rows of memories from their files, and from the tables those that are damaged there. */
function withTexts(tables: Tables, texts: RowFiles<"memories">): StoredRows {
  return {
    async read<T extends LanceTable>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>> {
      if (table !== "memories") return tables.read(table, ids);
      const found = (await texts.read(ids)) as Map<string, Rows[T]>;
      const others = ids.filter((id) => !found.has(id));
      for (const [id, row] of await tables.read(table, others)) found.set(id, row);
      return found;
    },
    async close() {
      await texts.close();
      await tables.close();
    },
  };
}

interface LoadedStore {
  readonly chosen: ChosenCheckpoint | undefined;
  readonly tables: Tables;
  readonly indexes: StoreIndexes;
  /** The record up to which there is an image; undefined without one. */
  readonly imagedThrough: number | undefined;
}

/** Opens the tables and reads them in; where that fails, without those of which a file turns out to be damaged. */
async function openAndLoad(
  options: StoreOptions,
  chosen: ChosenCheckpoint | undefined,
  image: IndexImage | undefined,
  newParts: () => Pick<StoreIndexes, "feed" | "vectors">,
): Promise<LoadedStore> {
  const { disk, directory, log } = options;
  let tables: Tables | undefined;
  try {
    tables = await openTablesAt(directory, chosen, {
      onFailure: (error) => log.error({ err: error }, "tables failed"),
      sizes: lanceCacheSizes(options.cacheBytes),
    });
    if (image !== undefined) {
      const indexes = emptyIndexes(options, chosen, newParts());
      const failure = await loadIndexes(indexes, tables, log, image).catch((error: Error) => error);
      await image.close();
      if (failure === undefined) return { chosen, tables, indexes, imagedThrough: image.sequence };
      log.warn({ reason: failure.message }, "indexes are made from the tables");
    }
    const indexes = emptyIndexes(options, chosen, newParts());
    await loadIndexes(indexes, tables, log).catch((error: unknown) => {
      throw unreadable(directory, error);
    });
    return { chosen, tables, indexes, imagedThrough: await keepImage(options, chosen, indexes) };
  } catch (error) {
    await tables?.close();
    if (chosen === undefined) throw error;
    const found = await verifyFiles(disk, directory, chosen.checkpoint, () => true);
    const rest = without(chosen, found);
    const isMore =
      rest !== undefined && rest.lost.size + rest.unindexed.size > chosen.lost.size + chosen.unindexed.size;
    if (!isMore) throw error;
    const damage = [...chosen.damage, ...found.map(({ sentence }) => sentence)];
    return openAndLoad(options, { ...rest, damage: [...new Set(damage)] }, undefined, newParts);
  }
}

/** A table of one name and version has the same rows. What was deleted may be in the trash. */
function hasAllDocuments(chosen: ChosenCheckpoint | undefined): boolean {
  if (chosen?.older === undefined) return true;
  const [now, before] = [chosen.checkpoint, chosen.older].map(({ tables }) =>
    tables.flatMap(({ name, version }) => (/^(documents|versions)-/.test(name) ? `${name} ${version}` : [])),
  );
  return now?.join() === before?.join();
}

/** Vectors of unlike models cannot be compared: refused, rather than answered wrongly. */
function madeByAnother(foreign: string, stamp: EmbeddingStamp, directory: string): ServiceError {
  return storeUnusable(
    `The memories in ${directory} were embedded with another model or rule (${foreign}; this memoryd has ${stampKey(stamp)}). ` +
      "If that model was added, put its folder back into `models` there, as from a backup; else start the version that wrote " +
      "them. Nothing was changed.",
  );
}

function emptyIndexes(
  { clock }: StoreOptions,
  chosen: ChosenCheckpoint | undefined,
  parts: Pick<StoreIndexes, "feed" | "vectors">,
): StoreIndexes {
  return {
    catalogue: new StoreCatalogue(() => clock.now()),
    overlay: new Overlay(),
    words: new WordIndex(),
    ...parts,
    ledger: new PurgeLedger(chosen?.checkpoint.unerased),
    lacksEdges: chosen?.checkpoint.lacksEdges === true || chosen?.lost.has("edges") === true,
    nextOrder: chosen?.checkpoint.nextOrder ?? 1,
    lastTime: chosen?.checkpoint.clockFloor ?? 0,
    believed: believe(chosen?.checkpoint.believed, clock.now()),
  };
}
