import { type Connection, Index, type Table } from "@lancedb/lancedb";
import type { RecordBatch, Schema } from "apache-arrow";
import type { TableName } from "../../core/rows.ts";
import { arrow, schemaOf } from "./arrow-columns.ts";
import { TABLE_SPECS } from "./specs.ts";
import { storedText } from "./columns.ts";

/**
 * A filter for rows whose column is one of some texts. The one place where a value becomes part of a filter: in
 * LanceDB's SQL a quote is doubled and nothing else has a meaning inside quotes.
 */
function isOneOf(column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => `'${storedText(value).replaceAll("'", "''")}'`).join(",")})`;
}

/** Ids in one filter; beyond some thousands LanceDB takes longer over the filter than over two of them. */
const IDS_PER_FILTER = 2_000;
/**
 * Rows without an index are read whole to look for an id: 2 500 of the tokens added 3 ms to each lookup of 150, however
 * small the table.
 */
const UNINDEXED_ROWS = 500;

export function tableSchema(name: TableName): Schema {
  return schemaOf(TABLE_SPECS[name].fields);
}

/** Makes a table in a folder of its own; `name` is with the generation. */
export function createTable(connection: Connection, table: TableName, name: string): Promise<Table> {
  return connection.createEmptyTable(name, tableSchema(table), {
    storageOptions: { new_table_enable_stable_row_ids: "true" },
  });
}

const SQL_TYPES = { text: "string", number: "double", bytes: "binary" } as const;

/**
 * Gives a table of an earlier version the columns that came since, empty. No file that is there is touched, and as
 * with every write the next checkpoint names the new version of the table; until then each open does it again.
 *
 * @throws {Error} for a column of vectors, or one that may not be empty.
 */
export async function addMissingColumns(table: Table, name: TableName): Promise<void> {
  const known = new Set((await table.schema()).fields.map((field) => field.name));
  const missing = Object.entries(TABLE_SPECS[name].fields).filter(([column]) => !known.has(column));
  const added = missing.map(([column, { type, nullable }]) => {
    if (type.kind === "floats" || type.kind === "int8s" || !nullable)
      throw new Error(`the table ${table.name} has no column ${column}`);
    return { name: column, valueSql: `cast(NULL as ${SQL_TYPES[type.kind]})` };
  });
  if (added.length > 0) await table.addColumns(added);
}

/** Filters for rows by their key, each for as many ids as LanceDB likes to look for at once. */
export function* keyFilters(name: TableName, ids: readonly string[]): Generator<string> {
  for (let start = 0; start < ids.length; start += IDS_PER_FILTER)
    yield isOneOf(TABLE_SPECS[name].key, ids.slice(start, start + IDS_PER_FILTER));
}

export async function deleteRows(table: Table, name: TableName, ids: readonly string[]): Promise<void> {
  if ((await table.countRows()) === 0) return;
  for (const filter of keyFilters(name, ids)) await table.delete(filter);
}

export async function addRows(table: Table, batches: readonly RecordBatch[]): Promise<void> {
  const first = batches.find(({ numRows }) => numRows > 0);
  if (first !== undefined) await table.add(new arrow.Table(first.schema, [...batches]));
}

/** Builds the index of the keys whole, once enough has come: 45 ms at 100 000 rows, and then one file however often. */
export async function indexKeys(table: Table, name: TableName): Promise<void> {
  const { key } = TABLE_SPECS[name];
  const index = await table.indexStats(`${key}_idx`);
  const unindexed = index?.numUnindexedRows ?? (await table.countRows());
  if (unindexed >= UNINDEXED_ROWS) await table.createIndex(key, { config: Index.btree(), replace: true });
}

/** Lets go of an index whose files are damaged, and builds another. */
export async function indexAnew(table: Table, name: TableName): Promise<void> {
  for (const index of await table.listIndices()) await table.dropIndex(index.name);
  await indexKeys(table, name);
}

/** About the rows in the files of a table, deleted ones too: LanceDB rounds the mean down. */
export async function storedRows(table: Table): Promise<number> {
  const { fragmentStats } = await table.stats();
  return fragmentStats.lengths.mean * fragmentStats.numFragments;
}
