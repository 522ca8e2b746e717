import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
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
import { type Disk, replaceFile } from "./files/disk.ts";

/** Position of an entry: its record, and its place in it from 1; 0 is before the first. */
interface Place {
  readonly sequence: number;
  readonly index: number;
}
interface Entry extends FeedEntry, Place {
  readonly at: number;
}
/** A line of the file, behind its checksum. */
interface Line {
  readonly entries: readonly (readonly [
    sequence: number,
    index: number,
    kind: FeedEntry["kind"],
    id: string,
    userId: string | null,
    at: number,
  ])[];
  /** All up to this place are no longer kept. */
  readonly floor: Place;
  /** In the last line: nothing up to this record is missing. */
  readonly through?: number;
}

export interface StoredFeedOptions {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  readonly storeId: string;
  readonly epoch: number;
  readonly clock: Clock;
  /** The record that the tables are opened at: what follows is replayed. */
  readonly after: number;
  /** At most so many entries are kept. */
  readonly maxEntries?: number;
}

const NAME = "CHANGES";
const MAX_ENTRIES = 100_000;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;
const ENTRIES_PER_LINE = 2_000;
const BEGINNING: Place = { sequence: 0, index: 0 };

/**
 * Keeps the feed in memory, and in a file that is written anew before each checkpoint; the journal has the records since. So an
 * open finds every entry at the place that it had. Where the file is missing or damaged, what it held is given up and
 * readers are told to reset.
 */
export class StoredFeed implements Feed {
  readonly #options: StoredFeedOptions;
  readonly #path: string;
  readonly #maxEntries: number;
  /** Other in another store, and after a restore. */
  readonly #epoch: string;
  readonly #watchers = new Set<() => void>();
  /** Oldest first. */
  #entries: Entry[] = [];
  #floor = BEGINNING;
  #head = BEGINNING;
  /** The record up to which the file is known to hold all; −1 for none. */
  #saved = -1;

  /** An empty feed from the first record; see `open`. */
  constructor(options: StoredFeedOptions) {
    this.#options = options;
    this.#path = join(options.directory, NAME);
    this.#maxEntries = options.maxEntries ?? MAX_ENTRIES;
    this.#epoch = crc32(`${options.storeId} ${options.epoch}`).toString(36);
  }

  /** The feed as of the record `after`; the caller publishes what follows. Never fails: without its file it is empty. */
  static async open(options: StoredFeedOptions): Promise<StoredFeed> {
    const feed = new StoredFeed(options);
    const { after } = options;
    const through = await feed.#load().catch(() => -1);
    if (through >= after) feed.#saved = after;
    else feed.#floor = { sequence: after, index: after === 0 ? 0 : Number.MAX_SAFE_INTEGER };
    feed.#entries = through < after ? [] : feed.#entries.filter(({ sequence }) => sequence <= after);
    const places = [{ sequence: after, index: 0 }, feed.#floor, feed.#entries.at(-1) ?? BEGINNING];
    feed.#head = places.sort(compare).at(-1) ?? BEGINNING;
    return feed;
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

  /**
   * Brings into the file, durably, what the records up to `through` said. Called before a checkpoint of that record is
   * written, and never twice at once. @throws the disk's error; the file is as before then.
   */
  async save(through: number): Promise<void> {
    if (through <= this.#saved) return;
    const saved = Math.max(through, this.#head.sequence);
    await replaceFile(this.#options.disk, this.#path, await this.#encode(saved));
    this.#saved = saved;
  }

  get #header(): string {
    return `memoryd changes 1 ${this.#epoch}`;
  }

  async #encode(through: number): Promise<Buffer> {
    const entries = [...this.#entries];
    const floor = this.#floor;
    const lines = [Buffer.from(`${this.#header}\n`)];
    for (let first = 0; first === 0 || first < entries.length; first += ENTRIES_PER_LINE) {
      const line: Line = {
        entries: entries
          .slice(first, first + ENTRIES_PER_LINE)
          .map(({ sequence, index, kind, id, userId, at }) => [sequence, index, kind, id, userId, at]),
        floor,
        ...(first + ENTRIES_PER_LINE >= entries.length && { through }),
      };
      const text = JSON.stringify(line);
      lines.push(Buffer.from(`${crc32(text).toString(16)} ${text}\n`));
      await nextTurn();
    }
    return Buffer.concat(lines);
  }

  /** Reads as far as the file is whole; answers the record up to which nothing is missing, −1 for none. */
  async #load(): Promise<number> {
    let through = -1;
    const [header, ...lines] = (await this.#options.disk.readFile(this.#path)).toString().split("\n");
    if (header !== this.#header) return through;
    for (const line of lines) {
      const [, checksum, text = ""] = /^([0-9a-f]+) (.+)$/s.exec(line) ?? [];
      if (crc32(text).toString(16) !== checksum) break;
      const read = JSON.parse(text) as Line;
      for (const [sequence, index, kind, id, userId, at] of read.entries)
        this.#entries.push({ sequence, index, kind, id, userId, at });
      this.#floor = read.floor;
      through = read.through ?? through;
    }
    this.#entries = this.#entries.filter((entry) => compare(this.#floor, entry) < 0);
    return through;
  }

  #trim(): void {
    const oldest = this.#options.clock.now() - MAX_AGE_MS;
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
