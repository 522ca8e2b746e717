import type { PageRequest } from "./page-end.ts";
import type { DocumentReads } from "./documents/document-index.ts";
import type { FactReads } from "./facts/fact-book.ts";
import type {
  DocumentEmbedding,
  EmbeddingProfile,
  EmbeddingStamp,
  QuestionEmbedding,
  TokenVectors,
} from "./embedding.ts";
import type { Change, EdgeRow, MemoryRow, RequestRow, VersionRow } from "./rows.ts";
import type { VersionReads } from "./history/version-index.ts";
import type {
  JsonValue,
  Memory,
  SeenMemory,
  Sector,
  Signals,
  Supersession,
  Given,
  Owned,
  OwnerFilter,
  Written,
} from "./memory.ts";
import type { TermStatistics } from "./recall/bm25.ts";
import type { MemoryTraits } from "./recall/traits.ts";

/** Ports of the core. Every adapter and every fake of a port passes the suite of the port's name in `test/contract`. */

export interface Clock {
  /** Epoch milliseconds UTC. May jump in either direction. */
  now(): number;
}

/** New ids. A port, so that tests can make them predictable. */
export interface IdSource {
  /** A UUIDv7 of the given time. */
  newId(now: number): string;
}

/**
 * Places among the rows of all users, as texts that tell nothing of them: the same place is the same text, and neither a
 * number nor which of two comes first can be read from it.
 */
export interface Places {
  /** @param list `ADDED_LIST`, or 32 bits that no other list has. @param skipped items on the pages before. */
  seal(list: number, place: number, skipped?: number): string;
  /** Undefined for a text that is not of that list. */
  open(list: number, text: string): { readonly place: number; readonly skipped: number } | undefined;
}

/** Lists in the order of adding. */
export const ADDED_LIST = 1;

/** Turns text into vectors. */
export interface Embedder {
  readonly stamp: EmbeddingStamp;
  readonly profile: EmbeddingProfile;
  /** Embeds a whole text, in windows. @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED with a delay. */
  embedDocument(text: string): Promise<DocumentEmbedding>;
  /** Embeds a question, before all waiting documents; cuts it to the model's 512 tokens. @throws as `embedDocument`. */
  embedQuestion(text: string): Promise<QuestionEmbedding>;
  /** Begins to load what it needs for a question that comes soon, and returns at once. */
  wake?(): void;
}

/** A memory's dense number in its store: ascending in the order of adding, never reused while the store is open. */
export type Ordinal = number;

/** The fields of a memory that are held in memory, because decisions and filters use them. */
export interface CatalogueEntry
  extends Owned, Written, Pick<Memory, "id" | "sessionId" | "tags" | "createdAt" | "version" | "supersedes"> {
  readonly ordinal: Ordinal;
  readonly documentId: string | null;
  /** As given by the writer, else `createdAt`. */
  readonly occurredAt: number;
  /** Whether the writer gave the time. */
  readonly isTimeGiven: boolean;
  readonly lastSeenAt: number;
  /** Faded from `lastSeenAt` until now. */
  readonly salience: number;
  readonly traits: MemoryTraits;
}

