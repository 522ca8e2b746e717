import type { DocumentReads } from "./documents/document-index.ts";
import type {
  DocumentEmbedding,
  EmbeddingProfile,
  EmbeddingStamp,
  QuestionEmbedding,
  TokenVectors,
} from "./embedding.ts";
import type {
  JsonValue,
  Memory,
  SeenMemory,
  Sector,
  Signals,
  Supersession,
  Given,
  Owned,
  Written,
} from "./memory.ts";
import type { Change, EdgeKind, EdgeRow, RequestRow } from "./rows.ts";
import type { TermStatistics } from "./recall/bm25.ts";
import type { MemoryTraits } from "./recall/traits.ts";

/** What the core asks of the world. Every adapter and every fake of a port passes the suite of the port's name in `test/contract`. */

export interface Clock {
  /** Epoch milliseconds UTC. May jump: nothing relies on it not going back. */
  now(): number;
}

/** New ids; random part and all, so that a test can make them predictable. */
export interface IdSource {
  /** A UUIDv7 of the given time. */
  newId(now: number): string;
}

/** Turns text into vectors. */
export interface Embedder {
  readonly stamp: EmbeddingStamp;
  readonly profile: EmbeddingProfile;
  /**
   * Embeds a text to be remembered, of any length: the whole of it, in windows.
   *
   * @throws {ServiceError} MODEL_UNAVAILABLE if the model cannot run; RATE_LIMITED (with a delay) if too many wait.
   */
  embedDocument(text: string): Promise<DocumentEmbedding>;
  /** Embeds a question; goes before every document that waits. Cut to the model's 512 tokens. @throws as `embedDocument`. */
  embedQuestion(text: string): Promise<QuestionEmbedding>;
}

/** A memory's dense number in its store: ascending in the order of adding, never reused while the store is open. */
export type Ordinal = number;

/** What the catalogue knows of a memory: everything but its text and metadata. */
export interface CatalogueEntry extends Omit<
  Memory,
  "content" | "metadata" | "source" | "order" | "occurredAt"
> {
  readonly ordinal: Ordinal;
  readonly documentId: string | null;
  /** Effective: what the writer said, else `createdAt`. */
  readonly occurredAt: number;
  /** Whether the writer said when it happened. */
  readonly isTimeGiven: boolean;
  readonly lastSeenAt: number;
  /** As of now: faded since `lastSeenAt`. */
  readonly salience: number;
  readonly traits: MemoryTraits;
}

/** Which memories: all conditions hold. Absent conditions do not filter. */
export interface MemoryFilter extends Given<Written> {
  readonly userId?: string;
  /** Any of; null for memories without a project. */
  readonly projects?: readonly (string | null)[];
  /** In the memory's list of sectors: any of. */
  readonly sectors?: readonly Sector[];
  /** All of. */
  readonly tags?: readonly string[];
  readonly sessionId?: string;
  /** `createdAt` at this moment or later. */
  readonly createdFrom?: number;
  /** The last characters of the id. */
  readonly idEnd?: string;
  /** `occurredAt` in [from, to). */
  readonly from?: number;
  readonly to?: number;
  /** Top-level keys of the metadata that equal a scalar. */
  readonly metadata?: Readonly<Record<string, Exclude<JsonValue, object> | null>>;
}

/** A set of memories, fixed when it was made. */
export interface Selection {
  readonly size: number;
  has(ordinal: Ordinal): boolean;
  /** Its members, oldest first. */
  list(): Ordinal[];
}

/** A waypoint by the numbers of its ends. */
export interface OrdinalEdge {
  readonly source: Ordinal;
  readonly target: Ordinal;
  readonly kind: EdgeKind;
  readonly weight: number;
}

/** One page of ids, newest first. */
export interface Page {
  readonly ids: readonly string[];
  /** The `order` of each. */
  readonly orders: readonly number[];
  /** How many match in all. */
  readonly total: number;
}

/**
 * The small and exact part of a store, in memory and synchronous. It shows a write from the moment it is
 * accepted, so that the synchronous section of the next write sees it.
 */
