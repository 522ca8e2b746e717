/**
 * Values of one column as flat buffers: what crosses between the threads (moved, not copied) and what Arrow wraps
 * without touching it. So rows are built and read on the thread that has them, a few microseconds each, and the worker
 * handles bytes only.
 */
export interface ColumnData {
  readonly length: number;
  /** Bit i of byte i / 8, lowest first: row i has a value. Absent when all have. */
  readonly valid?: Uint8Array;
  /** Offset of each row in `values`, and the end; texts and bytes only. */
  readonly offsets?: Int32Array;
  readonly values: Uint8Array | Int8Array | Float32Array | Float64Array;
}

export type ColumnType =
  | { readonly kind: "text" | "number" }
  | { readonly kind: "floats" | "int8s"; readonly length: number };

export type Columns = Readonly<Record<string, ColumnData>>;

/** How one column of a table is written and read; both ways exact. */
export interface Field<V> {
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** The value of rows that were written before there was this field, see `since`. */
  readonly missing?: V;
  encode(values: readonly V[]): ColumnData;
  /** A reader of single rows. */
  decode(data: ColumnData): (row: number) => V;
}

/** Any string, lone surrogates too. */
export const text: Field<string> = {
  type: { kind: "text" },
  nullable: false,
  encode: (values) => encodeBytes(values.map((value) => Buffer.from(storedText(value)))),
  decode(data) {
    const string = stringReader(data);
    return (row) => originalText(string(row));
  },
};

/** A text that is one of few. */
export function oneOf<V extends string>(): Field<V> {
  return text as Field<V>;
}

export const nullableText: Field<string | null> = nullable(text, "");

/** The columns of every record that belongs to somebody, and of one that a client wrote. */
export const owned = { userId: nullableText, project: nullableText };
export const written = { createdBy: nullableText };

/** Any number a JavaScript program has, as the same 64 bits. */
export const number: Field<number> = {
  type: { kind: "number" },
  nullable: false,
  encode: (values) => ({ length: values.length, values: Float64Array.from(values) }),
  decode:
    ({ values }) =>
    (row) =>
      values[row] ?? Number.NaN,
};

export const nullableNumber: Field<number | null> = nullable(number, 0);

/** Anything that came out of `JSON.parse`; the schema need not change when its shape grows. */
export function json<V>(): Field<V> {
  return {
    type: text.type,
    nullable: false,
    encode: (values) => encodeBytes(values.map((value) => Buffer.from(JSON.stringify(value)))),
    decode(data) {
      const string = stringReader(data);
      return (row) => JSON.parse(string(row)) as V;
    },
  };
}

/**
 * A field that came after the first version of its table: older rows, in tables and in the journal, have `missing`. All
 * that a new field needs: its column is added at open.
 */
export function since<V extends {} | null>(field: Field<V>, missing: V): Field<V> {
  const inner = nullable(field, missing);
  return {
    ...inner,
    missing,
    decode(data) {
      const read = inner.decode(data);
      return (row) => read(row) ?? missing;
    },
  };
}

export const floats = (length: number): Field<Float32Array> => vectors("floats", Float32Array, length);
export const int8s = (length: number): Field<Int8Array> => vectors("int8s", Int8Array, length);

function vectors<A extends Float32Array | Int8Array>(
  kind: "floats" | "int8s",
  Numbers: { new (length: number): A; from(numbers: Float32Array | Int8Array): A },
  length: number,
): Field<A> {
  return {
    type: { kind, length },
    nullable: false,
    encode(values) {
      const all = new Numbers(values.length * length);
      values.forEach((value, row) => all.set(ofLength(value, length), row * length));
      return { length: values.length, values: all };
    },
    decode:
      ({ values }) =>
      (row) =>
        Numbers.from((values as A).subarray(row * length, (row + 1) * length)),
  };
}

/** The buffers below some columns, to be moved to another thread. */
export function buffersOf(columns: Columns): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const { valid, offsets, values } of Object.values(columns)) {
    for (const view of [valid, offsets, values]) {
      if (view?.buffer instanceof ArrayBuffer) buffers.add(view.buffer);
    }
  }
  return [...buffers];
}

function nullable<V>(field: Field<V>, filler: V): Field<V | null> {
  return {
    type: field.type,
    nullable: true,
    encode(values) {
      const data = field.encode(values.map((value) => value ?? filler));
      // Undefined: in a record that an earlier version wrote, before there was the field.
      if (values.every((value) => (value ?? null) !== null)) return data;
      const valid = new Uint8Array((values.length + 7) >> 3);
      values.forEach((value, row) => {
        if ((value ?? null) !== null) valid[row >> 3] = (valid[row >> 3] ?? 0) | (1 << (row & 7));
      });
      return { ...data, valid };
    },
    decode(data) {
      const { valid } = data;
      const read = field.decode(data);
      if (valid === undefined) return read;
      return (row) => (((valid[row >> 3] ?? 0) >> (row & 7)) & 1 ? read(row) : null);
    },
  };
}

function encodeBytes(values: readonly (Uint8Array | Int8Array)[]): ColumnData {
  const offsets = new Int32Array(values.length + 1);
  let end = 0;
  values.forEach((value, row) => {
    end += value.length;
    offsets[row + 1] = end;
  });
  const all = new Uint8Array(end);
  values.forEach((value, row) => all.set(value, offsets[row]));
  return { length: values.length, offsets, values: all };
}

function stringReader({ values, offsets }: ColumnData): (row: number) => string {
  const start = offsets?.[0] ?? 0;
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return (row) => bytes.toString("utf8", (offsets?.[row] ?? 0) - start, (offsets?.[row + 1] ?? 0) - start);
}

/** UTF-8 has no lone surrogates, and U+FFFD in their place would be another text: such strings go as escaped JSON. */
const ESCAPED = "\u0000json:";
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A text as it stands in a table, and so in a filter; itself unless it has lone surrogates. */
export function storedText(value: string): string {
  return LONE_SURROGATE.test(value) || value.startsWith(ESCAPED) ? ESCAPED + JSON.stringify(value) : value;
}

function originalText(stored: string): string {
  return stored.startsWith(ESCAPED) ? (JSON.parse(stored.slice(ESCAPED.length)) as string) : stored;
}

function ofLength<A extends Float32Array | Int8Array>(vector: A, length: number): A {
  if (vector.length !== length)
    throw new TypeError(`a vector of ${vector.length} where ${length} are wanted`);
  return vector;
}
