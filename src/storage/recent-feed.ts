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

/** Not shared among users: a reader who is reset earlier because others write would learn how much they do. */
const MAX_ENTRIES = 10_000;
/** After the beginning, before the first entry. */
const START = 1;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;

/** What is kept of a user, or of what nobody owns. */
interface Shelf {
  /** Oldest first. */
  entries: PlacedFeedEntry[];
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
  #last: number;

  constructor({ clock, isNew, maxEntries = MAX_ENTRIES, start = START }: RecentFeedOptions) {
    this.#clock = clock;
    this.#isNew = isNew;
    this.#maxEntries = maxEntries;
    this.#start = this.#last = start;
  }

  /** Adds what a durable record says; records come in their order. @param erases as in `feedEntriesOf`. */
  publish(at: number, entries: readonly FeedEntry[], erases?: string): void {
    if (erases !== undefined) this.#shelfOf(erases).entries = [];
    // Written out, because a spread object takes nearly three times the memory.
    for (const { kind, id, userId } of entries)
      this.#shelfOf(userId).entries.push({ position: (this.#last += 1), kind, id, userId, at });
    const owners = new Set(entries.map(({ userId }) => userId));
    for (const owner of owners) this.#trim(this.#shelfOf(owner));
    for (const [onMore, userId] of this.#watchers)
      if (userId === undefined ? entries.length > 0 : owners.has(userId)) onMore();
  }

  /** True if an entry names that user. */
  names(user: string): boolean {
    return (this.#shelves.get(user)?.entries.length ?? 0) > 0;
  }

  list({ since, limit, userId }: ListChangesInput): FeedPage {
    const shelf = userId === undefined ? undefined : this.#shelves.get(userId);
    const shelves = userId === undefined ? [...this.#shelves.values()] : shelf === undefined ? [] : [shelf];
    // Never from an entry that the reader does not see: they would change with the writes of others.
    let floor = this.#start;
    let end = this.#start;
    for (const shelf of shelves) {
      this.#trim(shelf);
      floor = Math.max(floor, shelf.floor);
      end = Math.max(end, shelf.floor, shelf.entries.at(-1)?.position ?? this.#start);
    }
    const isBeginning = since === FEED_BEGINNING;
    const reset = isBeginning
      ? !this.#isNew || floor > this.#start
      : since === null || (since ?? floor) < floor;
    if (since === undefined || since === null || (reset && !isBeginning))
      return { items: [], next: end, reset };
    const items = shelves
      .flatMap(({ entries }) => {
        // From the end: most readers are there.
        const first = entries.findLastIndex(({ position }) => position <= since) + 1;
        return entries.slice(first, first + limit);
      })
      .sort((a, b) => a.position - b.position)
      .slice(0, limit);
    return { items, next: items.at(-1)?.position ?? Math.max(since, floor), reset };
  }

  watch(onMore: () => void, userId?: string): () => void {
    this.#watchers.set(onMore, userId);
    return () => this.#watchers.delete(onMore);
  }

  #shelfOf(owner: string | null): Shelf {
    const shelf = this.#shelves.get(owner) ?? { entries: [], floor: this.#start };
    this.#shelves.set(owner, shelf);
    return shelf;
  }

  /** Drops what is too old, and what is too many: by a hundredth at once, because all others move up. */
  #trim(shelf: Shelf): void {
    const { entries } = shelf;
    const surplus = entries.length - this.#maxEntries;
    const oldest = this.#clock.now() - MAX_AGE_MS;
    let gone = surplus < this.#maxEntries / 100 ? 0 : surplus;
    while (gone < entries.length && (entries[gone]?.at ?? 0) < oldest) gone += 1;
    shelf.floor = entries.splice(0, gone).at(-1)?.position ?? shelf.floor;
  }
}
