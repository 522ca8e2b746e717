import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Ordinal } from "../../core/ports.ts";
import type { Change, Rows } from "../../core/rows.ts";
import type { StoreCatalogue } from "../catalogue/catalogue.ts";
import { Column } from "../catalogue/column.ts";
import type { Disk, DiskFile } from "../files/disk.ts";
import { encodeImage, IndexImage } from "../image/index-image.ts";
import type { RowFormat } from "./specs.ts";
import { type FlatTable, generationName, generationOf, type TableState } from "./table-spec.ts";
import type { TableFile } from "./table-files.ts";
import { inPieces, inTurns } from "../../core/at-once.ts";

/** Before the content of a row: its checksum, which begins with that of the memory's id. */
const PREFIX_BYTES = 4;
/** At the end of a file: where the index of its rows begins. */
const FOOTER_BYTES = 8;
/** Bytes read and written at a time. */
const PIECE_BYTES = 1024 ** 2;
/** A file of which more was deleted or replaced is written anew with the next rows. */
const MAX_DEAD = 1 / 5;
/** Bytes of the largest buffer that is kept for the next read. */
const MAX_KEPT_BYTES = 4 * 1024 ** 2;
/** A row that the system has in memory takes 2 µs: what is left by then waits for the disk, and is read in other threads. */
const READ_HERE_MS = 2;

/** Rows of any table. */
export type SomeRowFiles = Omit<RowFiles<"tokens">, "read">;

interface RowFile {
  readonly number: number;
  /** Below the folder of all tables. */
  readonly path: string;
  readonly stamp: string;
  readonly rows: number;
  /** Of the rows. */
  readonly bytes: number;
  readonly file: DiskFile;
}

interface FreshRow {
  readonly ordinal: Ordinal;
  readonly stored: Buffer;
}

type Places = Pick<StoreCatalogue, "ordinals" | "ordinalOf" | "idAt" | "isLive" | "orderAt">;

/**
 * Rows by memory in flat files below the folder of tables, which the checkpoint names as it names those of tables: a
 * question reads up to 250 token vectors and a dozen texts, for which LanceDB takes 40 times as long. A file is never
 * changed: first its rows, all of one stamp, then their index. A row in a later file takes the place of one in an
 * earlier. With each checkpoint the new rows are written to one more file, together with what is left of files that are
 * no larger, so that there are few.
 */
export class RowFiles<T extends "tokens" | "memories"> {
  readonly #format: RowFormat<T>;
  readonly #disk: Disk;
  readonly #folder: string;
  #generation: number;
  /** By number, oldest first. */
  readonly #files = new Map<number, RowFile>();
  #lastNumber = 0;
  /** What was read at open, until `place`. */
  #unplaced: { readonly number: number; readonly orders: Float64Array; readonly lengths: Uint32Array }[] = [];
  #catalogue: Places | undefined;
  /** Two at once could put what both merge behind what one replaces. */
  readonly #inTurn = inTurns();
  /** By ordinal: number of the file, place in it, and length, 0 for none. */
  readonly #fileOf = new Column((length) => new Uint32Array(length));
  readonly #places = new Column((length) => new Float64Array(length));
  readonly #lengths = new Column((length) => new Uint32Array(length));
  /** By ordinal: number of the file in which the row's checksum was right. */
  readonly #wholeIn = new Column((length) => new Uint32Array(length));
  #buffer: Buffer | undefined;

  /** @param name of the table in the checkpoint before; undefined without one. */
  constructor(format: RowFormat<T>, disk: Disk, folder: string, name?: string) {
    this.#format = format;
    this.#disk = disk;
    this.#folder = folder;
    this.#generation = (name === undefined ? undefined : generationOf(name)) ?? 1;
  }

  /** Opens the files that a checkpoint names. @throws {Error} where one is not what was written. */
  static async open<T extends "tokens" | "memories">(
    format: RowFormat<T>,
    disk: Disk,
    folder: string,
    { name, files }: { readonly name: string; readonly files: readonly TableFile[] },
  ): Promise<RowFiles<T>> {
    const rows = new RowFiles(format, disk, folder, name);
    try {
      for (const { path, size } of files) await rows.#load(path, size);
      return rows;
    } catch (error) {
      await rows.close();
      throw error;
    }
  }

