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
import { type Disk, replaceFile } from "./disk.ts";

/** Position of an entry: its record, and its place in it from 1; 0 is before the first. */
interface Place {
  readonly sequence: number;
  readonly index: number;
}
interface Entry extends FeedEntry, Place {
  readonly at: number;
}
/** An entry as it stands in the file. */
type Row = readonly [
  sequence: number,
  index: number,
  kind: FeedEntry["kind"],
  id: string,
  userId: string | null,
  at: number,
];
/** A line of the file, behind its checksum. */
interface Line {
  readonly entries: readonly Row[];
  /** All up to this place are no longer kept. */
  readonly floor: Place;
  /** In the last line of a save: nothing up to this record is missing. */
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
 * Keeps the feed in memory, and in a file that is saved before each checkpoint; the journal has the records since. So an
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
  /** Extent of the file: last position, number of entries, bytes. */
  #saved = { through: -1, head: BEGINNING, entries: 0, bytes: 0 };
  /** The file has what must go, or is not to be trusted. */
  #mustRewrite = true;

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
    await feed.#load().catch(() => undefined);
    if (feed.#saved.through < options.after) {
      feed.#entries = [];
      feed.#mustRewrite = true;
      feed.#floor = { sequence: options.after, index: options.after === 0 ? 0 : Number.MAX_SAFE_INTEGER };
    }
    const known = feed.#entries.length;
    feed.#entries = feed.#entries.filter(({ sequence }) => sequence <= options.after);
    if (feed.#entries.length < known) feed.#mustRewrite = true;
    feed.#head = later(feed.#entries.at(-1) ?? BEGINNING, feed.#floor);
    if (feed.#head.sequence < options.after) feed.#head = { sequence: options.after, index: 0 };
    feed.#saved = { ...feed.#saved, head: feed.#head };
    return feed;
  }

  /** Adds what a durable record says; records come in their order. @param erases as in `feedEntriesOf`. */
  publish(sequence: number, at: number, entries: readonly FeedEntry[], erases?: string): void {
    if (erases !== undefined) {
      this.#entries = this.#entries.filter(({ userId }) => userId !== erases);
      this.#mustRewrite = true;
    }
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
    let next = this.#head;
    const items: Entry[] = [];
    for (let i = this.#firstAfter(from); i < this.#entries.length; i += 1) {
      const entry = this.#entries[i] as Entry;
      if (userId !== undefined && entry.userId !== userId) continue;
      items.push(entry);
      if (items.length < limit) continue;
      next = entry;
      break;
    }
    return {
      items: items.map(({ kind, id, userId: owner, at, ...place }) => ({
        position: this.#positionOf(place),
        kind,
        id,
        userId: owner,
        at,
      })),
      next: this.#positionOf(next),
      reset: since === FEED_BEGINNING && isBefore(BEGINNING, this.#floor),
    };
  }

  watch(onMore: () => void): () => void {
    this.#watchers.add(onMore);
    return () => this.#watchers.delete(onMore);
  }

  /**
   * Brings into the file, durably, what the records up to `through` said. Called before a checkpoint of that record is
   * written, and never twice at once.
   *
   * @throws the disk's error; the next call writes the whole file anew.
   */
  async save(through: number): Promise<void> {
    if (!this.#mustRewrite && through <= this.#saved.through) return;
    const { disk } = this.#options;
    const head = this.#head;
    const isWhole =
      this.#mustRewrite || this.#saved.entries > 2 * this.#entries.length + this.#maxEntries / 10;
    const entries = isWhole ? [...this.#entries] : this.#entries.slice(this.#firstAfter(this.#saved.head));
    // Before the first wait: whatever is erased meanwhile asks for another.
    this.#mustRewrite = false;
    try {
      const header = isWhole ? [Buffer.from(`${this.#header}\n`)] : [];
      const bytes = Buffer.concat([
        ...header,
        ...(await this.#encode(entries, Math.max(through, head.sequence))),
      ]);
      const start = isWhole ? 0 : this.#saved.bytes;
      if (isWhole) await replaceFile(disk, this.#path, bytes);
      else {
        const file = await disk.open(this.#path, "write");
        try {
          await file.write(bytes, start);
          await file.sync();
        } finally {
          await file.close();
        }
      }
      this.#saved = {
        through: Math.max(through, head.sequence),
        head,
        entries: (isWhole ? 0 : this.#saved.entries) + entries.length,
        bytes: start + bytes.length,
      };
    } catch (error) {
      this.#mustRewrite = true;
      throw error;
    }
  }

  get #header(): string {
    return `memoryd changes 1 ${this.#epoch}`;
  }

  async #encode(entries: readonly Entry[], through: number): Promise<Buffer[]> {
    const lines: Buffer[] = [];
    for (let first = 0; first === 0 || first < entries.length; first += ENTRIES_PER_LINE) {
      const part = entries.slice(first, first + ENTRIES_PER_LINE);
      const line: Line = {
        entries: part.map(({ sequence, index, kind, id, userId, at }) => [
          sequence,
          index,
          kind,
          id,
          userId,
          at,
        ]),
        floor: this.#floor,
        ...(first + ENTRIES_PER_LINE >= entries.length && { through }),
      };
      const text = JSON.stringify(line);
      lines.push(Buffer.from(`${crc32(text).toString(16)} ${text}\n`));
      await nextTurn();
    }
    return lines;
  }

  /** Reads as far as the file is whole: an unfinished end is of a save whose checkpoint was never written. */
  async #load(): Promise<void> {
    const bytes = await this.#options.disk.readFile(this.#path);
    const [header, ...lines] = bytes.toString().split("\n");
    if (header !== this.#header) return;
    let read = Buffer.byteLength(header) + 1;
    for (const line of lines) {
      const space = line.indexOf(" ");
      const [checksum, text] = [line.slice(0, space), line.slice(space + 1)];
      if (line === "" || crc32(text).toString(16) !== checksum) break;
      const { entries, floor, through } = JSON.parse(text) as Line;
      for (const [sequence, index, kind, id, userId, at] of entries)
        this.#entries.push({ sequence, index, kind, id, userId, at });
      this.#floor = floor;
      read += Buffer.byteLength(line) + 1;
      if (through !== undefined)
        this.#saved = { through, head: BEGINNING, entries: this.#entries.length, bytes: read };
    }
    this.#entries = this.#entries.filter((entry) => isBefore(this.#floor, entry));
    this.#mustRewrite = this.#saved.bytes !== bytes.length;
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
    const isKept = !isBefore(place, this.#floor) && place.sequence <= this.#head.sequence;
    return epoch === this.#epoch && isKept ? place : undefined;
  }

  #positionOf({ sequence, index }: Place): string {
    return `${this.#epoch}.${sequence}.${index}`;
  }

  /** Number of the first entry after a place. */
  #firstAfter(place: Place): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(place, this.#entries[middle] as Entry)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function isBefore(a: Place, b: Place): boolean {
  return a.sequence < b.sequence || (a.sequence === b.sequence && a.index < b.index);
}

function later(a: Place, b: Place): Place {
  return isBefore(a, b) ? b : a;
}
