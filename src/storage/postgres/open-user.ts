import type { EmbeddingStamp } from "../../core/embedding.ts";
import type { Feed } from "../../core/feed.ts";
import type { MemoryRow } from "../../core/rows.ts";
import { StoreCatalogue } from "../catalogue/catalogue.ts";
import { Overlay } from "../catalogue/overlay.ts";
import { StampedVectors } from "../catalogue/stamped-vectors.ts";
import { WordIndex } from "../catalogue/word-index.ts";
import { PurgeLedger } from "../checkpoints/purge-ledger.ts";
import { IndexedMemoryStore } from "../indexed-memory-store.ts";
import { RecentFeed } from "../recent-feed.ts";
import type { StoreIndexes, StoreLog } from "../store-indexes.ts";
import { ENDLESS_ROOM, withoutCheckpoints } from "../store-ports.ts";
import { type Database, databaseAway, DatabaseError, type Query } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { type Head, readHead, readNewer } from "./newer-records.ts";
import { loadUserIndexes, storeImage } from "./user-image.ts";
import { historyChanged, UserJournal } from "./user-journal.ts";
import { UserRows } from "./user-rows.ts";

/** One snapshot, whatever others write. */
const SNAPSHOT = "isolation level repeatable read read only" as const;
/** Memories and token vectors that a user's store keeps in memory: of some 20 000 memories, each question having others. */
const CACHE_BYTES = { memories: 4 * 1024 ** 2, tokens: 64 * 1024 ** 2 };
/** Bytes that a store takes with its first memory (half without it), and those of each memory in its indexes. */
const [STORE_BYTES, BYTES_PER_MEMORY] = [70_000, 1_200];
/** Rows that are taken over at once, some 100 ms; beyond them the user is loaded anew. */
const MOST_TAKEN_OVER = 5_000;
/** How often the database is asked for what others wrote, while somebody follows the feed. */
const FOLLOWED_EVERY_MS = 1_000;

/** The memories of one user in this process, which other processes may have open too. */
export interface UserStore {
  readonly store: IndexedMemoryStore;
  readonly feed: Feed;
  /**
   * Shows everything that was answered before the call, by whichever process.
   *
   * @throws {ServiceError} NOT_READY while the database does not answer. Look at `isLost` after it.
   */
  refresh(): Promise<void>;
  /** True once what is shown may not be what the database has: the user is to be opened anew. */
  readonly isLost: boolean;
  /** How often another process wrote first. */
  readonly overtakings: number;
  /** About what it takes of memory. */
  readonly bytes: number;
}

export interface UserStoreParts {
  readonly database: Database;
  readonly stamp: EmbeddingStamp;
  readonly clock: DatabaseClock;
  readonly log: StoreLog;
  /** How long a write is tried again while the database is away; for tests. */
  readonly patienceMs?: number;
  /** Memories from which the image of a user is stored; for tests. */
  readonly imageFrom?: number;
}

