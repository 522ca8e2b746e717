import { crc32 } from "node:zlib";
import { invalidRequest } from "../core/errors.ts";
import {
  type Feed,
  FEED_BEGINNING,
  type FeedEntry,
  type FeedPage,
  type ListChangesInput,
} from "../core/feed.ts";
import type { Clock } from "../core/ports.ts";

/** Position of an entry: its record, and its place in it from 1; 0 is before the first. */
interface Place {
  readonly sequence: number;
  readonly index: number;
}
interface Entry extends FeedEntry, Place {
  readonly at: number;
}
export interface RecentFeedOptions {
  readonly storeId: string;
  readonly epoch: number;
  readonly clock: Clock;
  /** The record that the tables are opened at: what follows is replayed. */
  readonly after: number;
  /** At most so many entries are kept. */
  readonly maxEntries?: number;
}

const MAX_ENTRIES = 100_000;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;
const BEGINNING: Place = { sequence: 0, index: 0 };

/**
 * Keeps the feed in memory: what the journal tells at the start, and every record since. Readers behind that are told to reset.
 */
export class RecentFeed implements Feed {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  /** Other in another store, and after a restore. */
  readonly #epoch: string;
  readonly #watchers = new Set<() => void>();
  /** Oldest first. */
  #entries: Entry[] = [];
  #floor: Place;
  #head: Place;

  /** The feed after the record `after`; the caller publishes what follows. */
  constructor({ clock, maxEntries = MAX_ENTRIES, storeId, epoch, after }: RecentFeedOptions) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
    this.#epoch = crc32(`${storeId} ${epoch}`).toString(36);
    // How many entries that record had is not known.
    this.#head = this.#floor = { sequence: after, index: after === 0 ? 0 : Number.MAX_SAFE_INTEGER };
  }

  /** Adds what a durable record says; records come in their order. @param erases as in `feedEntriesOf`. */
  publish(sequence: number, at: number, entries: readonly FeedEntry[], erases?: string): void {
    if (erases !== undefined) this.#entries = this.#entries.filter(({ userId }) => userId !== erases);
    // Written out, because a spread object takes nearly three times the memory.
    for (const [i, { kind, id, userId }] of entries.entries())
      this.#entries.push({ sequence, index: i + 1, kind, id, userId, at });
    this.#head = { sequence, index: entries.length };
    this.#trim();
    for (const onMore of this.#watchers) onMore();
  }

  /** True if an entry names that user. */
  names(user: string): boolean {
    return this.#entries.some(({ userId }) => userId === user);
  }

  list({ since, limit, userId }: ListChangesInput): FeedPage {
    this.#trim();
    const from = since === undefined ? this.#head : this.#placeOf(since);
    if (from === undefined) return { items: [], next: this.#positionOf(this.#head), reset: true };
    // From the end: most readers are there.
    const first = this.#entries.findLastIndex((entry) => compare(entry, from) <= 0) + 1;
    const items: Entry[] = [];
    for (let i = first; i < this.#entries.length && items.length < limit; i += 1) {
      const entry = this.#entries[i] as Entry;
      if (userId === undefined || entry.userId === userId) items.push(entry);
    }
    const next = items.length < limit ? this.#head : (items.at(-1) ?? this.#head);
    return {
      items: items.map((entry) => ({
        position: this.#positionOf(entry),
        kind: entry.kind,
        id: entry.id,
        userId: entry.userId,
        at: entry.at,
      })),
      next: this.#positionOf(next),
      reset: since === FEED_BEGINNING && compare(BEGINNING, this.#floor) < 0,
    };
  }

  watch(onMore: () => void): () => void {
    this.#watchers.add(onMore);
    return () => this.#watchers.delete(onMore);
  }

  #trim(): void {
    const oldest = this.#clock.now() - MAX_AGE_MS;
    let gone = Math.max(0, this.#entries.length - this.#maxEntries);
    // By a hundredth at once, because the others move up.
    if (gone < this.#maxEntries / 100) gone = 0;
    while (gone < this.#entries.length && (this.#entries[gone]?.at ?? 0) < oldest) gone += 1;
    const last = this.#entries[gone - 1];
    if (last === undefined) return;
    this.#floor = { sequence: last.sequence, index: last.index };
    this.#entries.splice(0, gone);
  }

  /** Undefined where entries after it are missing, or it is of another store. */
  #placeOf(position: string): Place | undefined {
    if (position === FEED_BEGINNING) return BEGINNING;
    const [, epoch, sequence, index] = /^([0-9a-z]{1,8})\.(\d{1,16})\.(\d{1,16})$/.exec(position) ?? [];
    if (epoch === undefined)
      throw invalidRequest(
        `"${position}" is no position of a change. Begin with ${FEED_BEGINNING}, or without one.`,
        { fields: [{ path: "/since", message: "must be 0 or a position that an answer had" }] },
      );
    const place = { sequence: Number(sequence), index: Number(index) };
    const isKept = compare(place, this.#floor) >= 0 && place.sequence <= this.#head.sequence;
    return epoch === this.#epoch && isKept ? place : undefined;
  }

  #positionOf({ sequence, index }: Place): string {
    return `${this.#epoch}.${sequence}.${index}`;
  }
}

const compare = (a: Place, b: Place): number => a.sequence - b.sequence || a.index - b.index;