  async #load(path: string, size: number): Promise<void> {
    const file = await this.#disk.open(join(this.#folder, path), "read");
    const number = Number(/\/(\d+)-/.exec(path)?.[1] ?? 0);
    const entry = { number, path, stamp: "", rows: 0, bytes: 0, file };
    this.#files.set(number, entry);
    const footer = new Float64Array(1);
    await file.read(new Uint8Array(footer.buffer), size - FOOTER_BYTES);
    const bytes = footer[0] ?? 0;
    const index = await (await IndexImage.at(file, bytes, this.#format.key))?.read("index");
    const { orders, lengths } = index?.numbers ?? {};
    if (!(orders instanceof Float64Array && lengths instanceof Uint32Array))
      throw new Error(`${path} has no index`);
    this.#files.set(number, { ...entry, bytes, rows: orders.length, stamp: String(index?.json["stamp"]) });
    this.#lastNumber = Math.max(this.#lastNumber, number);
    this.#unplaced.push({ number, orders, lengths });
  }

  /** Finds the memories of the rows, once all are known. */
  place(catalogue: Places): void {
    this.#catalogue = catalogue;
    // Ordinals ascend with the order of adding.
    const ordinalOf = (order: number): Ordinal | undefined => {
      let [low, high] = [0, catalogue.ordinals];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (catalogue.orderAt(middle) < order) low = middle + 1;
        else high = middle;
      }
      return low < catalogue.ordinals && catalogue.orderAt(low) === order ? low : undefined;
    };
    for (const { number, orders, lengths } of this.#unplaced.sort((a, b) => a.number - b.number))
      this.#hold(number, Array.from(orders, ordinalOf), lengths);
    this.#unplaced = [];
  }

  /** True if there is a row of a memory. */
  has(ordinal: Ordinal): boolean {
    return this.#lengths.get(ordinal) > 0;
  }

  /** The files as a table of a checkpoint; undefined where there are none. */
  get table(): { readonly state: TableState; readonly paths: readonly string[] } | undefined {
    const files = [...this.#files.values()];
    if (files.length === 0) return undefined;
    const rows = files.reduce((sum, each) => sum + each.rows, 0);
    const name = generationName(this.#format.name, this.#generation);
    return { state: { name, version: this.#lastNumber, rows }, paths: files.map(({ path }) => path) };
  }

  /** Of the table in checkpoints. */
  get name(): FlatTable {
    return this.#format.name;
  }

  get usage(): { readonly bytes: number; readonly files: number } {
    const files = [...this.#files.values()];
    return { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files: files.length };
  }

  /**
   * The rows that are there and whole. Never rejects. Token vectors are valid until the caller's next `await`: a later read may reuse
   * their buffer.
   */
  async read(ids: readonly string[]): Promise<Map<string, Rows[T]>> {
    const rows: (PlacedRow & { readonly id: string })[] = [];
    for (const id of ids) {
      const ordinal = this.#catalogue?.ordinalOf(id) ?? Infinity;
      const from = this.#files.get(this.#fileOf.get(ordinal));
      const length = this.#lengths.get(ordinal);
      if (from === undefined || length === 0) continue;
      rows.push({ id, ordinal, from, place: this.#places.get(ordinal), length });
    }
    const found = new Map<string, Rows[T]>();
    if (rows.length === 0) return found;
    const buffer = bufferFor(rows, this.#buffer);
    this.#buffer = undefined;
    // After a failure other reads may still write to the buffer, so it is not kept. The check of all files finds the damage.
    const stored = await readPlaces(rows, buffer).catch(() => []);
    for (const [i, row] of stored.entries()) {
      const { id, ordinal, from } = rows[i] as (typeof rows)[number];
      if (this.#wholeIn.get(ordinal) !== from.number && !isWhole(id, row)) continue;
      if (this.#format.isCheckedOnce) this.#wholeIn.set(ordinal, from.number);
      found.set(id, this.#format.decode(row.subarray(PREFIX_BYTES), from.stamp));
    }
    const isKept = () => buffer.length <= MAX_KEPT_BYTES && buffer.length > (this.#buffer?.length ?? 0);
    if (stored.length > 0) setImmediate(() => isKept() && (this.#buffer = buffer));
    return found;
  }

  /** Writes the rows of the table among some changes to another file. Writing them again gives the same. */
  apply(changes: readonly Change[]): Promise<void> {
    return this.#inTurn(() => this.#apply(changes));
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    const byStamp = new Map<string, FreshRow[]>();
    for (const { table, id, row } of changes) {
      const ordinal = table === this.#format.table ? this.#catalogue?.ordinalOf(id) : undefined;
      // Of a memory that was deleted since.
      if (ordinal === undefined) continue;
      if (row === null) this.#lengths.set(ordinal, 0);
      else {
        const stamp = this.#format.stampOf(row as Rows[T]);
        const rows = byStamp.get(stamp) ?? [];
        byStamp.set(stamp, rows);
        rows.push({ ordinal, stored: storedRow(id, this.#format.encode(row as Rows[T])) });
      }
    }
    for (const [stamp, rows] of byStamp) await this.#write(stamp, rows, this.#toMerge(stamp, rows));
  }

  /** Writes all files anew under other names, without what was deleted and replaced. */
  rewrite(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(() => this.#rewrite(signal));
  }

  async #rewrite(signal?: AbortSignal): Promise<void> {
    this.#generation += 1;
    const files = [...this.#files.values()];
    for (const stamp of new Set(files.map((each) => each.stamp)))
      await this.#write(
        stamp,
        [],
        files.filter((each) => each.stamp === stamp),
        signal,
      );
  }

  async close(): Promise<void> {
    for (const { file } of this.#files.values()) await file.close();
    this.#files.clear();
  }

  /** The files that are written anew together with some rows. */
  #toMerge(stamp: string, rows: readonly FreshRow[]): RowFile[] {
    const live = new Float64Array(this.#lastNumber + 1);
    const { length } = this.#lengths.values;
    for (let ordinal = 0; ordinal < length; ordinal += 1) {
      const number = this.#fileOf.get(ordinal);
      if (this.#catalogue?.isLive(ordinal)) live[number] = (live[number] ?? 0) + this.#lengths.get(ordinal);
    }
    let total = rows.reduce((sum, { stored }) => sum + stored.length, 0);
    return [...this.#files.values()].reverse().filter((each) => {
      const left = live[each.number] ?? 0;
      if (left > 0 && each.stamp !== stamp) return false;
      if (left > total && left >= each.bytes * (1 - MAX_DEAD)) return false;
      total += left;
      return true;
    });
  }

  /** Writes rows, and what is left of other files, to a file in the place of these. */
  async #write(
    stamp: string,
    fresh: readonly FreshRow[],
    merged: readonly RowFile[],
    signal?: AbortSignal,
  ): Promise<void> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const folder = `${generationName(this.#format.name, this.#generation)}.flat`;
    const path = `${folder}/${String(number).padStart(10, "0")}-${randomUUID().slice(0, 8)}`;
    await this.#disk.makeDirectory(join(this.#folder, folder));
    const file = await this.#disk.open(join(this.#folder, path), "create");
    const ordinals: Ordinal[] = [];
    const lengths: number[] = [];
    let bytes = 0;
    try {
      const isFresh = new Set(fresh.map(({ ordinal }) => ordinal));
      const write = async (rows: readonly FreshRow[]) => {
        signal?.throwIfAborted();
        const all = Buffer.concat(rows.map(({ stored }) => stored));
        await file.write(all, bytes);
        bytes += all.length;
        for (const { ordinal, stored } of rows) {
          ordinals.push(ordinal);
          lengths.push(stored.length);
        }
      };
      for await (const rows of this.#rowsOf(merged, (ordinal) => !isFresh.has(ordinal))) await write(rows);
      for (const rows of inPieces(fresh, Infinity, PIECE_BYTES, ({ stored }) => stored.length))
        await write(rows);
      const orders = ordinals.map((ordinal) => this.#catalogue?.orderAt(ordinal) ?? 0);
      const numbers = { orders: Float64Array.from(orders), lengths: Uint32Array.from(lengths) };
      const index = encodeImage(
        { key: this.#format.key, sequence: 0 },
        { index: { numbers, json: { stamp } } },
      );
      const end = Buffer.concat([...index, new Uint8Array(Float64Array.of(bytes).buffer)]);
      await file.write(end, bytes);
    } catch (error) {
      await file.close();
      await this.#disk.remove(join(this.#folder, path)).catch(() => undefined);
      throw error;
    }
    // All in one turn: who reads finds the rows in the old files or in the new one.
    this.#files.set(number, { number, path, stamp, rows: ordinals.length, bytes, file });
    this.#hold(number, ordinals, lengths);
    for (const each of merged) this.#files.delete(each.number);
    for (const each of merged) await each.file.close();
  }

  /** The whole rows of live memories in some files, by pieces. */
  async *#rowsOf(
    files: readonly RowFile[],
    isWanted: (ordinal: Ordinal) => boolean,
  ): AsyncGenerator<FreshRow[]> {
    const wanted = new Map(files.map((each) => [each.number, each]));
    const { length } = this.#lengths.values;
    let ordinal = 0;
    while (ordinal < length) {
      const rows: PlacedRow[] = [];
      for (let bytes = 0; ordinal < length && bytes < PIECE_BYTES; ordinal += 1) {
        const from = wanted.get(this.#fileOf.get(ordinal));
        const size = this.#lengths.get(ordinal);
        if (from === undefined || size === 0 || !this.#catalogue?.isLive(ordinal) || !isWanted(ordinal))
          continue;
        rows.push({ ordinal, from, place: this.#places.get(ordinal), length: size });
        bytes += size;
      }
      const stored = await readPlaces(rows);
      yield rows.flatMap((row, i): FreshRow[] => {
        const [id, bytes] = [this.#catalogue?.idAt(row.ordinal), stored[i]];
        // A damaged row is made again.
        return id !== undefined && bytes !== undefined && isWhole(id, bytes)
          ? [{ ordinal: row.ordinal, stored: bytes }]
          : [];
      });
    }
  }

  /** Notes where the rows of a file stand, in their order; undefined for a memory that is gone. */
  #hold(number: number, ordinals: readonly (Ordinal | undefined)[], lengths: ArrayLike<number>): void {
    let place = 0;
    for (const [i, ordinal] of ordinals.entries()) {
      const length = lengths[i] ?? 0;
      if (ordinal !== undefined) {
        this.#fileOf.set(ordinal, number);
        this.#places.set(ordinal, place);
        this.#lengths.set(ordinal, length);
      }
      place += length;
    }
  }
}

function storedRow(id: string, content: Uint8Array): Buffer {
  const stored = Buffer.alloc(PREFIX_BYTES + content.length);
  stored.set(content, PREFIX_BYTES);
  stored.writeUInt32LE(crc32(stored.subarray(PREFIX_BYTES), crc32(id)));
  return stored;
}

function isWhole(id: string, stored: Buffer): boolean {
  return stored.readUInt32LE() === crc32(stored.subarray(PREFIX_BYTES), crc32(id));
}

interface PlacedRow {
  readonly ordinal: Ordinal;
  readonly from: RowFile;
  readonly place: number;
  readonly length: number;
}

/** A buffer for the rows; `left` if it is large enough. A new one for each question makes V8 collect garbage often. */
function bufferFor(rows: readonly PlacedRow[], left?: Buffer): Buffer {
  const bytes = rows.reduce((sum, { length }) => sum + length, 0);
  return left !== undefined && left.length >= bytes ? left : Buffer.allocUnsafeSlow(bytes + (bytes >> 3));
}

/** The bytes of the rows; those past the end of a file are 0. @throws whatever the disk says. */
async function readPlaces(rows: readonly PlacedRow[], bytes = bufferFor(rows)): Promise<Buffer[]> {
  const end = performance.now() + READ_HERE_MS;
  const waiting: Promise<unknown>[] = [];
  let start = 0;
  const pieces = rows.map(({ from: { file }, place, length }) => {
    const piece = bytes.subarray(start, (start += length));
    const clearFrom = (read: number) => (read < length ? piece.fill(0, read) : piece);
    if (performance.now() < end) clearFrom(file.readSync(piece, place));
    else waiting.push(file.read(piece, place).then(clearFrom));
    return piece;
  });
  await Promise.all(waiting);
  return pieces;
}
