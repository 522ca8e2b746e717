import { setImmediate as turnOfOthers } from "node:timers/promises";
import type { VersionEntry } from "../../core/history/version-index.ts";
import type { Change, MemoryRow, Rows, LanceTable } from "../../core/rows.ts";
import { bytesOf } from "../catalogue/overlay.ts";
import { buffersOf, type Columns } from "./columns.ts";
import { type Answer, type TablesCalls, TablesThread } from "./worker-client.ts";
import {
  SLIM_MEMORY_COLUMNS,
  SLIM_VERSION_COLUMNS,
  TABLE_SPECS,
  decodeQuantised,
  QUANTISED_COLUMNS,
  type QuantisedWindows,
} from "./specs.ts";
import type { Entry, LanceCacheSizes, StateToOpen, TableSpec, TableState } from "./table-spec.ts";
import { columnOf, COMPACTION_THRESHOLDS } from "./table-spec.ts";
import { inPieces, inTurns } from "../../core/at-once.ts";

/** A memory without its text. */
export type SlimMemory = Omit<MemoryRow, "content">;

/** Tables whose rows are held in memory whole. */
export type SmallTable = "signals" | "edges" | "requests" | "facts" | "documents" | "jobs";

/** The rows of a store as they rest, of which its indexes are made; batches come in no order. */
export interface ScannedRows {
  read(table: "memories", ids: readonly string[]): Promise<Map<string, MemoryRow>>;
  /** The `order` of every memory. */
  scanOrders(): AsyncIterable<Float64Array>;
  /** Every memory without its text. */
  scanMemories(): AsyncIterable<readonly SlimMemory[]>;
  /** Every window, quantised. */
  scanVectors(): AsyncIterable<QuantisedWindows>;
  /** Every row of a table, whole. */
  scan<T extends SmallTable>(table: T): AsyncIterable<readonly Entry<T>[]>;
  /** Every version that is kept; its text may be left out. */
  scanVersions(): AsyncIterable<readonly VersionEntry[]>;
}

/** How a copy of all tables is made beside them and takes their place, in this order; see `LanceTables`. */
type GenerationCall =
  | "startGeneration"
  | "copyTable"
  | "switchGeneration"
  | "abandonGeneration"
  | "endGeneration";

/** Limits of one conversion, some milliseconds: rows, and their size without the last one. */
const ROWS_PER_PIECE = 100;
const BYTES_PER_PIECE = 1_024 * 1_024;
/** LanceDB holds what it writes at once several times over. */
const BYTES_PER_COMMIT = 16 * 1_024 * 1_024;

export interface TablesOptions {
  readonly onFailure?: ((error: Error) => void) | undefined;
  readonly unindexed?: readonly LanceTable[];
  readonly sizes?: LanceCacheSizes | undefined;
}

/**
 * Opens the tables in a folder at exactly the given states, in a thread of their own.
 *
 * @param options.onFailure is told once if the thread ends unasked; see `failure`.
 * @param options.unindexed tables whose index is made anew.
 * @throws {ServiceError} INTERNAL if a table is not in the state given; the caller says what that means for the store.
 */
export async function openTables(
  directory: string,
  states: readonly StateToOpen[],
  { onFailure = () => {}, unindexed = [], sizes }: TablesOptions = {},
): Promise<Tables> {
  const thread = new TablesThread(onFailure);
  try {
    await thread.call("open", [directory, states, unindexed, sizes]);
  } catch (error) {
    await thread.close();
    throw error;
  }
  return new Tables(thread);
}

/** The rows as they were last applied. What is not applied yet is the overlay's to answer. */
export class Tables implements ScannedRows {
  readonly #thread: TablesThread;
  /** One at a time: what is staged belongs to one commit. */
  readonly #inTurn = inTurns();

  constructor(thread: TablesThread) {
    this.#thread = thread;
  }

  /** Why nothing is answered until the tables are opened again; undefined while it is. */
  get failure(): Error | undefined {
    return this.#thread.failure;
  }

  /**
   * Writes changes, at most one a table and id. Writing them again gives the same. When it fails, and until it is
   * through, any of these rows may be missing: the caller answers them from elsewhere, and applies them again.
   */
  apply(changes: readonly Change[]): Promise<void> {
    return this.#inTurn(() => this.#apply(changes));
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    try {
      for (const spec of Object.values(TABLE_SPECS)) {
        await turnOfOthers();
        const own = changes.filter(({ table }) => table === spec.name);
        const ids = new Set<string>();
        let staged = 0;
        for (const piece of inPieces(own, ROWS_PER_PIECE, BYTES_PER_PIECE, bytesOf)) {
          for (const { id } of piece) {
            if (ids.has(id)) throw new TypeError(`two changes of one id in ${spec.name}`);
            ids.add(id);
          }
          staged += await this.#stage(spec, piece);
          await turnOfOthers();
          if (staged < BYTES_PER_COMMIT) continue;
          await this.#thread.call("commit", []);
          staged = 0;
        }
      }
    } catch (error) {
      await this.#thread.call("discard", []).catch(() => undefined);
      throw error;
    }
    await this.#thread.call("commit", []);
  }

