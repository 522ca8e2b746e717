import fc from "fast-check";
import { EMBEDDING_DIMENSIONS } from "../../../src/core/embedding.ts";
import { factIdOfRow } from "../../../src/core/facts/fact.ts";
import { type JsonValue, type Metadata, SECTORS } from "../../../src/core/memory.ts";
import type { LanceTable, Rows, StoredEdgeKind } from "../../../src/core/rows.ts";

/** Any string that JavaScript has, lone surrogates and all. */
const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 10 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom("", "'", "''; DROP TABLE memories --", "\u0000", "\u0000json:", "\\", "日本語 🙂"),
);
const anyNumber = fc.oneof(
  fc.double({ noNaN: true }),
  fc.maxSafeInteger(),
  fc.constant(Number.MAX_SAFE_INTEGER),
);
const orNull = <V>(value: fc.Arbitrary<V>) => fc.option(value, { nil: null });
/** What JSON can say; it has no −0. */
const anyJson = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
// After an object whose key is a backslash alone, JSON.parse of Node 24 and 26 (V8 13.6) takes other keys of one escaped
// character for a backslash, too.
const KEYS_LEFT_OUT = new Set(["__proto__", "\\"]);
const anyMetadata = fc
  .dictionary(
    anyText.filter((key) => !KEYS_LEFT_OUT.has(key)),
    anyJson,
    { maxKeys: 4, noNullPrototype: true },
  )
  .map((metadata): Metadata => metadata);
const anyVector = fc.float32Array({
  minLength: EMBEDDING_DIMENSIONS,
  maxLength: EMBEDDING_DIMENSIONS,
  noNaN: true,
  min: -1,
  max: 1,
});

