import { EMBEDDING_DIMENSIONS } from "../../core/embedding.ts";
import { quantise } from "../../core/recall/int8-kernel.ts";
import type { VectorRow } from "../../core/rows.ts";
import { type Columns, floats, int8s, nullableText, number, text } from "./columns.ts";
import { columnOf, type TableSpec } from "./table-spec.ts";

const embedding = floats(EMBEDDING_DIMENSIONS);
const quantised = int8s(EMBEDDING_DIMENSIONS);

const fields = {
  id: text,
  memory_id: text,
  user_id: nullableText,
  stamp: text,
  /** Place of the window in the text, from 0. */
  window: number,
  embedding,
  /** The embedding as `quantise` makes it: a quarter of the bytes to load at open. */
  quantised,
  scale: number,
};

/** One row a window, named `memory_id#n`; a memory's windows come and go together. */
export const vectorsTable: TableSpec<"vectors"> = {
  name: "vectors",
  key: "memory_id",
  fields,
  encode(entries) {
    const rows = entries.flatMap(({ id, row }) =>
      row.windows.map((vector, window) => ({ id, row, window, vector, quantised: quantise(vector) })),
    );
    return {
      id: text.encode(rows.map(({ id, window }) => `${id}#${window}`)),
      memory_id: text.encode(rows.map(({ id }) => id)),
      user_id: nullableText.encode(rows.map(({ row }) => row.userId)),
      stamp: text.encode(rows.map(({ row }) => row.stamp)),
      window: number.encode(rows.map(({ window }) => window)),
      embedding: embedding.encode(rows.map(({ vector }) => vector)),
      quantised: quantised.encode(rows.map((row) => row.quantised.values)),
      scale: number.encode(rows.map((row) => row.quantised.scale)),
    };
  },
  decode(columns, into) {
    const ids = columnOf(columns, "memory_id");
    const idAt = text.decode(ids);
    const userIdAt = nullableText.decode(columnOf(columns, "user_id"));
    const stampAt = text.decode(columnOf(columns, "stamp"));
    const windowAt = number.decode(columnOf(columns, "window"));
    const vectorAt = embedding.decode(columnOf(columns, "embedding"));
    for (let i = 0; i < ids.length; i += 1) {
      const id = idAt(i);
      const known: VectorRow = into.get(id) ?? { userId: userIdAt(i), windows: [], stamp: stampAt(i) };
      const windows = [...known.windows];
      windows[windowAt(i)] = vectorAt(i);
      into.set(id, { ...known, windows });
    }
  },
};

/** Windows of many memories, quantised: row i is `values[i · 384 …]` times `scales[i]`. */
export interface QuantisedWindows {
  readonly memoryIds: readonly string[];
  readonly stamps: readonly string[];
  readonly values: Int8Array;
  readonly scales: Float64Array;
}

export const QUANTISED_COLUMNS = ["memory_id", "stamp", "quantised", "scale"];

export function decodeQuantised(columns: Columns): QuantisedWindows {
  const ids = columnOf(columns, "memory_id");
  const idAt = text.decode(ids);
  const stampAt = text.decode(columnOf(columns, "stamp"));
  return {
    memoryIds: Array.from({ length: ids.length }, (_, row) => idAt(row)),
    stamps: Array.from({ length: ids.length }, (_, row) => stampAt(row)),
    values: columnOf(columns, "quantised").values as Int8Array,
    scales: columnOf(columns, "scale").values as Float64Array,
  };
}
