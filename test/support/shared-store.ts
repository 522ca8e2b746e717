import { setImmediate as nextTurn } from "node:timers/promises";
import type { FeedEntry } from "../../src/core/feed.ts";
import type { Clock } from "../../src/core/ports.ts";
import type { Change, LanceTable, Rows, TokenRow } from "../../src/core/rows.ts";
import { StoreCatalogue } from "../../src/storage/catalogue/catalogue.ts";
import { Overlay } from "../../src/storage/catalogue/overlay.ts";
import { StampedVectors } from "../../src/storage/catalogue/stamped-vectors.ts";
import { WordIndex } from "../../src/storage/catalogue/word-index.ts";
import { PurgeLedger } from "../../src/storage/checkpoints/purge-ledger.ts";
import { IndexedMemoryStore } from "../../src/storage/indexed-memory-store.ts";
import { type JournalRecord, Overtaken, type StoreJournal } from "../../src/storage/journal/journal.ts";
import { RecentFeed } from "../../src/storage/recent-feed.ts";
import { ENDLESS_ROOM, withoutCheckpoints } from "../../src/storage/store-ports.ts";
import { createFakeEmbedder } from "./fake-embedder.ts";

/** The records of a store that several openers write to, oldest first. */
export type SharedRecords = (JournalRecord & { readonly feedEntries: readonly FeedEntry[] })[];

export interface SharedStore {
  readonly store: IndexedMemoryStore;
  readonly feed: RecentFeed;
  /** Shows what other openers have written, as at the beginning of a request. */
  refresh(): Promise<void>;
}

/** The real store over records that several openers share: one that is behind is overtaken. */
export function openSharedStore(shared: SharedRecords, clock: Clock): SharedStore {
  let head = 0;
  let next = 0;
  let waiting: (Omit<SharedRecords[number], "feedEntries"> & {
    readonly feedEntries: () => readonly FeedEntry[];
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  })[] = [];
  const stored = <T extends keyof Rows>(table: T, ids: readonly string[]) => {
    const rows = new Map<string, Rows[T]>();
    // What is not shown yet is not read either.
    for (const { changes } of shared.slice(0, head))
      for (const change of changes) {
        if (change.table !== table || !ids.includes(change.id)) continue;
        if (change.row === null) rows.delete(change.id);
        else rows.set(change.id, change.row as Rows[T]);
      }
    return rows;
  };
  const takeOver = () => {
    const newer = shared.slice(head);
    const last = new Map<string, Change>();
    for (const { changes } of newer)
      for (const change of changes) last.set(`${change.table} ${change.id}`, change);
    store.takeOver(newer, [...last.values()]);
    head = next = shared.length;
  };
  let writing: Promise<void> | undefined;
  const write = async () => {
    while (waiting.length > 0) {
      await nextTurn();
      if (head < shared.length) {
        await store.shown();
        store.takeBackStaged();
        takeOver();
        const refused = waiting;
        waiting = [];
        for (const { reject } of refused) reject(new Overtaken());
        continue;
      }
      const group = waiting;
      waiting = [];
      for (const { feedEntries, resolve, reject: _reject, ...record } of group) {
        shared.push({ ...record, feedEntries: feedEntries() });
        head = record.sequence;
        resolve();
      }
    }
    writing = undefined;
  };
  const journal: StoreJournal = {
    append({ frees: _frees, ...record }, feedEntries) {
      const sequence = (next += 1);
      const durable = new Promise<void>((resolve, reject) =>
        waiting.push({ ...record, sequence, feedEntries, resolve, reject }),
      );
      writing ??= write();
      return { sequence, durable };
    },
    isFull: false,
    findRoom: async () => {},
    assertInPlace: async () => {},
    close: async () => {
      await writing;
    },
  };
  const feed = new RecentFeed({ clock, isNew: true });
  const overlay = new Overlay();
  const store = new IndexedMemoryStore({
    indexes: {
      catalogue: new StoreCatalogue(() => clock.now()),
      overlay,
      words: new WordIndex(),
      vectors: new StampedVectors(createFakeEmbedder().stamp),
      ledger: new PurgeLedger(),
      feed,
      lacksEdges: false,
      believed: undefined,
      nextOrder: 1,
      lastTime: 0,
    },
    journal,
    tables: {
      read: async <T extends LanceTable>(table: T, ids: readonly string[]) => stored(table, ids),
      close: async () => {},
    },
    tokens: {
      read: async (ids): Promise<Map<string, TokenRow>> => stored("tokens", ids),
      has: () => false,
      close: async () => {},
    },
    checkpointer: withoutCheckpoints(overlay),
    room: ENDLESS_ROOM,
    clock,
    log: { warn: () => {} },
  });
  takeOver();
  return {
    store,
    feed,
    async refresh() {
      while (head < shared.length)
        if (store.isBusy) await store.idle();
        else takeOver();
    },
  };
}