/** Any row of each table; `id` is replaced by what the id it is stored under says. */
export const anyRow: { readonly [T in LanceTable]: fc.Arbitrary<Rows[T]> } = {
  memories: fc.record({
    id: fc.constant(""),
    content: anyText,
    tags: fc.array(anyText, { maxLength: 4 }),
    metadata: anyMetadata,
    userId: orNull(anyText),
    project: orNull(anyText),
    sessionId: orNull(anyText),
    occurredAt: orNull(anyNumber),
    primarySector: fc.constantFrom(...SECTORS),
    sectors: fc.subarray([...SECTORS], { minLength: 1 }),
    createdAt: anyNumber,
    updatedAt: anyNumber,
    version: anyNumber,
    createdBy: orNull(anyText),
    source: orNull(
      fc.record({
        documentId: anyText,
        filename: orNull(anyText),
        mediaType: anyText,
        chunkIndex: fc.nat(),
        chunkCount: fc.nat(),
      }),
    ),
    order: anyNumber,
    supersedes: fc.array(fc.uuid({ version: 7 }), { maxLength: 3 }),
    terms: anyText,
    traits: fc.record({
      asks: fc.boolean(),
      tellsTime: fc.boolean(),
      speaker: orNull(anyText),
      names: fc.array(anyText, { maxLength: 4 }),
      words: fc.nat(),
    }),
    analyserVersion: fc.nat(),
    duplicateHash: anyText,
  }),
  vectors: fc.record({
    userId: orNull(anyText),
    windows: fc.array(anyVector, { minLength: 1, maxLength: 3 }),
    stamp: anyText,
  }),
  signals: fc.record({ salience: anyNumber, lastSeenAt: anyNumber }),
  edges: fc.record({
    source: anyText,
    target: anyText,
    kind: fc.constantFrom<StoredEdgeKind>("updates", "link"),
    weight: anyNumber,
    createdAt: anyNumber,
  }),
  requests: fc.record({
    bodyHash: anyText,
    ids: fc.array(orNull(anyText), { maxLength: 4 }),
    createdAt: anyNumber,
  }),
  facts: fc.record({
    id: fc.constant(""),
    version: anyNumber,
    subject: anyText,
    predicate: anyText,
    object: anyText,
    validFrom: anyNumber,
    validTo: orNull(anyNumber),
    confidence: anyNumber,
    metadata: anyMetadata,
    userId: orNull(anyText),
    project: orNull(anyText),
    cardinality: fc.constantFrom("one", "many"),
    sourceMemoryId: orNull(anyText),
    supersededBy: orNull(anyText),
    derivedFrom: orNull(anyText),
    createdBy: orNull(anyText),
    recordedAt: anyNumber,
    updatedAt: anyNumber,
  }),
  documents: fc.record({
    id: fc.constant(""),
    sha256: anyText,
    bytes: anyNumber,
    filename: orNull(anyText),
    mediaType: anyText,
    url: orNull(anyText),
    userId: orNull(anyText),
    project: orNull(anyText),
    tags: fc.array(anyText, { maxLength: 4 }),
    metadata: anyMetadata,
    extraction: fc.record(
      {
        kind: fc.constantFrom("pdf", "docx", "html", "md", "txt"),
        method: anyText,
        charCount: fc.nat(),
        title: anyText,
      },
      { requiredKeys: ["kind", "method", "charCount"], noNullPrototype: true },
    ),
    strategy: fc.constantFrom("single", "root-child"),
    rootMemoryId: anyText,
    memoryIds: fc.array(anyText, { maxLength: 4 }),
    totalTokens: anyNumber,
    chunkingVersion: anyNumber,
    createdBy: orNull(anyText),
    createdAt: anyNumber,
    fetchedAt: orNull(anyNumber),
    order: anyNumber,
  }),
  versions: fc.record({
    memoryId: anyText,
    userId: orNull(anyText),
    version: anyNumber,
    createdAt: anyNumber,
    supersedes: fc.array(anyText, { maxLength: 2 }),
    madeHow: fc.constantFrom("created", "updated", "restored"),
    madeBy: orNull(anyText),
    endedHow: fc.constantFrom("updated", "restored", "deleted", "undeleted"),
    endedBy: orNull(anyText),
    endedAt: anyNumber,
    deletedAt: orNull(anyNumber),
    deletedBy: orNull(anyText),
    keptSince: anyNumber,
    duplicateHash: anyText,
    memory: fc.record({
      id: anyText,
      content: anyText,
      tags: fc.array(anyText, { maxLength: 2 }),
      metadata: anyMetadata,
      userId: orNull(anyText),
      project: orNull(anyText),
      sessionId: orNull(anyText),
      occurredAt: orNull(fc.nat()),
      primarySector: fc.constantFrom(...SECTORS),
      sectors: fc.subarray([...SECTORS], { minLength: 1 }),
      createdAt: fc.nat(),
      updatedAt: fc.nat(),
      version: fc.nat(),
      createdBy: orNull(anyText),
      source: fc.constant(null),
      order: fc.nat(),
      supersedes: fc.array(anyText, { maxLength: 2 }),
    }),
    signals: fc.record({ salience: fc.nat(), lastSeenAt: fc.nat() }),
    documentId: orNull(anyText),
    deletedWith: orNull(anyText),
    original: orNull(anyText),
    document: fc.constant(null),
    sourceOf: fc.array(anyText, { maxLength: 2 }),
  }),
  jobs: fc.record({
    kind: fc.constant("ingest"),
    status: fc.constantFrom("queued", "succeeded", "failed", "cancelled"),
    userId: orNull(anyText),
    project: orNull(anyText),
    request: orNull(
      fc.record({
        file: orNull(fc.record({ sha256: anyText, bytes: fc.nat() })),
        url: orNull(anyText),
        filename: orNull(anyText),
        claimedType: orNull(anyText),
        tags: fc.array(anyText, { maxLength: 2 }),
        metadata: anyMetadata,
        createdBy: orNull(anyText),
        fetchedAt: orNull(fc.nat()),
      }),
    ),
    documentId: orNull(anyText),
    deduplicated: fc.boolean(),
    problem: orNull(fc.record({ code: fc.constantFrom("UNPROCESSABLE", "TOO_LARGE"), message: anyText })),
    createdAt: anyNumber,
    startedAt: orNull(anyNumber),
    finishedAt: orNull(anyNumber),
    order: anyNumber,
  }),
};

export const anyId = anyText;

/** The row as a store answers it for that id. */
export function storedUnder<T extends LanceTable>(table: T, id: string, row: Rows[T]): Rows[T] {
  if (table === "facts") return { ...row, id: factIdOfRow(id) };
  return table === "memories" || table === "documents" ? { ...row, id } : row;
}
