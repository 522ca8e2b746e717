import type { Catalogue } from "../ports.ts";
import { type Change, edgeId, type EdgeRow } from "../rows.ts";
import type { Neighbour } from "./infer-updates.ts";

/** A memory that a new one may follow. */
export interface Predecessor {
  readonly id: string;
  readonly sessionId: string | null;
  readonly createdAt: number;
  /** The document it was cut from; null for other memories. */
  readonly documentId?: string | null;
}

/** Memories of one user without a session belong together when they were added within half an hour. */
const NEXT_WITHIN_MS = 30 * 60 * 1_000;
/** Memories of a session belong together for certain; nearness in time only suggests it. */
const SESSION_WEIGHT = 1;
const NEARNESS_WEIGHT = 0.5;

/** The `next` waypoint from the memory before to a new one; none where they do not belong together. */
export function nextWaypoint(before: Predecessor | undefined, memory: Predecessor): Change[] {
  // A memory added after a document does not continue the document's last chunk.
  if (before === undefined || (before.documentId ?? null) !== null) return [];
  // Negative for a restored memory that is older than the present ones.
  const gap = memory.createdAt - before.createdAt;
  if (memory.sessionId === null && (gap < 0 || gap > NEXT_WITHIN_MS)) return [];
  return putEdge({
    source: before.id,
    target: memory.id,
    kind: "next",
    weight: memory.sessionId === null ? NEARNESS_WEIGHT : SESSION_WEIGHT,
    createdAt: memory.createdAt,
  });
}

/** Maximum links that a new memory makes, and that it receives from later ones. */
const MAX_SIMILAR_OUT = 4;
const MAX_SIMILAR_IN = 8;

/**
 * The `similar` waypoints to the nearest, weighted by cosine; both directions are bounded.
 *
 * @param neighbours nearest first; full ones are skipped, so that more may be needed than are linked
 * @param minSimilarity see `EmbeddingProfile.similar`
 */
export function similarWaypoints(
  catalogue: Catalogue,
  id: string,
  neighbours: readonly Neighbour[],
  minSimilarity: number,
  now: number,
): Change[] {
  const changes: Change[] = [];
  // A remake that was interrupted comes to memories that have some.
  const made = catalogue.edgesOf(id).filter(({ kind, source }) => kind === "similar" && source === id).length;
  for (const { other, likeness: weight } of neighbours) {
    if (weight < minSimilarity || made + changes.length >= MAX_SIMILAR_OUT) break;
    // Deleted or changed since it was compared; a new text gets links of its own.
    if (catalogue.find(other.id)?.version !== other.version) continue;
    const similar = catalogue.edgesOf(other.id).filter(({ kind }) => kind === "similar");
    const isLinked = similar.some(({ source, target: end }) => source === id || end === id);
    const isFull = similar.filter(({ target: end }) => end === other.id).length >= MAX_SIMILAR_IN;
    if (!isLinked && !isFull)
      changes.push(...putEdge({ source: id, target: other.id, kind: "similar", weight, createdAt: now }));
  }
  return changes;
}

const putEdge = (row: EdgeRow): Change[] => [{ table: "edges", id: edgeId(row), row }];

/** The changes that remove edges. */
export const removeEdges = (edges: readonly EdgeRow[]): Change[] =>
  edges.map((edge) => ({ table: "edges", id: edgeId(edge), row: null }));

/** The changes that reject all inferred updates of a memory for good. */
export function rejectUpdates(catalogue: Catalogue, id: string): Change[] {
  return catalogue
    .edgesOf(id)
    .filter(({ kind, target, weight }) => kind === "updates" && target === id && weight > 0)
    .flatMap((edge) => putEdge({ ...edge, weight: 0 }));
}
