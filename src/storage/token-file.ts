import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { TokenVectors } from "../core/embedding.ts";
import type { Ordinal } from "../core/ports.ts";
import type { StoreCatalogue } from "./catalogue/catalogue.ts";
import { Column } from "./catalogue/column.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { encodeImage, IndexImage } from "./index-image.ts";

const FILE_NAME = "TOKENS";
/** Memories of a block, and bytes past which it has fewer. */
const BLOCK_ROWS = 2_000;
const BLOCK_BYTES = 8 * 1024 ** 2;
const READ_AT_ONCE = 250;
/** A row that the system has in memory takes 2 µs: what is left by then waits for the disk, and is read in other threads. */
const READ_HERE_MS = 5;
/** Before the vectors of a row: its checksum. */
const PREFIX_BYTES = 4;

export interface TokenFileParts {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  readonly catalogue: Pick<StoreCatalogue, "size" | "ordinals" | "ordinalOf" | "idAt" | "numberAt">;
  /** Names the store and the model of its vectors; undefined while that changes. */
  readonly key: () => string | undefined;
  /** Bytes that stay free. */
  readonly roomNeeded: () => number;
  readonly log: { warn(details: object, phrase: string): void };
  /** Memories past which a store has one. */
  readonly from: number;
  readonly blockRows?: number | undefined;
}

/** How the rows come that are not in the file yet. */
export interface TokenRows {
  read(ids: readonly string[]): Promise<Map<string, TokenVectors>>;
  /** Versions of memories that no write under way changes; undefined while one may change any. */
  settledVersions(ids: readonly string[]): Map<string, number> | undefined;
  /** Nothing is added from then on. */
  readonly until: AbortSignal;
}

/**
 * Token vectors in a file beside the tables, read by place: a question reads 250 rows, for which LanceDB takes 40 times as
 * long. Derived data, made in the background: not synced, not in backups. A row is checked with the id and version of its
 * memory whenever it is read; one that is not as expected, or of a memory that has changed, is read from the tables.
 * The file is a series of blocks, each with its own header; the last ones may be cut off.
 */
export class TokenFile {
  readonly #parts: TokenFileParts;
  #file: DiskFile | undefined;
  /** Where the next block goes, and from which ordinal on. */
  #end = 0;
  #next = 0;
  /** By ordinal; rows of 0 bytes are not in the file. */
  readonly #places = new Column((length) => new Float64Array(length));
  readonly #lengths = new Column((length) => new Uint32Array(length));
  #lastWork: Promise<unknown> = Promise.resolve();
  #isFilling = false;
  #isGivenUp = false;
  #wasDamaged = false;
  #clears = 0;

  constructor(parts: TokenFileParts) {
    this.#parts = parts;
  }

  /** Whether the store is so large that it has one. */
  get isFor(): boolean {
    return this.#parts.catalogue.size > this.#parts.from;
  }