/** Loads the memories of a user, who need not have any. @throws {ServiceError} NOT_READY while the database does not answer. */
export async function openUser(parts: UserStoreParts, user: string): Promise<UserStore> {
  const { database, stamp, clock, log, patienceMs, imageFrom } = parts;
  const overlay = new Overlay();
  const load = async () => {
    const snapshot = await database.begin(SNAPSHOT);
    try {
      const { head, lastTime, nextOrder } = await readOwner(snapshot.query, user);
      const feed = new RecentFeed({
        clock,
        isNew: head.sequence === 0,
        // Beyond all that this process has given out, also if the user was open before.
        start: Math.ceil(performance.now() * 1_000),
      });
      const newIndexes = (): StoreIndexes => ({
        catalogue: new StoreCatalogue(() => clock.now()),
        overlay,
        words: new WordIndex(),
        vectors: new StampedVectors(stamp),
        ledger: new PurgeLedger(),
        feed,
        lacksEdges: false,
        nextOrder,
        lastTime,
        believed: undefined,
      });
      const options = { newIndexes, stamp, log, imageFrom };
      return { head, feed, ...(await loadUserIndexes(snapshot.query, user, head, options)) };
    } finally {
      await snapshot.end();
    }
  };
  const { head, indexes, feed, image } = await load().catch((error: unknown) => {
    throw error instanceof DatabaseError ? databaseAway(error) : error;
  });
  if (image !== undefined)
    await storeImage(database, user, head, { image, stamp }).catch((error: unknown) =>
      log.warn({ err: error }, "image of a user not stored"),
    );

  let isLost = false;
  const rows = new UserRows(database, user, CACHE_BYTES);
  const journal = new UserJournal(database, user, {
    head,
    ...(patienceMs !== undefined && { patienceMs }),
    hooks: {
      shown: () => store.shown(),
      decided: () => store.decided(),
      takeBackStaged: () => store.takeBackStaged(),
      takeOver({ records, changes }) {
        rows.forget(changes);
        store.takeOver(records, changes);
      },
      onWritten: (changes) => rows.forget(changes),
      onLost: () => (isLost = true),
    },
  });
  const store = new IndexedMemoryStore({
    indexes,
    journal,
    tables: {
      close: () => rows.close(),
      async read(table, ids) {
        const found = await rows.read(table, ids);
        const isAhead = (id: string) => {
          const [entry, row] = [store.catalogue.find(id), found.get(id) as MemoryRow | undefined];
          return entry !== undefined && (row === undefined || row.version > entry.version);
        };
        if (table !== "memories" || !ids.some(isAhead)) return found;
        // The database has rows that are not shown yet: whoever decides on one and its entry would find them to differ for ever.
        await refresh();
        return rows.read(table, ids);
      },
    },
    tokens: rows.tokens,
    // The database has the rows.
    checkpointer: withoutCheckpoints(overlay),
    room: ENDLESS_ROOM,
    clock,
    log,
  });

  async function check(): Promise<void> {
    for (;;) {
      const known = journal.head;
      const sentAt = performance.now();
      const newest = await readHead(database.query, user, known, (at) => clock.note(at, sentAt));
      if (newest === undefined) {
        // A state that our own writes have left since tells nothing.
        if (journal.head === known) return journal.lose(historyChanged());
      } else if (newest.sequence <= journal.head.sequence) return;
      else if (store.isBusy) {
        await store.idle();
        if (newest.sequence <= journal.head.sequence) return;
      } else if (await takeOver(known)) return;
      if (isLost) return;
    }
  }

  /** False where own writes came in between. */
  async function takeOver(known: Head): Promise<boolean> {
    const snapshot = await database.begin(SNAPSHOT);
    try {
      const newer = await readNewer(snapshot.query, user, known);
      if (store.isBusy || journal.head !== known) return false;
      // Loading gives others their turn; taking over does not.
      if (newer === undefined || newer.changes.length > MOST_TAKEN_OVER) journal.lose(historyChanged());
      else journal.takeOver(newer);
      return true;
    } finally {
      await snapshot.end();
    }
  }

  const refresh = together(() =>
    check().catch((error: unknown) => {
      throw error instanceof DatabaseError ? databaseAway(error) : error;
    }),
  );
  return {
    store,
    feed: {
      list(input) {
        if (isLost) throw historyChanged();
        return feed.list(input);
      },
      watch(onMore, userId) {
        const unwatch = feed.watch(onMore, userId);
        const look = () => refresh().then(() => isLost && onMore());
        const timer = setInterval(() => void look().catch(() => undefined), FOLLOWED_EVERY_MS).unref();
        return () => {
          clearInterval(timer);
          unwatch();
        };
      },
    },
    refresh,
    get isLost() {
      return isLost;
    },
    get overtakings() {
      return journal.overtakings;
    },
    get bytes() {
      return STORE_BYTES + BYTES_PER_MEMORY * store.catalogue.ordinals + rows.bytes;
    },
  };
}

/** Where a user's store begins. */
async function readOwner(query: Query, user: string) {
  const [row] = await query<[string, string, string, string]>(
    "select sequence, token, at, next_order from memoryd.owner where owner = $1",
    [user],
  );
  const [sequence = "0", token = "", at = "0", nextOrder = "1"] = row ?? [];
  return {
    head: { sequence: Number(sequence), token },
    lastTime: Number(at),
    nextOrder: Number(nextOrder),
  };
}

/** Work that calls share: each waits for a run that begins after it was called. */
function together(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return run();
    next ??= running.then(run, run);
    return next;
  };
}
