import type { Connection, Table } from "@lancedb/lancedb";
import type { RecordBatch } from "apache-arrow";
import type { TableName } from "../../core/rows.ts";
import {
  fromRecordBatch,
  toRecordBatch,
  addRows,
  createTable,
  deleteRows,
  indexKeys,
  keyFilters,
  storedRows,
  tableSchema,
} from "./arrow-columns.ts";
import { buffersOf, type Columns } from "./columns.ts";
import { generationName, generationOf, type TableState } from "./table-spec.ts";

/** A table that is about to be copied. */
export interface CopiedTable {
  readonly table: TableName;
  /** With the generation: `memories-g1`. */
  readonly name: string;
  /** Name of the copy. */
  readonly copy: string;
  readonly rows: number;
  /** About as many stand in its files, with those that were deleted. */
  readonly storedRows: number;
}

/** The result of one step of the copying. */
export interface CopiedPiece {
  readonly table: TableName;
  readonly rows: number;
}

interface Copy {
  readonly name: TableName;
  readonly table: Table;
  readonly source: Table;
  /** Rows of the source when its copy began; later writes do not count. */
  rows?: AsyncIterator<RecordBatch>;
}

/** Rows are gathered up to this before they are added, which keeps the thread from answering reads for some 50 ms. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** Each add is a fragment; from so many on they are made one, as `CompactionThresholds` would have it soon after. */
const MANY_FRAGMENTS = 5;
/** Before every version there can be: LanceDB removes none. */
const NOTHING_IS_OLDER = new Date(0);

/** The tables written anew beside the ones in use, so that what was deleted stands in no file of theirs. */
export class NextGeneration {
  readonly #copies: Map<TableName, Copy>;
  #waiting: Copy[];

  private constructor(copies: readonly Copy[]) {
    this.#copies = new Map(copies.map((copy) => [copy.name, copy]));
    this.#waiting = [...copies];
  }

  /** Makes an empty table for each that is there, under numbers that were never used: LanceDB remembers names. */
  static async begin(
    connection: Connection,
    sources: ReadonlyMap<TableName, Table>,
    after: number,
  ): Promise<{
    readonly generation: NextGeneration;
    readonly number: number;
    readonly copied: CopiedTable[];
  }> {
    const names = await connection.tableNames({ limit: MANY_TABLES });
    const number = 1 + Math.max(after, ...names.map((name) => generationOf(name) ?? 0));
    const copies: Copy[] = [];
    const copied: CopiedTable[] = [];
    for (const [name, source] of sources) {
      copied.push({
        table: name,
        name: source.name,
        copy: generationName(name, number),
        rows: await source.countRows(),
        storedRows: await storedRows(source),
      });
      const table = await createTable(connection, name, generationName(name, number));
      copies.push({ name, table, source });
    }
    return { generation: new NextGeneration(copies), number, copied };
  }

  /** Copies some more; undefined when all is copied and indexed. Memory holds no more than a piece. */
  async copyPiece(): Promise<CopiedPiece | undefined> {
    const [copy] = this.#waiting;
    if (copy === undefined) return undefined;
    copy.rows ??= copy.source.query()[Symbol.asyncIterator]();
    const batches: RecordBatch[] = [];
    let rows = 0;
    for (let bytes = 0; bytes < PIECE_BYTES;) {
      const next = await copy.rows.next();
      if (next.done === true) {
        this.#waiting.shift();
        break;
      }
      const columns = fromRecordBatch(next.value);
      batches.push(toRecordBatch(tableSchema(copy.name), columns));
      rows += next.value.numRows;
      bytes += bytesOf(columns);
    }
    await addRows(copy.table, batches);
    if (this.#waiting[0] !== copy) {
      const { numFragments } = (await copy.table.stats()).fragmentStats;
      if (numFragments >= MANY_FRAGMENTS) await copy.table.optimize({ cleanupOlderThan: NOTHING_IS_OLDER });
      await indexKeys(copy.table, copy.name);
    }
    return { table: copy.name, rows };
  }

  /** Gives some ids the rows that the source has by now. Ids of a table that is not copied are passed over. */
  async catchUp(name: TableName, source: Table, ids: readonly string[]): Promise<void> {
    const copy = this.#copies.get(name);
    if (copy === undefined) return;
    await deleteRows(copy.table, name, ids);
    let batches: RecordBatch[] = [];
    let bytes = 0;
    for (const filter of keyFilters(name, ids)) {
      for await (const batch of source.query().where(filter)) {
        const columns = fromRecordBatch(batch);
        batches.push(toRecordBatch(tableSchema(name), columns));
        bytes += bytesOf(columns);
        if (bytes < PIECE_BYTES) continue;
        await addRows(copy.table, batches);
        batches = [];
        bytes = 0;
      }
    }
    await addRows(copy.table, batches);
    await indexKeys(copy.table, name);
  }

  async states(): Promise<TableState[]> {
    const states: TableState[] = [];
    for (const { table } of this.#copies.values())
      states.push({ name: table.name, version: await table.version(), rows: await table.countRows() });
    return states;
  }

  /** Puts the new tables in the place of those they were made from, and answers those. */
  takePlaceIn(tables: Map<TableName, Table>): Map<TableName, Table> {
    const before = new Map<TableName, Table>();
    for (const { name, table } of this.#copies.values()) {
      const old = tables.get(name);
      if (old !== undefined) before.set(name, old);
      tables.set(name, table);
    }
    return before;
  }

  /** Ends the reading of what is not copied yet. */
  async stop(): Promise<void> {
    for (const { rows } of this.#waiting) await rows?.return?.();
    this.#waiting = [];
  }

  close(): void {
    for (const { table } of this.#copies.values()) table.close();
  }
}

/** LanceDB lists ten without a limit. */
export const MANY_TABLES = 10_000;

function bytesOf(columns: Columns): number {
  return buffersOf(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}
