import type { Catalogue, CatalogueEntry, MemoryStore } from "../ports.ts";
import { type Change, edgeId, type EdgeRow, type Waypoint } from "../rows.ts";
import { neighboursOf } from "./infer-updates.ts";

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

/** Nearest memories that `similar` waypoints join one with. */
const MAX_SIMILAR = 8;

/**
 * The `similar` waypoints between a memory and those nearest in meaning, from the later one to the earlier, weighted by cosine.
 * Cost: as `neighboursOf`.
 *
 * @param least see `EmbeddingProfile.similar`
 */
export function similarWaypoints(
  store: Pick<MemoryStore, "catalogue" | "scoreVectors" | "windowsOf">,
  memory: CatalogueEntry,
  least: number,
): Waypoint[] {
  return neighboursOf(store, memory)
    .filter(({ likeness }) => likeness >= least)
    .slice(0, MAX_SIMILAR)
    .map(({ other, likeness }) => {
      const [earlier, later] = other.ordinal < memory.ordinal ? [other, memory] : [memory, other];
      return { source: later.id, target: earlier.id, kind: "similar", weight: Math.min(1, likeness) };
    });
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
