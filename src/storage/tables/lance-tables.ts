import { connect, type Connection, Session, type Table } from "./lancedb.ts";
import type { RecordBatch } from "apache-arrow";
import type { LanceTable } from "../../core/rows.ts";
import {
  fromRecordBatch,
  addMissingColumns,
  addRows,
  createTable,
  deleteRows,
  indexAnew,
  indexKeys,
  keyFilters,
  tableSchema,
  toRecordBatch,
} from "./arrow-columns.ts";
import type { Columns } from "./columns.ts";
import { beginCopies, type CopiedTable, type Copy, fillCopy, MANY_TABLES } from "./next-generation.ts";
import { TABLE_NAMES } from "./specs.ts";
import type { CompactionThresholds, LanceCacheSizes, StateToOpen, TableState } from "./table-spec.ts";
import { generationName, generationOf, tableOf } from "./table-spec.ts";
import { inTurns } from "../../core/at-once.ts";

/** Rows of one table to be written: everything of `ids` goes, `batches` come in. */
interface Staged {
  readonly ids: string[];
  readonly batches: RecordBatch[];
}

/** The index of ids of 1 M rows is 15 MB; LanceDB's own bounds are 6 GB and 1 GB. */
const USUAL_SIZES: LanceCacheSizes = { index: 256 * 1024 ** 2, metadata: 64 * 1024 ** 2 };
/** Before every version there can be: compaction must never remove one. */
const NOTHING_IS_OLDER = new Date(0);

/**
 * LanceDB, as our tables use it: one handle a table and one write at a time, because concurrent merges of one new id,
 * or writes through a second handle, store it twice without a word.
 */
export class LanceTables {
  readonly #connection: Connection;
  readonly #tables = new Map<LanceTable, Table>();
  readonly #reads = new Set<Promise<unknown>>();
  readonly #scans = new Map<number, AsyncGenerator<Columns>>();
  #scanCount = 0;
  #staged = new Map<LanceTable, Staged>();
  readonly #exclusively = inTurns();
  /** The copies of all tables while they are made, and those of them that are empty yet. */
  #generation: { readonly copies: readonly Copy[]; readonly waiting: Copy[] } | undefined;
  /** After a switch: what was copied, until it is let go. */
  #before: ReadonlyMap<LanceTable, Table> | undefined;
  #newestGeneration = 0;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Opens the tables of a checkpoint; others are made when first written to.
   *
   * @throws {Error} if one is not at the version, or has not the rows, that the checkpoint says.
   */
  static async open(
    directory: string,
    states: readonly StateToOpen[],
    unindexed: readonly LanceTable[] = [],
    { index, metadata } = USUAL_SIZES,
  ): Promise<LanceTables> {
    const session = new Session(BigInt(Math.floor(index)), BigInt(Math.floor(metadata)));
    const tables = new LanceTables(await connect(directory, { session }));
    try {
      for (const state of states) await tables.#open(state);
      for (const [name, table] of tables.#tables) if (unindexed.includes(name)) await indexAnew(table, name);
    } catch (error) {
      tables.close();
      throw error;
    }
    return tables;
  }

  async #open(state: StateToOpen): Promise<void> {
    const name = TABLE_NAMES.find((known) => known === tableOf(state.name));
    if (name === undefined) throw new Error(`the table ${state.name} is unknown to this version of memoryd`);
    const table = await this.#connection.openTable(state.name);
    this.#tables.set(name, table);
    const [version, rows] = [await table.version(), await table.countRows()];
    if (version !== state.version || (state.rows !== undefined && rows !== state.rows))
      throw new Error(
        `the table ${state.name} has ${rows} rows at version ${version}, ` +
          `but the checkpoint says ${state.rows} rows at version ${state.version}`,
      );
    await addMissingColumns(table, name);
  }