  /** Answers how many bytes went over. */
  async #stage<T extends LanceTable>(spec: TableSpec<T>, changes: readonly Change[]): Promise<number> {
    const ids = changes.map(({ id }) => id);
    const entries = changes.filter(({ row }) => row !== null) as unknown as Entry<T>[];
    const columns = entries.length === 0 ? undefined : spec.encode(entries);
    const buffers = columns === undefined ? [] : buffersOf(columns);
    const bytes = buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
    await this.#thread.call("stage", [spec.name, ids, columns], buffers);
    return bytes;
  }

  /** The rows that exist among up to 10 000 ids. */
  async read<T extends LanceTable>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>> {
    const rows = new Map<string, Rows[T]>();
    if (ids.length === 0) return rows;
    for (const batch of await this.#thread.call("read", [table, ids])) {
      if (rows.size > 0) await turnOfOthers();
      TABLE_SPECS[table].decode(batch, rows);
    }
    return rows;
  }

  /**
   * Up to `count` rows from a place on, in the order of the files.
   *
   * @throws {Error} where any of them cannot be read.
   */
  async readRange<T extends LanceTable>(
    table: T,
    first: number,
    count: number,
  ): Promise<Map<string, Rows[T]>> {
    const rows = new Map<string, Rows[T]>();
    for (const batch of await this.#thread.call("range", [table, first, count]))
      TABLE_SPECS[table].decode(batch, rows);
    return rows;
  }

  /** The `order` of every memory, in batches of no order. */
  async *scanOrders(): AsyncGenerator<Float64Array> {
    for await (const batch of this.#batches("memories", ["order"])) {
      yield columnOf(batch, "order").values as Float64Array;
    }
  }

  /** Every memory without its text, in batches of no order. */
  async *scanMemories(): AsyncGenerator<readonly SlimMemory[]> {
    for await (const { rows, count } of this.#scan("memories", SLIM_MEMORY_COLUMNS)) {
      if (rows.size !== count) throw new Error("two memories have one id");
      yield [...rows.values()];
    }
  }

  /** Every window, quantised, in batches of no order. */
  async *scanVectors(): AsyncGenerator<QuantisedWindows> {
    for await (const batch of this.#batches("vectors", QUANTISED_COLUMNS)) yield decodeQuantised(batch);
  }

  /** Every row of a table, whole: meant for those whose rows are small. */
  async *scan<T extends SmallTable | "memories">(table: T): AsyncGenerator<readonly Entry<T>[]> {
    for await (const { rows } of this.#scan(table)) yield Array.from(rows, ([id, row]) => ({ id, row }));
  }

  /** Every version that is kept, without its text, in batches of no order. */
  async *scanVersions(): AsyncGenerator<readonly VersionEntry[]> {
    for await (const { rows } of this.#scan("versions", SLIM_VERSION_COLUMNS))
      yield Array.from(rows, ([id, row]) => ({ ...row, id }));
  }

  /** The rows of a table by id, in batches of so many rows. */
  async *#scan<T extends LanceTable>(table: T, columns?: readonly string[]) {
    for await (const batch of this.#batches(table, columns)) {
      const rows = new Map<string, Rows[T]>();
      TABLE_SPECS[table].decode(batch, rows);
      yield { rows, count: columnOf(batch, "id").length };
    }
  }

  states(): Promise<readonly TableState[]> {
    return this.#thread.call("states", []);
  }

  /** Writes tables anew that have come to need it, and keeps every version. True if something changed. */
  compact(thresholds = COMPACTION_THRESHOLDS): Promise<boolean> {
    return this.#thread.call("compact", [thresholds]);
  }

  /** Makes a copy of all tables beside them, and puts it in their place. */
  generation<K extends GenerationCall>(call: K, ...args: Parameters<TablesCalls[K]>): Answer<K> {
    return this.#thread.call<K>(call, args);
  }

  /** After what runs; every later call is refused with NOT_READY. */
  async close(): Promise<void> {
    await this.#inTurn(async () => undefined);
    await this.#thread.close();
  }

  async *#batches(table: LanceTable, columns: readonly string[] | undefined): AsyncGenerator<Columns> {
    const scan = await this.#thread.call("startScan", [table, columns]);
    try {
      // One batch ahead, so that the thread reads while the caller works.
      let next = this.#thread.call("nextBatch", [scan]);
      for (let batch = await next; batch !== undefined; batch = await next) {
        next = this.#thread.call("nextBatch", [scan]);
        next.catch(() => undefined);
        yield batch;
      }
    } finally {
      await this.#thread.call("stopScan", [scan]).catch(() => undefined);
    }
  }
}
