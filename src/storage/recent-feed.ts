import {
  type Feed,
  FEED_BEGINNING,
  type FeedEntry,
  type FeedPage,
  type ListChangesInput,
  type PlacedFeedEntry,
} from "../core/feed.ts";
import type { Clock } from "../core/ports.ts";

export interface RecentFeedOptions {
  readonly clock: Clock;
  /** True if the store has no record yet: a reader from the beginning misses nothing. */
  readonly isNew: boolean;
  /** At most so many entries of a user are kept. */
  readonly maxEntries?: number;
  /** The position before the first entry; a reader from before it is told to reset. */
  readonly start?: number;
}

const MAX_ENTRIES = 100_000;
/** After the beginning, before the first entry. */
const START = 1;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;

/** What is kept of a user, or of what nobody owns. */
interface Shelf {
  entries: number;
  /** The last position that is no longer kept. */
  floor: number;
}

/** Keeps the feed since the start in memory. Readers behind what is kept are told to reset. */
export class RecentFeed implements Feed {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #isNew: boolean;
  readonly #start: number;
  readonly #watchers = new Map<() => void, string | undefined>();
  readonly #shelves = new Map<string | null, Shelf>();
  /** Oldest first. */
  #entries: PlacedFeedEntry[] = [];
  #last: number;
  /** The last position of anybody that is no longer kept. */
  #floor: number;

  constructor({ clock, isNew, maxEntries = MAX_ENTRIES, start = START }: RecentFeedOptions) {
    this.#clock = clock;
    this.#isNew = isNew;
    this.#maxEntries = maxEntries;
    this.#start = this.#last = this.#floor = start;
  }

  /** Adds what a durable record says; records come in their order. @param erases as in `feedEntriesOf`. */
  publish(at: number, entries: readonly FeedEntry[], erases?: string): void {
    if (erases !== undefined) {
      this.#entries = this.#entries.filter(({ userId }) => userId !== erases);
      this.#shelfOf(erases).entries = 0;
    }
    // Written out, because a spread object takes nearly three times the memory.
    for (const { kind, id, userId } of entries) {
      this.#entries.push({ position: (this.#last += 1), kind, id, userId, at });
      this.#shelfOf(userId).entries += 1;
    }
    const owners = new Set(entries.map(({ userId }) => userId));
    for (const owner of owners) this.#trim(owner);
    for (const [onMore, userId] of this.#watchers)
      if (userId === undefined ? entries.length > 0 : owners.has(userId)) onMore();
  }

  /** True if an entry names that user. */
  names(user: string): boolean {
    return this.#entries.some(({ userId }) => userId === user);
  }

  list({ since, limit, userId }: ListChangesInput): FeedPage {
    this.#dropOld();
    const isSeen = (entry: PlacedFeedEntry) => userId === undefined || entry.userId === userId;
    const floor = userId === undefined ? this.#floor : (this.#shelves.get(userId)?.floor ?? this.#start);
    // Never that of an entry that the reader does not see: it would change with the writes of others.
    const end = () => Math.max(floor, this.#entries.findLast(isSeen)?.position ?? this.#start);
    const isBeginning = since === FEED_BEGINNING;
    const reset = isBeginning
      ? !this.#isNew || floor > this.#start
      : since === null || (since ?? floor) < floor;
    if (since === undefined || since === null || (reset && !isBeginning))
      return { items: [], next: end(), reset };
    // From the end: most readers are there.
    const first = this.#entries.findLastIndex(({ position }) => position <= since) + 1;
    const items: PlacedFeedEntry[] = [];
    for (let i = first; i < this.#entries.length && items.length < limit; i += 1) {
      const entry = this.#entries[i] as PlacedFeedEntry;
      if (isSeen(entry)) items.push(entry);
    }
    return { items, next: items.at(-1)?.position ?? Math.max(since, floor), reset };
  }

  watch(onMore: () => void, userId?: string): () => void {
    this.#watchers.set(onMore, userId);
    return () => this.#watchers.delete(onMore);
  }

  #shelfOf(owner: string | null): Shelf {
    const shelf = this.#shelves.get(owner) ?? { entries: 0, floor: this.#start };
    this.#shelves.set(owner, shelf);
    return shelf;
  }

  /** Keeps the last entries of one owner, however many others have. By a hundredth at once, because all others move up. */
  #trim(owner: string | null): void {
    let surplus = this.#shelfOf(owner).entries - this.#maxEntries;
    if (surplus <= 0 || surplus < this.#maxEntries / 100) return;
    this.#entries = this.#entries.filter((entry) => {
      if (entry.userId !== owner || surplus <= 0) return true;
      surplus -= 1;
      this.#noteDropped(entry);
      return false;
    });
  }

  #dropOld(): void {
    const oldest = this.#clock.now() - MAX_AGE_MS;
    let gone = 0;
    while (gone < this.#entries.length && (this.#entries[gone]?.at ?? 0) < oldest) gone += 1;
    if (gone > 0) for (const entry of this.#entries.splice(0, gone)) this.#noteDropped(entry);
  }

  #noteDropped({ userId, position }: PlacedFeedEntry): void {
    const shelf = this.#shelfOf(userId);
    shelf.entries -= 1;
    shelf.floor = position;
    this.#floor = Math.max(this.#floor, position);
  }
}