  /** Takes in a piece of the next `commit`, converted at once, so that reads get their turn between pieces. */
  stage(name: LanceTable, ids: readonly string[], columns: Columns | undefined): void {
    const staged = this.#staged.get(name) ?? { ids: [], batches: [] };
    this.#staged.set(name, staged);
    staged.ids.push(...ids);
    if (columns !== undefined) staged.batches.push(toRecordBatch(tableSchema(name), columns));
  }

  /** Writes what was staged, table by table. What was staged is forgotten whether it succeeds or not. */
  async commit(): Promise<void> {
    const staged = this.#staged;
    this.discard();
    for (const [name, rows] of staged) await this.#replace(name, rows);
  }

  discard(): void {
    this.#staged = new Map();
  }

  /**
   * Deletes and adds, and indexes what has come: a third of the time of one merge, which has to read the whole table where
   * windows may be fewer than before. Between the commits a reader misses the rows, and a failure may leave it so: what is
   * being written must be read from elsewhere until this has succeeded. Writing it again gives the same.
   */
  #replace(name: LanceTable, { ids, batches }: Staged): Promise<void> {
    return this.#exclusively(async () => {
      // Readers that began earlier do not know of these changes, and must not find the rows gone between the commits.
      await Promise.allSettled(this.#reads);
      const table = this.#tables.get(name) ?? (await this.#create(name));
      await deleteRows(table, name, ids);
      await addRows(table, batches);
      await indexKeys(table, name);
    });
  }

  /** Rows by id, in batches of any order. As of now, whatever is written next. */
  read(name: LanceTable, ids: readonly string[]): Promise<Columns[]> {
    const rows = this.#read(name, ids);
    this.#reads.add(rows);
    const forget = () => this.#reads.delete(rows);
    rows.then(forget, forget);
    return rows;
  }

  async #read(name: LanceTable, ids: readonly string[]): Promise<Columns[]> {
    const batches: Columns[] = [];
    const table = this.#tables.get(name);
    if (table === undefined) return batches;
    for (const filter of keyFilters(name, ids))
      for await (const batch of table.query().where(filter)) batches.push(fromRecordBatch(batch));
    return batches;
  }

  /**
   * Rows from a place on, in the order of the files, which stays as it is while nothing is written: those in other files are
   * not read.
   */
  async range(name: LanceTable, first: number, count: number): Promise<Columns[]> {
    const batches: Columns[] = [];
    const query = this.#tables.get(name)?.query().offset(first).limit(count);
    if (query !== undefined) for await (const batch of query) batches.push(fromRecordBatch(batch));
    return batches;
  }

  /** Begins to read a table whole; answers the number for `nextBatch` and `stopScan`. All columns unless some are named. */
  startScan(name: LanceTable, columns: readonly string[] | undefined): number {
    this.#scanCount += 1;
    this.#scans.set(this.#scanCount, this.#scan(name, columns));
    return this.#scanCount;
  }

  async *#scan(name: LanceTable, columns: readonly string[] | undefined): AsyncGenerator<Columns> {
    const query = this.#tables.get(name)?.query();
    if (query === undefined) return;
    if (columns !== undefined) query.select([...columns]);
    for await (const batch of query) yield fromRecordBatch(batch);
  }

  /** Undefined at the end. */
  async nextBatch(scan: number): Promise<Columns | undefined> {
    const next = await this.#scans.get(scan)?.next();
    if (next !== undefined && next.done !== true) return next.value;
    this.#scans.delete(scan);
    return undefined;
  }

  async stopScan(scan: number): Promise<void> {
    await this.#scans.get(scan)?.return(undefined);
    this.#scans.delete(scan);
  }

  async states(): Promise<TableState[]> {
    const states: TableState[] = [];
    for (const table of this.#tables.values())
      states.push({ name: table.name, version: await table.version(), rows: await table.countRows() });
    return states;
  }

  /** Writes anew what has come to need it; removes no version. True if a table changed. */
  compact(thresholds: CompactionThresholds): Promise<boolean> {
    return this.#exclusively(async () => {
      let changed = false;
      for (const table of this.#tables.values()) {
        const before = await table.version();
        await compactTable(table, thresholds);
        changed ||= (await table.version()) !== before;
      }
      return changed;
    });
  }

  /**
   * Begins to copy every table to a new generation beside it, without what was deleted: all that is applied by now, one
   * generation at a time. Nothing is applied until it took their place or is abandoned.
   */
  startGeneration(): Promise<CopiedTable[]> {
    return this.#exclusively(async () => {
      if (this.#generation !== undefined) throw new Error("the tables are being copied already");
      const begun = await beginCopies(this.#connection, this.#tables, this.#newestGeneration);
      this.#generation = { copies: begun.copies, waiting: [...begun.copies] };
      this.#newestGeneration = begun.number;
      return begun.copied;
    });
  }

  /** Copies one more table, beside reads, and answers its rows; undefined when all are copied. */
  async copyTable(): Promise<number | undefined> {
    const copy = this.#begun().waiting.shift();
    if (copy !== undefined) await fillCopy(copy);
    return copy?.rows;
  }

  /** Makes the copy what is read and written. Reads that run end where they began. */
  switchGeneration(): Promise<void> {
    return this.#exclusively(async () => {
      const before = new Map<LanceTable, Table>();
      for (const { name, view } of this.#begun().copies) {
        const table = this.#tables.get(name);
        if (table !== undefined) before.set(name, table);
        this.#tables.set(name, view.table());
      }
      this.#before = before;
    });
  }

  /** Lets go of the copy, whose files stay, and takes a switch back; nothing where there is no copy. */
  abandonGeneration(): Promise<void> {
    return this.#exclusively(async () => {
      for (const [name, table] of this.#before ?? []) this.#tables.set(name, table);
      this.#before = undefined;
      const copies = this.#generation?.copies ?? [];
      this.#generation = undefined;
      await Promise.allSettled(this.#reads);
      for (const { view } of copies) view.table().close();
    });
  }

  /** After a switch: lets go of what was copied, whose files stay, once nobody reads it. */
  endGeneration(): Promise<void> {
    return this.#exclusively(async () => {
      const before = this.#before;
      if (before === undefined) throw new Error("the tables were not switched");
      this.#generation = undefined;
      this.#before = undefined;
      await Promise.allSettled(this.#reads);
      for (const table of before.values()) table.close();
    });
  }

  #begun() {
    if (this.#generation === undefined) throw new Error("the tables are not being copied");
    return this.#generation;
  }

  close(): void {
    for (const { view } of this.#generation?.copies ?? []) view.table().close();
    for (const table of this.#tables.values()) table.close();
    this.#tables.clear();
    this.#connection.close();
  }

  async #create(name: LanceTable): Promise<Table> {
    // One that was lost may have left its folder.
    const names = await this.#connection.tableNames({ limit: MANY_TABLES });
    const used = names.filter((known) => tableOf(known) === name).map((known) => generationOf(known) ?? 0);
    const number = 1 + Math.max(0, ...used);
    this.#newestGeneration = Math.max(this.#newestGeneration, number);
    const table = await createTable(this.#connection, name, generationName(name, number));
    this.#tables.set(name, table);
    return table;
  }
}

async function compactTable(table: Table, thresholds: CompactionThresholds): Promise<void> {
  const { numRows, fragmentStats } = await table.stats();
  const { numFragments, lengths } = fragmentStats;
  const stored = lengths.mean * numFragments;
  const isFresh =
    numFragments >= thresholds.freshFragments && stored - lengths.max >= stored * thresholds.freshRatio;
  if (isFresh || numFragments >= thresholds.fragments || stored - numRows > stored * thresholds.deletedRatio)
    await table.optimize({ cleanupOlderThan: NOTHING_IS_OLDER });
}
