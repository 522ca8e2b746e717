import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Ordinal } from "../../core/ports.ts";
import type { MemoryRow } from "../../core/rows.ts";
import type { StoreCatalogue } from "../catalogue/catalogue.ts";
import { Column } from "../catalogue/column.ts";
import type { Disk, DiskFile } from "../files/disk.ts";
import { CHANGES_FORMAT, decodeChanges, encodeChanges } from "../codec.ts";
import { encodeImage, IndexImage, removeDerived } from "./index-image.ts";
import { readPlaces } from "./read-places.ts";

/** Memories of a block, and bytes past which it has fewer. */
const BLOCK_ROWS = 2_000;
const BLOCK_BYTES = 8 * 1024 ** 2;
const READ_AT_ONCE = 250;
const NAME = "TEXTS";
const STATE = ["version", "createdAt", "updatedAt"] as const;
/** Before the content of a row: its checksum. */
const PREFIX_BYTES = 4;
/** A file that lacks more of its memories is made again. */
const MAX_LACKING = 1 / 4;

export interface TextFileParts {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  readonly catalogue: Pick<StoreCatalogue, "size" | "ordinals" | "ordinalOf" | "idAt" | "numberAt">;
  /** What the file belongs to. */
  readonly store: object;
  /** Bytes that stay free. */
  readonly roomNeeded: () => number;
  readonly log: { warn(details: object, phrase: string): void };
  /** Memories past which a store has one. */
  readonly from: number;
  readonly blockRows?: number | undefined;
}

/** How the rows come that are not in the file yet. */
export interface TextSource {
  read(ids: readonly string[]): Promise<Map<string, MemoryRow>>;
  /** Of some memories those that no write under way changes; undefined while one may change any. */
  settled(ids: readonly string[]): readonly string[] | undefined;
  /** Nothing is added from then on. */
  readonly until: AbortSignal;
}

/**
 * Rows of memories in a file beside their table, `TEXTS`, read by place: LanceDB takes 40 times as long. Derived data, made in
 * the background: not synced, not in backups. A row is checked with the id, version and times of its
 * memory whenever it is read; one that is not as expected, or of a memory that has changed, is read from the tables.
 * The file is a series of blocks, each with its own header; the last ones may be cut off.
 */
export class TextFile {
  readonly #parts: TextFileParts;
  readonly #key: string;
  #file: DiskFile | undefined;
  /** Where the next block goes, and from which ordinal on. */
  #end = 0;
  #next = 0;
  /** Live memories before that, without a row of their present version, as far as known. */
  #lacking = 0;
  /** By ordinal; rows of 0 bytes are not in the file. */
  readonly #places = new Column((length) => new Float64Array(length));
  readonly #lengths = new Column((length) => new Uint32Array(length));
  #lastWork: Promise<unknown> = Promise.resolve();
  #isFilling = false;
  #isGivenUp = false;
  #wasDamaged = false;
  #clears = 0;

  constructor(parts: TextFileParts) {
    this.#parts = parts;
    this.#key = JSON.stringify([parts.store, CHANGES_FORMAT]);
  }

  /** Whether the store is so large that it has one. */
  get isFor(): boolean {
    return this.#parts.catalogue.size > this.#parts.from;
  }