  /** Adds the rows that are in the file to `found`; answers the ids of the others. */
  async read(ids: readonly string[], found: Map<string, TokenVectors>): Promise<readonly string[]> {
    const file = this.#file;
    if (file === undefined) return ids;
    const { catalogue } = this.#parts;
    const rest: string[] = [];
    const rows: { readonly id: string; readonly ordinal: Ordinal; readonly start: number }[] = [];
    let total = 0;
    for (const id of ids) {
      const ordinal = catalogue.ordinalOf(id);
      const length = ordinal === undefined ? 0 : this.#lengths.get(ordinal);
      if (ordinal === undefined || length === 0) rest.push(id);
      else rows.push({ id, ordinal, start: total });
      total += length;
    }
    const bytes = Buffer.allocUnsafeSlow(total);
    const rowOf = ({ ordinal, start }: (typeof rows)[number]) =>
      bytes.subarray(start, start + this.#lengths.get(ordinal));
    try {
      const end = performance.now() + READ_HERE_MS;
      const waiting: Promise<number>[] = [];
      for (const row of rows) {
        const place = this.#places.get(row.ordinal);
        if (performance.now() < end) file.readSync(rowOf(row), place);
        else waiting.push(file.read(rowOf(row), place));
      }
      if (waiting.length > 0) await Promise.all(waiting);
    } catch {
      return ids;
    }
    for (const row of rows) {
      const version = catalogue.numberAt(row.ordinal, "version");
      const stored = rowOf(row);
      const vectors = new Int8Array(bytes.buffer, row.start + PREFIX_BYTES, stored.length - PREFIX_BYTES);
      if (stored.readUInt32LE() === checksum(row.id, version, vectors))
        found.set(row.id, { vectors, isBefore: false });
      else {
        rest.push(row.id);
        // A memory that never changed has the row that it had.
        if (version === 1 && catalogue.ordinalOf(row.id) !== undefined) this.#noteDamage();
      }
    }
    return rest;
  }

  /** Adds what the file lacks, a block at a time; resolves with whether it did. Never rejects. */
  async extend(source: TokenRows): Promise<boolean> {
    if (this.#isFilling || this.#isGivenUp || !this.#lacksRows) return false;
    this.#isFilling = true;
    let hasGrown = false;
    try {
      while (await this.#inTurn(() => this.#addBlock(source))) hasGrown = true;
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
      [this.#end, this.#next] = [0, 0];
      const path = join(directory, FILE_NAME);
      if ((await disk.size(path)) === undefined) return;
      await disk.remove(path);
      await disk.syncDirectory(directory);
    });
  }

  /** Removes the file, and makes none until the next start. */
  async giveUp(reason?: unknown): Promise<void> {
    const { log } = this.#parts;
    if (!this.#isGivenUp && reason !== undefined)
      log.warn({ err: reason }, "token vectors are read from the tables");
    this.#isGivenUp = true;
    await this.clear().catch((error: unknown) => log.warn({ err: error }, `${FILE_NAME} not removed`));
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

  #noteDamage(): void {
    if (this.#wasDamaged) return;
    this.#wasDamaged = true;
    this.#parts.log.warn({}, `${FILE_NAME} is damaged and made again`);
    this.clear().catch((error: unknown) => this.giveUp(error));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastWork.then(work);
    this.#lastWork = done.catch(() => undefined);
    return done;
  }

  /** False where there is none to add, or it cannot be made now. */
  async #addBlock(source: TokenRows): Promise<boolean> {
    const { disk, directory, catalogue, blockRows = BLOCK_ROWS } = this.#parts;
    const { until } = source;
    const clears = this.#clears;
    const isOver = () => until.aborted || clears !== this.#clears;
    const key = this.#parts.key();
    if (key === undefined || isOver() || !this.#lacksRows) return false;
    if (this.#file === undefined) {
      const file = await this.#open(key);
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
      const before = source.settledVersions(ids);
      const found = await source.read(ids);
      const after = source.settledVersions(ids);
      if (before === undefined || after === undefined) return false;
      for (const id of ids) {
        const { vectors, isBefore = false } = found.get(id) ?? {};
        const ordinal = catalogue.ordinalOf(id);
        const version = after.get(id);
        if (vectors === undefined || ordinal === undefined || isBefore) continue;
        if (version === undefined || version !== before.get(id)) continue;
        const row = Buffer.alloc(PREFIX_BYTES + vectors.length);
        row.writeUInt32LE(checksum(id, version, vectors));
        row.set(vectors, PREFIX_BYTES);
        ordinals.push(ordinal);
        rows.push(row);
        ends.push((bytes += row.length));
      }
      // Half of the time is for others.
      await sleep(performance.now() - startedAt, undefined, { ref: false, signal: until });
      if (isOver()) return false;
    }
    const orders = Float64Array.from(ordinals, (ordinal) => catalogue.numberAt(ordinal, "order"));
    const all = new Uint8Array(bytes);
    rows.forEach((row, i) => all.set(row, (ends[i] ?? 0) - row.length));
    const contents = encodeImage(
      { key, sequence: 0 },
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
  async #open(key: string): Promise<DiskFile> {
    const { disk, directory, catalogue } = this.#parts;
    const path = join(directory, FILE_NAME);
    const size = await disk.size(path);
    const file = await disk.open(path, size === undefined ? "create" : "write");
    try {
      let ordinal = 0;
      for (;;) {
        const block = await IndexImage.at(file, this.#end, key);
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

function checksum(id: string, version: number, vectors: Int8Array): number {
  return crc32(vectors, crc32(`${id} ${version}`));
}
