import type { DocumentRow, JobRow } from "./documents/document.ts";
import type { Fact } from "./facts/fact.ts";
import type { Memory, Signals } from "./memory.ts";
import type { MemoryTraits } from "./recall/traits.ts";

/**
 * The rows of a store, by table. A write is a list of `Change`s, each a complete row or null for its removal, never a
 * difference: applying one twice gives the same as once, and of several to one id only the last counts.
 */
export interface Rows {
  /** By memory id. */
  readonly memories: MemoryRow;
  /** By memory id: all windows of the memory, replaced together. */
  readonly vectors: VectorRow;
  /** By memory id. */
  readonly tokens: TokenRow;
  /** By memory id; absent while a memory was never reinforced nor found. */
  readonly signals: Signals;
  /** By edge id, see `edgeId`. */
  readonly edges: EdgeRow;
  /** By request key (a hash of caller's key, route, user and Idempotency-Key). */
  readonly requests: RequestRow;
  /** One row a version of a fact, by `factRowId`. */
  readonly facts: Fact;
  /** By document id. */
  readonly documents: DocumentRow;
  /** By job id. */
  readonly jobs: JobRow;
  /** Earlier versions of memories and the trash, by `memory:number`; in no index, without vectors. */
  readonly versions: VersionRow;
}
export type TableName = keyof Rows;
/** The tables that LanceDB has; token vectors have files of their own. */
export type LanceTable = Exclude<TableName, "tokens">;

export type Change = {
  [T in TableName]: { readonly table: T; readonly id: string; readonly row: Rows[T] | null };
}[TableName];

/** A memory with the values that its indexes need. */
export interface MemoryRow extends Memory {
  /** The analyser's terms of content, date and tags, in order, joined by spaces; see `analyser.ts`. */
  readonly terms: string;
  readonly traits: MemoryTraits;
  /** Version of the analyser that wrote `terms` and `traits`. */
  readonly analyserVersion: number;
  /** Equal for identical memories, 32 hex digits; see `duplicateHash`. */
  readonly duplicateHash: string;
}

/** The memory of a row, without the values for indexes. */
export function memoryOf(row: MemoryRow): Memory {
  const { terms: _terms, traits: _traits, analyserVersion: _version, duplicateHash: _hash, ...memory } = row;
  return memory;
}

export interface VectorRow {
  /** The memory's owner, so that a vector search is filtered without a join. */
  readonly userId: string | null;
  /** One per window, in order, at least one. */
  readonly windows: readonly Float32Array[];
  /** See `stampKey`. */
  readonly stamp: string;
}

export type TokenRow = { readonly vectors: Int8Array; readonly stamp: string };

/** Kinds of waypoints that are stored. The others are looked for when somebody asks. */
export const STORED_EDGE_KINDS = ["updates", "link"] as const;
export type StoredEdgeKind = (typeof STORED_EDGE_KINDS)[number];
export type EdgeKind = StoredEdgeKind | "next" | "same-document" | "similar";

export const isStoredKind = (kind: EdgeKind): kind is StoredEdgeKind =>
  (STORED_EDGE_KINDS as readonly EdgeKind[]).includes(kind);

/** `next` and `same-document` point forward in order, `updates` from a later memory to an earlier one, `link` as its
 * writer made it. */
export interface Waypoint {
  readonly source: string;
  readonly target: string;
  readonly kind: EdgeKind;
  /** In (0, 1]; 0 of an `updates` that was rejected: the guess is not made again. */
  readonly weight: number;
}

/** A waypoint that is stored. */
export interface EdgeRow extends Waypoint {
  readonly kind: StoredEdgeKind;
  readonly createdAt: number;
}

/** A request with an Idempotency-Key: hashes and ids, never content. */
export interface RequestRow {
  /** SHA-256 of the body, hex. */
  readonly bodyHash: string;
  /** Ids of its results, in the order of its answer; null for a refused item. */
  readonly ids: readonly (string | null)[];
  readonly createdAt: number;
}

/** The id of an edge: one per pair, direction and kind, so writing it again replaces it. */
export const edgeId = (edge: Pick<Waypoint, "source" | "target" | "kind">): string =>
  `${edge.source}>${edge.target}:${edge.kind}`;

/** The inverse of `edgeId`. */
export function endsOfEdgeId(id: string): Pick<Waypoint, "source" | "target" | "kind"> {
  const arrow = id.indexOf(">");
  const colon = id.indexOf(":", arrow);
  return {
    source: id.slice(0, arrow),
    target: id.slice(arrow + 1, colon),
    kind: id.slice(colon + 1) as EdgeKind,
  };
}

/** The change that made a version, and the one that took its place. */
export type Beginning = "created" | "updated" | "restored";
/** `undeleted`: it came back from the trash as the next version. */
export type Ending = "updated" | "restored" | "deleted" | "undeleted";

/** A version of a memory that is no longer the present one; deleted, while it is in the trash. Times are epoch milliseconds. */
export interface VersionRow {
  readonly memoryId: string;
  readonly userId: string | null;
  readonly version: number;
  /** The memory's. */
  readonly createdAt: number;
  readonly supersedes: readonly string[];
  readonly madeHow: Beginning;
  /** Null where it is not known. */
  readonly madeBy: string | null;
  readonly endedHow: Ending;
  readonly endedBy: string | null;
  readonly endedAt: number;
  /** When and by whom a version that is back was deleted. */
  readonly deletedAt: number | null;
  readonly deletedBy: string | null;
  /** Its days count from here: `endedAt`, but for a clock that jumps; see `BelievedTime`. */
  readonly keptSince: number;
  /** As the memory's row had it. */
  readonly duplicateHash: string;
  readonly memory: Memory;
  readonly signals: Signals;
  /** The document that it was cut from. */
  readonly documentId: string | null;
  /** Id of the first memory of a document in the trash, which brings this other one back. */
  readonly deletedWith: string | null;
  /** SHA-256 of the original that must stay for `document`. */
  readonly original: string | null;
  /** Set for a document's first memory in the trash. */
  readonly document: DocumentRow | null;
  /** Rows of facts that named it as their source when it was deleted. */
  readonly sourceOf: readonly string[];
}
