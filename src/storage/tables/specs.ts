import type { LanceTable, VectorRow, Rows } from "../../core/rows.ts";
import { rowTable, type TableSpec, columnOf, type FlatTable } from "./table-spec.ts";
import {
  json,
  nullableNumber,
  nullableText,
  number,
  oneOf,
  owned,
  since,
  text,
  written,
  type Columns,
  floats,
  int8s,
} from "./columns.ts";
import { factIdOfRow } from "../../core/facts/fact.ts";
import { EMBEDDING_DIMENSIONS } from "../../core/embedding.ts";
import { LATER_FIELDS } from "../../core/memory.ts";
import { quantise } from "../../core/recall/int8-kernel.ts";

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

const memoriesTable = rowTable(
  "memories",
  {
    content: text,
    tags: json(),
    metadata: json(),
    ...owned,
    sessionId: nullableText,
    occurredAt: nullableNumber,
    primarySector: oneOf(),
    sectors: json(),
    createdAt: number,
    updatedAt: number,
    version: number,
    ...written,
    source: json(),
    order: number,
    terms: text,
    traits: json(),
    analyserVersion: number,
    duplicateHash: text,
    supersedes: since(json(), LATER_FIELDS.supersedes),
  },
  { idOf: (id) => id },
);

/** Everything that indexes and the catalogue are built from: all but the text itself. */
export const SLIM_MEMORY_COLUMNS = Object.keys(memoriesTable.fields).filter((column) => column !== "content");

const signalsTable = rowTable("signals", { salience: number, lastSeenAt: number });

const requestsTable = rowTable("requests", { bodyHash: text, ids: json(), createdAt: number });

const jobsTable = rowTable("jobs", {
  kind: oneOf(),
  status: oneOf(),
  ...owned,
  request: json(),
  documentId: nullableText,
  deduplicated: json(),
  problem: json(),
  createdAt: number,
  startedAt: nullableNumber,
  finishedAt: nullableNumber,
  order: number,
});

/** One row a version; the fact's own id is the first part of the row's. */
const factsTable = rowTable(
  "facts",
  {
    version: number,
    subject: text,
    predicate: text,
    object: text,
    validFrom: number,
    validTo: nullableNumber,
    confidence: number,
    metadata: json(),
    ...owned,
    cardinality: oneOf(),
    sourceMemoryId: nullableText,
    supersededBy: nullableText,
    derivedFrom: nullableText,
    ...written,
    recordedAt: number,
    updatedAt: number,
  },
  { idOf: factIdOfRow },
);

const edgesTable = rowTable("edges", {
  source: text,
  target: text,
  kind: oneOf(),
  weight: number,
  createdAt: number,
});

const documentsTable = rowTable(
  "documents",
  {
    sha256: text,
    bytes: number,
    filename: nullableText,
    mediaType: text,
    url: nullableText,
    ...owned,
    tags: json(),
    metadata: json(),
    extraction: json(),
    strategy: oneOf(),
    rootMemoryId: text,
    memoryIds: json(),
    totalTokens: number,
    chunkingVersion: number,
    ...written,
    createdAt: number,
    fetchedAt: nullableNumber,
    order: number,
  },
  { idOf: (id) => id },
);

const versionsTable = rowTable("versions", {
  memoryId: text,
  userId: nullableText,
  version: number,
  createdAt: number,
  supersedes: json(),
  madeHow: oneOf(),
  madeBy: nullableText,
  endedHow: oneOf(),
  endedBy: nullableText,
  endedAt: number,
  deletedAt: nullableNumber,
  deletedBy: nullableText,
  keptSince: number,
  duplicateHash: text,
  memory: json(),
  signals: json(),
  documentId: nullableText,
  deletedWith: nullableText,
  original: nullableText,
  document: json(),
  sourceOf: json(),
});

/** All that is held in memory of versions. */
export const SLIM_VERSION_COLUMNS = Object.keys(versionsTable.fields).filter(
  (column) => !["memory", "signals", "document", "source_of"].includes(column),
);

/** Every table of LanceDB; a new one without a specification does not compile. */
export const TABLE_SPECS: { readonly [T in LanceTable]: TableSpec<T> } = {
  memories: memoriesTable,
  vectors: vectorsTable,
  signals: signalsTable,
  edges: edgesTable,
  requests: requestsTable,
  facts: factsTable,
  documents: documentsTable,
  jobs: jobsTable,
  versions: versionsTable,
};

export const TABLE_NAMES = Object.keys(TABLE_SPECS) as LanceTable[];

/** How the rows of one table stand in files. */
export interface RowFormat<T extends "tokens" | "memories"> {
  readonly table: T;
  /** In checkpoints, and of the folder. */
  readonly name: FlatTable;
  /** Names the format of a file's index. */
  readonly key: string;
  /** True: the checksum of a row is compared at the first read in a run; damage that comes later moves its memory by a place. */
  readonly isCheckedOnce: boolean;
  /** All rows of a file have one; "" where rows have none. */
  stampOf(row: Rows[T]): string;
  encode(row: Rows[T]): Uint8Array;
  decode(bytes: Buffer, stamp: string): Rows[T];
}

/** Token vectors, which stand nowhere else. */
export const TOKENS: RowFormat<"tokens"> = {
  table: "tokens",
  name: "tokens",
  key: "token vectors",
  // The checksums of a question's rows take .4 ms.
  isCheckedOnce: true,
  stampOf: ({ stamp }) => stamp,
  encode: ({ vectors }) => new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.length),
  decode: ({ buffer, byteOffset, length }, stamp) => ({
    vectors: new Int8Array(buffer as ArrayBuffer, byteOffset, length),
    stamp,
  }),
};

/** Rows of memories, beside the table of LanceDB. */
export const TEXTS: RowFormat<"memories"> = {
  table: "memories",
  name: "texts",
  key: "texts",
  isCheckedOnce: false,
  stampOf: () => "",
  // In a third of the time of MessagePack, and as exact.
  encode: (row) => Buffer.from(JSON.stringify(row)),
  decode(bytes) {
    const row = JSON.parse(bytes.toString()) as Rows["memories"];
    const { missing = {} } = TABLE_SPECS.memories;
    // A spread for every row takes eight times as long, and leaves 5 KB each to the old generation.
    return Object.keys(missing).every((name) => name in row) ? row : { ...missing, ...row };
  },
};
