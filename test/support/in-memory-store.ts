import type { EmbeddingStamp } from "../../src/core/embedding.ts";
import { ServiceError } from "../../src/core/errors.ts";
import type { Clock } from "../../src/core/ports.ts";
import type { Change } from "../../src/core/rows.ts";
import { StoreCatalogue } from "../../src/storage/catalogue/catalogue.ts";
import { Overlay } from "../../src/storage/catalogue/overlay.ts";
import { StampedVectors } from "../../src/storage/catalogue/stamped-vectors.ts";
import { WordIndex } from "../../src/storage/catalogue/word-index.ts";
import { PurgeLedger } from "../../src/storage/checkpoints/purge-ledger.ts";
import { RecentFeed } from "../../src/storage/recent-feed.ts";
import { IndexedMemoryStore } from "../../src/storage/indexed-memory-store.ts";
import { ENDLESS_ROOM } from "../../src/storage/store-ports.ts";
import { createFakeEmbedder } from "./fake-embedder.ts";

export interface InMemoryStore {
  readonly feed: RecentFeed;
  readonly store: IndexedMemoryStore;
  /** Every record written, in order. */
  readonly records: (readonly Change[])[];
  /** From now on records wait for `release`, and then succeed, or all fail. */
  hold(): void;
  release(outcome: "durable" | "refused"): Promise<void>;
  /** Records that wait. */
  readonly waiting: number;
  /** The next record is refused before it is accepted. */
  refuseNext(): void;
}

/** The real store over a journal that keeps its records in an array, with nothing ever applied to tables. */
export function createInMemoryStore(
  clock: Clock,
  stamp: EmbeddingStamp = createFakeEmbedder().stamp,
  flush = async (): Promise<void> => {},
): InMemoryStore {
  const records: (readonly Change[])[] = [];
  let held: { changes: readonly Change[]; resolve: () => void; reject: (error: Error) => void }[] | undefined;

  let refusesNext = false;
  const feed = new RecentFeed({ clock, isNew: true });
  const store = new IndexedMemoryStore({
    indexes: {
      catalogue: new StoreCatalogue(() => clock.now()),
      overlay: new Overlay(),
      words: new WordIndex(),
      vectors: new StampedVectors(stamp),
      ledger: new PurgeLedger(),
      feed,
      lacksEdges: false,
      believed: undefined,
      nextOrder: 1,
      lastTime: 0,
    },
    journal: {
      append({ changes }) {
        if (refusesNext) {
          refusesNext = false;
          throw new ServiceError("STORE_FULL", "the disk is full");
        }
        const sequence = records.length + (held?.length ?? 0) + 1;
        if (held === undefined) {
          records.push(changes);
          return { sequence, durable: Promise.resolve() };
        }
        const waiting = held;
        return {
          sequence,
          durable: new Promise((resolve, reject) => waiting.push({ changes, resolve, reject })),
        };
      },
      isFull: false,
      findRoom: async () => {},
      assertInPlace: async () => {},
      close: async () => {},
    },
    log: { warn: () => {} },
    room: ENDLESS_ROOM,
    tables: { read: async () => new Map(), close: async () => {} },
    tokens: { read: async () => new Map(), has: () => false, close: async () => {} },
    checkpointer: {
      notePending: () => {},
      flush,
      note: async () => {},
      close: async () => {},
    },
    clock,
  });

  return {
    store,
    feed,
    records,
    hold: () => (held = []),
    get waiting() {
      return held?.length ?? 0;
    },
    refuseNext: () => (refusesNext = true),
    async release(outcome) {
      const waiting = held ?? [];
      held = undefined;
      if (outcome === "refused") store.takeBackStaged();
      for (const { changes, resolve, reject } of waiting) {
        if (outcome === "durable") {
          records.push(changes);
          resolve();
        } else reject(new ServiceError("STORE_FULL", "the disk is full"));
      }
      await new Promise((done) => setImmediate(done));
    },
  };
}
