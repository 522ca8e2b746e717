import type { Catalogue, CatalogueEntry } from "../ports.ts";
import { type Change, edgeId, type EdgeRow, type Waypoint } from "../rows.ts";
import type { Neighbour } from "./infer-updates.ts";

/** Memories of one user without a session belong together when they were added within half an hour. */
const NEXT_WITHIN_MS = 30 * 60 * 1_000;
/** Memories of a session belong together for certain; nearness in time only suggests it. */
const SESSION_WEIGHT = 1;
const NEARNESS_WEIGHT = 0.5;
/** As in a session. */
const SAME_DOCUMENT_WEIGHT = 1;

/**
 * The waypoints that follow from the place of a memory: `same-document` to the memories before and after in its document, else
 * `next` to those added before and after it in its session or, without one, within half an hour.
 */
export function waypointsByPlace(catalogue: Catalogue, memory: CatalogueEntry): Waypoint[] {
  const { id, ordinal, documentId } = memory;
  const document = documentId === null ? undefined : catalogue.documents.byId.get(documentId);
  if (document !== undefined) {
    const isThere = (other: string) => catalogue.find(other)?.documentId === documentId;
    const place = document.memoryIds.indexOf(id);
    const before = document.memoryIds.slice(0, Math.max(0, place)).findLast(isThere);
    const after = document.memoryIds.slice(place + 1).find(isThere);
    return [...steps(id, after), ...steps(before, id)];
  }
  const beside = (distance: number) => {
    const other = catalogue.seriesNeighbour(ordinal, distance);
    return other === undefined ? undefined : catalogue.at(other);
  };
  return [...next(memory, beside(1)), ...next(beside(-1), memory)];
}

function steps(source: string | undefined, target: string | undefined): Waypoint[] {
  if (source === undefined || target === undefined) return [];
  return [{ source, target, kind: "same-document", weight: SAME_DOCUMENT_WEIGHT }];
}

function next(before: CatalogueEntry | undefined, after: CatalogueEntry | undefined): Waypoint[] {
  if (before === undefined || after === undefined) return [];
  // A memory added after a document does not continue the document's last chunk.
  if (before.documentId !== null || after.documentId !== null) return [];
  const weight = after.sessionId === null ? NEARNESS_WEIGHT : SESSION_WEIGHT;
  // Negative for a restored memory that is older than the present ones.
  const gap = after.createdAt - before.createdAt;
  const isNear = after.sessionId !== null || (gap >= 0 && gap <= NEXT_WITHIN_MS);
  return isNear ? [{ source: before.id, target: after.id, kind: "next", weight }] : [];
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
