import type { Connection, MaterializedView, Table } from "./lancedb.ts";
import type { LanceTable } from "../../core/rows.ts";
import { indexKeys, storedRows } from "./arrow-columns.ts";
import { generationName, generationOf } from "./table-spec.ts";

/** A table that is about to be copied. */
export interface CopiedTable {
  readonly table: LanceTable;
  /** With the generation: `memories-g1`. */
  readonly name: string;
  /** Name of the copy. */
  readonly copy: string;
  readonly rows: number;
  /** About as many stand in its files, with those that were deleted. */
  readonly storedRows: number;
}

/** A table and its copy. */
export interface Copy {
  readonly name: LanceTable;
  readonly view: MaterializedView;
  /** The source as it was when the copying began; later writes do not count. */
  readonly version: number;
  readonly rows: number;
}

/** LanceDB gives each row of a view the number of the row that it was made of. */
const SOURCE_COLUMN = "__source_row_id";

/**
 * Makes an empty table for each that is there, under numbers that were never used: LanceDB remembers names. Each begins as a
 * view of its source, because a view is filled by LanceDB itself: in a third of the processor time of rows that pass
 * through JavaScript, and each byte is written once. What was deleted stands in no file of theirs.
 */
export async function beginCopies(
  connection: Connection,
  sources: ReadonlyMap<LanceTable, Table>,
  after: number,
): Promise<{ readonly copies: Copy[]; readonly number: number; readonly copied: CopiedTable[] }> {
  const names = await connection.tableNames({ limit: MANY_TABLES });
  const number = 1 + Math.max(after, ...names.map((name) => generationOf(name) ?? 0));
  const copies: Copy[] = [];
  const copied: CopiedTable[] = [];
  for (const [name, source] of sources) {
    const [version, rows] = [await source.version(), await source.countRows()];
    const copy = generationName(name, number);
    copied.push({ table: name, name: source.name, copy, rows, storedRows: await storedRows(source) });
    const view = await connection.createMaterializedView(copy, source.name);
    copies.push({ name, view, version, rows });
  }
  return { copies, number, copied };
}

/** Copies a table, and indexes the copy. @throws {Error} where that has not all rows. */
export async function fillCopy({ name, view, version, rows }: Copy): Promise<void> {
  await view.refresh({ sourceVersion: version });
  const table = view.table();
  await table.dropColumns([SOURCE_COLUMN]);
  const copied = await table.countRows();
  if (copied !== rows) throw new Error(`the copy of the table ${name} has ${copied} rows of ${rows}`);
  await indexKeys(table, name);
}

/** LanceDB lists ten without a limit. */
export const MANY_TABLES = 10_000;
