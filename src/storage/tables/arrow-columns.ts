import { inPieces } from "../../core/at-once.ts";
import type { Data, DataType, RecordBatch, Schema } from "apache-arrow";
import { arrow, type Connection, Index, type Table } from "./lancedb.ts";
import { type ColumnData, type Columns, type ColumnType, storedText } from "./columns.ts";
import type { LanceTable } from "../../core/rows.ts";
import { TABLE_SPECS } from "./specs.ts";

export function tableSchema(name: LanceTable): Schema {
  return new arrow.Schema(
    Object.entries(TABLE_SPECS[name].fields).map(
      ([name, { type, nullable }]) => new arrow.Field(name, arrowType(type), nullable),
    ),
  );
}

/** Wraps the buffers; copies nothing. */
export function toRecordBatch(schema: Schema, columns: Columns): RecordBatch {
  const children = schema.fields.map(({ name, type }) => {
    const column = columns[name];
    if (column === undefined) throw new TypeError(`no values for the column ${name}`);
    return arrowData(type, column);
  });
  const length = children[0]?.length ?? 0;
  return new arrow.RecordBatch(
    schema,
    arrow.makeData({ type: new arrow.Struct(schema.fields), length, nullCount: 0, children }),
  );
}

/** A file as LanceDB writes it with the places of a fragment's deleted rows, of which there are none. */
export function nothingDeleted(): Uint8Array {
  const schema = new arrow.Schema([new arrow.Field("row_id", new arrow.Uint32(), false)]);
  const children = [arrow.makeData({ type: new arrow.Uint32(), length: 0, data: new Uint32Array(0) })];
  const type = new arrow.Struct(schema.fields);
  const batch = new arrow.RecordBatch(schema, arrow.makeData({ type, length: 0, nullCount: 0, children }));
  return arrow.tableToIPC(new arrow.Table(schema, [batch]), "file");
}

/** Copies every column out of a batch, so that its buffers can be moved on and the batch let go. */
export function fromRecordBatch(batch: RecordBatch): Columns {
  const columns: Record<string, ColumnData> = {};
  batch.schema.fields.forEach(({ name }, i) => {
    const data = batch.data.children[i];
    if (data !== undefined) columns[name] = columnData(data);
  });
  return columns;
}

function arrowType(type: ColumnType): DataType {
  switch (type.kind) {
    case "text":
      return new arrow.Utf8();
    case "number":
      return new arrow.Float64();
    case "floats":
      return new arrow.FixedSizeList(type.length, new arrow.Field("item", new arrow.Float32(), true));
    case "int8s":
      return new arrow.FixedSizeList(type.length, new arrow.Field("item", new arrow.Int8(), true));
  }
}

function arrowData(type: DataType, { length, valid, offsets, values }: ColumnData): Data {
  // Without a bitmap Arrow takes 0 nulls; with one it counts them itself.
  const nulls = valid === undefined ? { nullCount: 0 } : { nullBitmap: valid, nullCount: -1 };
  if (arrow.DataType.isFixedSizeList(type)) {
    const item = type.children[0]?.type as DataType;
    const child = arrow.makeData({
      type: item,
      length: values.length,
      nullCount: 0,
      data: values,
    } as never) as Data;
    return arrow.makeData({ type, length, child, ...nulls });
  }
  return offsets === undefined
    ? (arrow.makeData({ type, length, data: values, ...nulls } as never) as Data)
    : (arrow.makeData({ type, length, valueOffsets: offsets, data: values, ...nulls } as never) as Data);
}

function columnData(data: Data): ColumnData {
  const { length, offset } = data;
  if (offset !== 0) throw new Error("a batch that is part of another one");
  const nulls = data.nullCount === 0 ? {} : { valid: copyBytes(data.nullBitmap, 0, (length + 7) >> 3) };
  if (arrow.DataType.isFixedSizeList(data.type))
    return { length, values: data.children[0]?.values.slice(0, length * data.type.listSize), ...nulls };
  if (data.valueOffsets === undefined) return { length, values: data.values.slice(0, length), ...nulls };
  const offsets = data.valueOffsets.slice(0, length + 1);
  return { length, offsets, values: copyBytes(data.values, offsets[0], offsets[length]), ...nulls };
}

/** A Buffer's own `slice` shares its memory, which is about to be moved away. */
function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, end);
}

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

/** Makes a table in a folder of its own; `name` is with the generation. */
export function createTable(connection: Connection, table: LanceTable, name: string): Promise<Table> {
  return connection.createEmptyTable(name, tableSchema(table), {
    storageOptions: { new_table_enable_stable_row_ids: "true" },
  });
}

const SQL_TYPES = { text: "string", number: "double" } as const;

/**
 * Gives a table of an earlier version the columns that came since, empty. No file that is there is touched, and as
 * with every write the next checkpoint names the new version of the table; until then each open does it again.
 *
 * @throws {Error} for a column of vectors, or one that may not be empty.
 */
export async function addMissingColumns(table: Table, name: LanceTable): Promise<void> {
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
export function* keyFilters(name: LanceTable, ids: readonly string[]): Generator<string> {
  for (const some of inPieces(ids, IDS_PER_FILTER)) yield isOneOf(TABLE_SPECS[name].key, some);
}

export async function deleteRows(table: Table, name: LanceTable, ids: readonly string[]): Promise<void> {
  if ((await table.countRows()) === 0) return;
  for (const filter of keyFilters(name, ids)) await table.delete(filter);
}

export async function addRows(table: Table, batches: readonly RecordBatch[]): Promise<void> {
  const first = batches.find(({ numRows }) => numRows > 0);
  if (first !== undefined) await table.add(new arrow.Table(first.schema, [...batches]));
}

/** Builds the index of the keys whole, once enough has come: 45 ms at 100 000 rows, and then one file however often. */
export async function indexKeys(table: Table, name: LanceTable): Promise<void> {
  const { key } = TABLE_SPECS[name];
  const index = await table.indexStats(`${key}_idx`);
  const unindexed = index?.numUnindexedRows ?? (await table.countRows());
  if (unindexed >= UNINDEXED_ROWS) await table.createIndex(key, { config: Index.btree(), replace: true });
}

/** Lets go of an index whose files are damaged, and builds another. */
export async function indexAnew(table: Table, name: LanceTable): Promise<void> {
  for (const index of await table.listIndices()) await table.dropIndex(index.name);
  await indexKeys(table, name);
}

/** About the rows in the files of a table, deleted ones too: LanceDB rounds the mean down. */
export async function storedRows(table: Table): Promise<number> {
  const { fragmentStats } = await table.stats();
  return fragmentStats.lengths.mean * fragmentStats.numFragments;
}
