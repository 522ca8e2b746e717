import type { TableName } from "../../core/rows.ts";
import { rowTable, type TableSpec } from "./table-spec.ts";
import { vectorsTable } from "./vectors-table.ts";
import {
  int8Bytes,
  json,
  nullableNumber,
  nullableText,
  number,
  oneOf,
  owned,
  since,
  text,
  written,
} from "./columns.ts";
import { factIdOfRow } from "../../core/facts/fact.ts";

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
    supersedes: since(json(), []),
  },
  { idOf: (id) => id },
);

/** Everything that indexes and the catalogue are built from: all but the text itself. */
export const SLIM_MEMORY_COLUMNS = Object.keys(memoriesTable.fields).filter((column) => column !== "content");

const tokensTable = rowTable("tokens", { vectors: int8Bytes, stamp: text });

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

/** Every table there is; a new one without a specification does not compile. */
export const TABLE_SPECS: { readonly [T in TableName]: TableSpec<T> } = {
  memories: memoriesTable,
  vectors: vectorsTable,
  tokens: tokensTable,
  signals: signalsTable,
  edges: edgesTable,
  requests: requestsTable,
  facts: factsTable,
  documents: documentsTable,
  jobs: jobsTable,
  versions: versionsTable,
};

export const TABLE_NAMES = Object.keys(TABLE_SPECS) as TableName[];