  /** Adds the rows that are in the file to `found`; answers the ids of the others. */
  async read(ids: readonly string[], found: Map<string, MemoryRow>): Promise<readonly string[]> {
    const file = this.#file;
    if (file === undefined) return ids;
    const { catalogue } = this.#parts;
    const rest: string[] = [];
    const rows: { readonly id: string; readonly ordinal: Ordinal }[] = [];
    for (const id of ids) {
      const ordinal = catalogue.ordinalOf(id);
      if (ordinal === undefined || this.#lengths.get(ordinal) === 0) rest.push(id);
      else rows.push({ id, ordinal });
    }
    const places = rows.map(({ ordinal }) => ({
      file,
      place: this.#places.get(ordinal),
      length: this.#lengths.get(ordinal),
    }));
    const stored = await readPlaces(places).catch(() => undefined);
    if (stored === undefined) return ids;
    for (const [i, { id, ordinal }] of rows.entries()) {
      const bytes = stored[i];
      if (
        bytes !== undefined &&
        bytes.readUInt32LE() === crc32(bytes.subarray(PREFIX_BYTES), this.#stateOf(id))
      )
        found.set(id, decodeRow(bytes.subarray(PREFIX_BYTES)));
      else {
        rest.push(id);
        if (file === this.#file && catalogue.ordinalOf(id) !== undefined) this.#noteUnfit(ordinal);
      }
    }
    return rest;
  }

  /** Adds what the file lacks, a block at a time; resolves with whether it did. Never rejects. */
  async extend(source: TextSource): Promise<boolean> {
    if (this.#isFilling || this.#isGivenUp || !(this.#lacksRows || this.#lacksMany)) return false;
    this.#isFilling = true;
    let hasGrown = false;
    try {
      for (;;) {
        if (this.#lacksMany && !source.until.aborted) await this.clear();
        if (!(await this.#inTurn(() => this.#addBlock(source)))) break;
        hasGrown = true;
      }
    } catch (error) {
      if (!source.until.aborted) await this.giveUp(error);
    } finally {
      this.#isFilling = false;
    }
    return hasGrown;
  }

  /** Removes the file with all that was ever in it, for certain; it is made again. */
  clear(): Promise<void> {
    this.#clears += 1;
    const file = this.#file;
    this.#file = undefined;
    return this.#inTurn(async () => {
      const { disk, directory } = this.#parts;
      await file?.close();
      this.#lengths.values.fill(0);
      [this.#end, this.#next, this.#lacking] = [0, 0, 0];
      await removeDerived(disk, directory, NAME);
    });
  }

  /** Removes the file, and makes none until the next start. */
  async giveUp(reason?: unknown): Promise<void> {
    const { log } = this.#parts;
    if (!this.#isGivenUp && reason !== undefined) log.warn({ err: reason }, `${NAME} is not used`);
    this.#isGivenUp = true;
    await this.clear().catch((error: unknown) => log.warn({ err: error }, `${NAME} not removed`));
  }

  /** After what runs. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#isGivenUp = true;
    await this.#inTurn(async () => file?.close());
  }

  get #lacksRows(): boolean {
    const { catalogue, blockRows = BLOCK_ROWS } = this.#parts;
    return catalogue.ordinals - this.#next >= blockRows;
  }

  get #lacksMany(): boolean {
    return this.#lacking > this.#next * MAX_LACKING;
  }

  /** A number for what a memory's rows follow from; every change of one changes its version or a time. */
  #stateOf(id: string): number {
    const { catalogue } = this.#parts;
    const ordinal = catalogue.ordinalOf(id) ?? catalogue.ordinals;
    const numbers = STATE.map((name) => catalogue.numberAt(ordinal, name));
    return crc32(`${id} ${numbers.join(" ")}`);
  }

  /** Notes that the row of a memory is not of its present version, or damaged. */
  #noteUnfit(ordinal: Ordinal): void {
    // A memory that never changed has the row that it had.
    if (this.#wasDamaged || this.#parts.catalogue.numberAt(ordinal, "version") > 1) {
      this.#lengths.set(ordinal, 0);
      this.#lacking += 1;
      return;
    }
    this.#wasDamaged = true;
    this.#parts.log.warn({}, `${NAME} does not fit the store and is made again`);
    this.clear().catch((error: unknown) => this.giveUp(error));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastWork.then(work);
    this.#lastWork = done.catch(() => undefined);
    return done;
  }

  /** False where there is none to add, or it cannot be made now. */
  async #addBlock(source: TextSource): Promise<boolean> {
    const { disk, directory, catalogue, blockRows = BLOCK_ROWS } = this.#parts;
    const { until } = source;
    const clears = this.#clears;
    const isOver = () => until.aborted || clears !== this.#clears;
    if (isOver() || !this.#lacksRows) return false;
    if (this.#file === undefined) {
      const file = await this.#open();
      if (isOver()) {
        await file.close();
        return false;
      }
      this.#file = file;
      return true;
    }
    const file = this.#file;
    if ((await disk.freeBytes(directory)) < this.#parts.roomNeeded() + BLOCK_BYTES)
      throw new Error("no room for a copy");

    const ordinals: Ordinal[] = [];
    const ends: number[] = [];
    const rows: Uint8Array[] = [];
    let bytes = 0;
    let next = this.#next;
    while (next < catalogue.ordinals && rows.length < blockRows && bytes < BLOCK_BYTES) {
      const startedAt = performance.now();
      const last = Math.min(next + READ_AT_ONCE, catalogue.ordinals);
      const ids: string[] = [];
      for (; next < last; next += 1) {
        const id = catalogue.idAt(next);
        if (id !== undefined) ids.push(id);
      }
      // A row that is read while its memory changes may be of either version.
      const settled = source.settled(ids);
      const before = new Map(settled?.map((id) => [id, this.#stateOf(id)]));
      const found = await source.read(ids);
      const still = source.settled(ids);
      if (settled === undefined || still === undefined) return false;
      for (const id of still) {
        const row = found.get(id);
        const state = this.#stateOf(id);
        const ordinal = catalogue.ordinalOf(id);
        if (row === undefined || ordinal === undefined || state !== before.get(id)) continue;
        const content = encodeRow(id, row);
        const stored = Buffer.alloc(PREFIX_BYTES + content.length);
        stored.writeUInt32LE(crc32(content, state));
        stored.set(content, PREFIX_BYTES);
        ordinals.push(ordinal);
        rows.push(stored);
        ends.push((bytes += stored.length));
      }
      // Half of the time is for others.
      await sleep(performance.now() - startedAt, undefined, { ref: false, signal: until });
      if (isOver()) return false;
    }
    const orders = Float64Array.from(ordinals, (ordinal) => catalogue.numberAt(ordinal, "order"));
    const all = new Uint8Array(bytes);
    rows.forEach((row, i) => all.set(row, (ends[i] ?? 0) - row.length));
    const contents = encodeImage(
      { key: this.#key, sequence: 0 },
      {
        index: { numbers: { orders, ends: Uint32Array.from(ends) }, json: {} },
        rows: { numbers: { bytes: all }, json: {} },
      },
    );
    let position = this.#end;
    for (const content of contents) {
      await file.write(content, position);
      position += content.length;
    }
    this.#hold(ordinals, ends, position - bytes);
    [this.#end, this.#next] = [position, next];
    return true;
  }

  /** Finds the whole blocks of an earlier start, and cuts off what follows them. */
  async #open(): Promise<DiskFile> {
    const { disk, directory, catalogue } = this.#parts;
    const path = join(directory, NAME);
    const size = await disk.size(path);
    const file = await disk.open(path, size === undefined ? "create" : "write");
    try {
      let ordinal = 0;
      for (;;) {
        const block = await IndexImage.at(file, this.#end, this.#key);
        if (block === undefined || block.end > (size ?? 0)) break;
        const { orders, ends } = (await block.read("index")).numbers;
        if (orders === undefined || ends === undefined) break;
        const ordinals = Array.from(orders, (order) => {
          while (ordinal < catalogue.ordinals && catalogue.numberAt(ordinal, "order") < order) ordinal += 1;
          // Behind it, which is where the next block begins.
          return catalogue.numberAt(ordinal, "order") === order ? ordinal++ : undefined;
        });
        this.#hold(ordinals, ends, block.end - (ends.at(-1) ?? 0));
        [this.#end, this.#next] = [block.end, ordinal];
      }
    } catch {
      // A damaged block: it and those behind it are made again.
    }
    for (let ordinal = 0; ordinal < this.#next; ordinal += 1)
      if (this.#lengths.get(ordinal) === 0 && catalogue.idAt(ordinal) !== undefined) this.#lacking += 1;
    await file.truncate(this.#end);
    return file;
  }

  /** @param ends of rows that begin at a place of the file. */
  #hold(ordinals: readonly (Ordinal | undefined)[], ends: ArrayLike<number>, place: number): void {
    let start = 0;
    ordinals.forEach((ordinal, i) => {
      const end = ends[i] ?? 0;
      if (ordinal !== undefined) {
        this.#places.set(ordinal, place + start);
        this.#lengths.set(ordinal, end - start);
      }
      start = end;
    });
  }
}

function encodeRow(id: string, row: MemoryRow): Buffer {
  return Buffer.concat(Array.from(encodeChanges([{ table: "memories", id, row }]), (piece) => piece.slice()));
}

function decodeRow(bytes: Uint8Array): MemoryRow {
  return decodeChanges(bytes).changes[0]?.row as MemoryRow;
}
