import { createRequire } from "node:module";
import type * as arrowTypes from "apache-arrow";
import type { Data, DataType, RecordBatch, Schema } from "apache-arrow";
import type { ColumnData, Columns, ColumnType } from "./columns.ts";

/** The copy that LanceDB loads, which is CommonJS: an import would load the whole of Arrow a second time. */
export const arrow = createRequire(import.meta.url)("apache-arrow") as typeof arrowTypes;

export interface ColumnSpecs {
  readonly [column: string]: { readonly type: ColumnType; readonly nullable: boolean };
}

export function schemaOf(columns: ColumnSpecs): Schema {
  return new arrow.Schema(
    Object.entries(columns).map(
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
    case "bytes":
      return new arrow.Binary();
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
  if (arrow.DataType.isFixedSizeList(data.type)) {
    return { length, values: data.children[0]?.values.slice(0, length * data.type.listSize), ...nulls };
  }
  if (data.valueOffsets === undefined) return { length, values: data.values.slice(0, length), ...nulls };
  const offsets = data.valueOffsets.slice(0, length + 1);
  return { length, offsets, values: copyBytes(data.values, offsets[0], offsets[length]), ...nulls };
}

/** A Buffer's own `slice` shares its memory, which is about to be moved away. */
function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, end);
}