export interface Catalogue {
  readonly size: number;
  find(id: string): CatalogueEntry | undefined;
  at(ordinal: Ordinal): CatalogueEntry | undefined;
  /** As stored, not faded. */
  signalsOf(id: string): Signals | undefined;
  /** The id alone, for loops over many. */
  idAt(ordinal: Ordinal): string | undefined;
  /** The memories with that hash (see `duplicateHash`), oldest first: one, unless they were changed to be the same or no longer hold. */
  duplicatesOf(hash: string): Ordinal[];
  /**
   * Why a memory no longer holds, or did not at `asOf`: the first of the same user's memories that took its place, one
   * that was told before one that is inferred. Undefined while it holds.
   */
  supersession(ordinal: Ordinal, asOf?: number): Supersession | undefined;
  /** Metadata is compared by a hash of 53 bits: a false match is one in 10¹⁵ pairs. */
  select(filter: MemoryFilter): Selection;
  /** Newest first; `before` is an `order`: only older ones. `offset` counts from there. */
  page(
    filter: MemoryFilter,
    page: { readonly limit: number; readonly offset: number; readonly before?: number },
  ): Page;
  /** The memories of the same user's same session `distance` places before (negative) or after; undefined at an end. */
  sessionNeighbour(ordinal: Ordinal, distance: number): Ordinal | undefined;
  /** The newest memory of a session, or, without one, the newest of that user without a session. */
  latest(userId: string | null, sessionId: string | null): CatalogueEntry | undefined;
  /** Edges that leave or reach a memory, strongest first. */
  edgesOf(id: string): readonly EdgeRow[];
  /** The same in no order, for hundreds of memories a question. */
  edgesAt(ordinal: Ordinal): readonly OrdinalEdge[];
  findRequest(key: string): RequestRow | undefined;
  /** Only the store applies changes to it. */
  readonly documents: DocumentReads;
  /** The changes that remove requests whose time is over; looked for once an hour, else none. */
  expiredRequests(): Change[];
  sectorCounts(filter: MemoryFilter): Readonly<Record<Sector, number>>;
  /** Of everybody who has a memory, by user id; nobody's memories are left out. Cost: linear in all memories. */
  users(): ReadonlyMap<string, UserMemories>;
}

/** What the catalogue knows of one user's memories together. */
export interface UserMemories {
  readonly count: number;
  /** `occurredAt` of the earliest and of the latest. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Scores of memories for one question. */
export interface Scores {
  /** Of any memory, selected or not; 0 for what does not match. */
  of(ordinal: Ordinal): number;
  /** The best that are selected, in descending score, ties newest first; only scores above 0. */
  top(limit: number): Ordinal[];
}

/** A term of a question and how much it counts. */
export interface QueryTerm {
  readonly term: string;
  readonly weight: number;
}

/** What the synchronous section of a write may use; valid only while it runs. */
export interface WriteSection {
  /** The time of the record: the clock's, or an earlier record's that is at most `CLOCK_STEP_MS` ahead of it. */
  readonly now: number;
  /** The `order` of the record's first new memory; further ones follow by 1. */
  readonly nextOrder: number;
}

/** Keeps memories. A resolved write is on the disk and visible to every later read. */
export interface MemoryStore {
  readonly catalogue: Catalogue;
  /**
   * Makes one atomic write. `decide` runs at once and must not wait: it sees every write accepted before,
   * checks what may have changed, and answers the changes; it throws to write nothing. No changes: nothing is written.
   *
   * @throws whatever `decide` throws; {ServiceError} STORE_FULL, NOT_READY (closed, or read-only after a disk error).
   */
  commit<T>(
    decide: (section: WriteSection) => { readonly changes: readonly Change[]; readonly result: T },
  ): Promise<T>;
  /**
   * Resolves where a write that adds would be taken now, so that nothing large is received in vain.
   *
   * @throws {ServiceError} what `commit` would: STORE_FULL, NOT_READY.
   */
  assertWritable(): Promise<void>;
  /** The memories that exist among `ids`, each citing its document by the name that this has now. */
  readMemories(ids: readonly string[]): Promise<Map<string, SeenMemory>>;
  /** Token vectors of those among `ids` that have any. */
  readTokens(ids: readonly string[]): Promise<Map<string, TokenVectors>>;
  /** How the memories among those use words; without a selection all. */
  termStatistics(among?: Selection): TermStatistics;
  /** BM25 (see `bm25.ts`); the weight of a term includes how rare it is. `averageLength`: terms of the average memory. */
  scoreWords(terms: readonly QueryTerm[], averageLength: number, selection?: Selection): Scores;
  /** Cosine with the best window, negative ones as 0. */
  scoreVectors(vector: Float32Array, selection?: Selection): Scores;
  /** The embeddings of a memory's windows, in order, each within .002 of the one it was written with; none while they are not durable. */
  windowsOf(ordinal: Ordinal): Float32Array[];
}