/** Conditions on memories; all given ones must hold. */
export interface MemoryFilter extends OwnerFilter, Given<Written> {
  /** In the memory's list of sectors: any of. */
  readonly sectors?: readonly Sector[];
  /** All of. */
  readonly tags?: readonly string[];
  readonly sessionId?: string;
  /** `createdAt` in [createdFrom, createdTo). */
  readonly createdFrom?: number;
  readonly createdTo?: number;
  /** The last characters of the id. */
  readonly idEnd?: string;
  /** False: no text of documents. */
  readonly documents?: false;
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

/** A stored waypoint by the numbers of its ends. */
export interface OrdinalEdge extends Omit<EdgeRow, "source" | "target"> {
  readonly source: Ordinal;
  readonly target: Ordinal;
}

/** One page of ids, newest first. */
export interface Page {
  readonly ids: readonly string[];
  /** The `order` of each. */
  readonly orders: readonly number[];
  /** Number of all matches. */
  readonly total: number;
}

/** The part of a store in memory; it includes a write from the moment it is accepted. */
export interface Catalogue {
  readonly size: number;
  find(id: string): CatalogueEntry | undefined;
  at(ordinal: Ordinal): CatalogueEntry | undefined;
  /** Stored values, not faded. */
  signalsOf(id: string): Signals | undefined;
  /** Cheaper than `at`, for loops over many. */
  idAt(ordinal: Ordinal): string | undefined;
  /** The memories with that hash (see `duplicateHash`), oldest first: one, unless they were changed to be the same or no longer hold. */
  duplicatesOf(hash: string): Ordinal[];
  /** The memory that took its place, told ones before inferred ones; undefined while it holds. */
  supersession(ordinal: Ordinal, asOf?: number): Supersession | undefined;
  /** Metadata is compared by a hash of 53 bits: a false match is one in 10¹⁵ pairs. */
  select(filter: MemoryFilter): Selection;
  /** Newest first; `before` is an `order`: only older ones. `offset` counts from there. */
  page(filter: MemoryFilter, page: PageRequest): Page;
  /**
   * The memories two places before, one before, one after and two after in the same user's same session, undefined at an end of it;
   * none of a memory without a session.
   */
  around(ordinal: Ordinal): readonly (Ordinal | undefined)[];
  /**
   * The memory `distance` places before (negative) or after in its session; for one without a session, among all of its user that have
   * none. Undefined at an end.
   */
  seriesNeighbour(ordinal: Ordinal, distance: number): Ordinal | undefined;
  /** The memories of the same document that were added right before and after. */
  documentNeighbours(ordinal: Ordinal): Ordinal[];
  /** Stored edges that leave or reach a memory, strongest first. */
  edgesOf(id: string): readonly EdgeRow[];
  /** As `edgesOf`, in no order: fast enough for hundreds of memories per question. */
  edgesAt(ordinal: Ordinal): readonly OrdinalEdge[];
  findRequest(key: string): RequestRow | undefined;
  readonly facts: FactReads;
  readonly documents: DocumentReads;
  readonly versions: VersionReads;
  /** The changes that remove expired requests; none if they were looked for within the last hour. */
  expiredRequests(): Change[];
  sectorCounts(filter: MemoryFilter): Readonly<Record<Sector, number>>;
  /** By user id; without memories that have no owner. Cost: linear in all memories. */
  users(): ReadonlyMap<string, UserMemories>;
}

/** Figures of one user's memories. */
export interface UserMemories {
  readonly count: number;
  /** `occurredAt` of the earliest and of the latest. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Scores of memories for one question, until its caller awaits anything: others use their numbers' place then. */
export interface Scores {
  /** The score of any memory, selected or not; 0 without a match. */
  of(ordinal: Ordinal): number;
  /**
   * The best of those selected, or of others, by descending score, ties newest first; only scores above 0. Of vectors in large
   * stores it may miss some; see `VectorIndex`.
   */
  top(limit: number, among?: Selection): Ordinal[];
}

/** A term of a question and its weight. */
export type QueryTerm = { readonly term: string; readonly weight: number };

/** Values for the synchronous section of a write; valid only while it runs. */
export interface WriteSection {
  /** The time of the record: the clock's, or an earlier record's that is at most `CLOCK_STEP_MS` ahead of it. */
  readonly now: number;
  /** The `order` of the record's first new memory; further ones follow by 1. */
  readonly nextOrder: number;
  /**
   * The time from which the days of what is kept count, certain enough to remove something for good: never that of a clock that
   * has just jumped.
   */
  readonly believedNow: number;
}

/** The changes and the answer of a write. */
export interface Decision<T> {
  readonly changes: readonly Change[];
  readonly result: T;
  /** The user whose data it erases: nothing else of that user stays in the feed. */
  readonly erases?: string;
}

/** Long synchronous work, which yields every few milliseconds at the most. */
export type Steps<T> = Generator<void, T>;
export type Decide<T> = (section: WriteSection) => Decision<T> | Steps<Decision<T>>;

/** Keeps memories, facts and documents. A resolved write is on the disk and visible to every later read. */
export interface MemoryStore {
  readonly catalogue: Catalogue;
  /**
   * Makes one atomic write. `decide` is synchronous: it sees every write accepted before and returns the changes; it
   * throws to write nothing. Without changes nothing is written, but earlier accepted writes are awaited. It may be asked again,
   * and the last answer counts. A `decide` that
   * yields lets reads come in between, and no other write.
   * @throws whatever `decide` throws; {ServiceError} STORE_FULL, NOT_READY (closed, or read-only after a disk error).
   */
  commit<T>(decide: Decide<T>): Promise<T>;
  /** Resolves if a write that adds would be accepted now. @throws {ServiceError} STORE_FULL, NOT_READY. */
  assertWritable(): Promise<void>;
  /** The existing memories among `ids`, each with its document's current name. */
  readMemories(ids: readonly string[]): Promise<Map<string, SeenMemory>>;
  /** As `readMemories`, as they are stored. */
  readRows(ids: readonly string[]): Promise<Map<string, MemoryRow>>;
  /** The kept versions among those ids, see `VersionEntry`. */
  readVersions(ids: readonly string[]): Promise<Map<string, VersionRow>>;
  /** Compares the clock with the time that is believed. To be called once per hour, or more often. */
  lookAtClock(): Promise<void>;
  /**
   * Token vectors of those among `ids` that have any. Valid until the caller's next `await`: a later read may reuse their buffer. Copy
   * them to keep them.
   */
  readTokens(ids: readonly string[]): Promise<Map<string, TokenVectors>>;
  /** Word statistics of the selected memories, or of all. */
  termStatistics(among?: Selection): TermStatistics;
  /** BM25 (see `bm25.ts`); the weight of a term includes how rare it is. `averageLength`: terms of the average memory. */
  scoreWords(terms: readonly QueryTerm[], averageLength: number, selection?: Selection): Scores;
  /** Which memories have a term. */
  havingTerm(term: string): (ordinal: Ordinal) => boolean;
  /** Cosine with the best window; negative ones count as 0. */
  scoreVectors(vector: Float32Array, selection?: Selection): Scores;
  /** The embeddings of a memory's windows, in order, each within .002 of the one it was written with; none while they are not durable. */
  windowsOf(ordinal: Ordinal): Float32Array[];
}
