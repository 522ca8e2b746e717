import { EMBEDDING_DIMENSIONS } from "../../core/embedding.ts";
import { type QuantisedVector, quantise } from "../../core/recall/int8-kernel.ts";
import type { Change, Rows, TableName } from "../../core/rows.ts";
import { isEmpty } from "../../core/facts/fact.ts";
import { occurredAtOf } from "../../core/memory.ts";
import { decodeChanges, encodeChanges } from "../codec.ts";

/** The number of each table in the database; part of its format. */
const KINDS: Readonly<Record<TableName, number>> = {
  memories: 0,
  vectors: 1,
  tokens: 2,
  signals: 3,
  edges: 4,
  requests: 5,
  facts: 6,
  documents: 7,
  jobs: 8,
  versions: 9,
};
const TABLES = Object.keys(KINDS) as TableName[];

export const kindOf = (table: TableName): number => KINDS[table];

/** A row of the database: what indexes need, and what is read by id. Both are null of one that was removed. */
interface RowColumns {
  readonly slim: Buffer | null;
  readonly heavy: Buffer | null;
}

/** When a memory happened, or the period of a version of a fact begins; null of other rows, and of a version whose period is empty. */
export function timeOf({ table, row }: Change): number | null {
  if (row === null) return null;
  if (table === "memories") return occurredAtOf(row);
  return table === "facts" && !isEmpty(row) ? row.validFrom : null;
}

const GONE: RowColumns = { slim: null, heavy: null };
const BYTES_PER_WINDOW = 4 + EMBEDDING_DIMENSIONS;

export function columnsOf(change: Change): RowColumns {
  if (change.row === null) return GONE;
  switch (change.table) {
    case "memories": {
      const { content } = change.row;
      return {
        slim: encode({ ...change, row: { ...change.row, content: "" } }),
        heavy: Buffer.from(content),
      };
    }
    case "versions": {
      const { memory } = change.row;
      const row = { ...change.row, memory: { ...memory, content: "" } };
      return { slim: encode({ ...change, row }), heavy: Buffer.from(memory.content) };
    }
    case "vectors":
      return { slim: encodeWindows(change.row), heavy: null };
    case "tokens": {
      const { stamp, vectors } = change.row;
      const heavy = Buffer.from(vectors.buffer as ArrayBuffer, vectors.byteOffset, vectors.byteLength);
      return { slim: Buffer.from(stamp), heavy };
    }
    default:
      return { slim: encode(change), heavy: null };
  }
}

/** The change that `columnsOf` took apart; without `heavy` its text or its token vectors are empty. */
export function changeOf(kind: number, id: string, { slim, heavy }: RowColumns): Change {
  const table = TABLES[kind];
  if (table === undefined) throw new TypeError(`no table has the number ${kind}`);
  if (slim === null) return { table, id, row: null };
  const text = heavy?.toString() ?? "";
  switch (table) {
    case "vectors": {
      const { stamp, userId, windows } = windowsIn(slim);
      const floats = windows.map(({ values, scale }) => Float32Array.from(values, (value) => value * scale));
      return { table, id, row: { stamp, userId, windows: floats } };
    }
    case "tokens":
      return { table, id, row: { stamp: slim.toString(), vectors: new Int8Array(heavy ?? []) } };
    case "memories": {
      const row = rowIn(slim, table);
      return { table, id, row: { ...row, content: text } };
    }
    case "versions": {
      const row = rowIn(slim, table);
      return { table, id, row: { ...row, memory: { ...row.memory, content: text } } };
    }
    default:
      return { table, id, row: rowIn(slim, table) } as Change;
  }
}

/** The windows of a memory as they are stored. */
export function windowsIn(slim: Buffer): {
  readonly stamp: string;
  readonly userId: string | null;
  readonly windows: readonly QuantisedVector[];
} {
  const length = slim.readUInt16LE();
  const [stamp, userId] = JSON.parse(slim.toString("utf8", 2, 2 + length)) as [string, string | null];
  const windows: QuantisedVector[] = [];
  for (let at = 2 + length; at < slim.length; at += BYTES_PER_WINDOW) {
    const bytes = slim.subarray(at + 4, at + BYTES_PER_WINDOW);
    windows.push({ scale: slim.readFloatLE(at), values: new Int8Array(bytes) });
  }
  return { stamp, userId, windows };
}

function encodeWindows({ stamp, userId, windows }: Rows["vectors"]): Buffer {
  const head = Buffer.from(JSON.stringify([stamp, userId]));
  const bytes = Buffer.alloc(2 + head.length + windows.length * BYTES_PER_WINDOW);
  bytes.writeUInt16LE(head.length);
  head.copy(bytes, 2);
  for (const [i, window] of windows.entries()) {
    const { values, scale } = quantise(window);
    const at = bytes.writeFloatLE(scale, 2 + head.length + i * BYTES_PER_WINDOW);
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.length), at);
  }
  return bytes;
}

const encode = (change: Change): Buffer =>
  Buffer.concat(Array.from(encodeChanges([change]), (piece) => Buffer.from(piece)));

function rowIn<T extends TableName>(slim: Buffer, table: T): Rows[T] {
  const [change] = decodeChanges(slim).changes;
  if (change?.table !== table || change.row === null) throw new TypeError(`not a row of ${table}`);
  return change.row as Rows[T];
}
