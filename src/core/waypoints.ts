import type { Change, EdgeRow } from "./rows.ts";
import { edgeId } from "./rows.ts";

/** The memory that a new one may follow. */
export interface Predecessor {
  readonly id: string;
  readonly sessionId: string | null;
  readonly createdAt: number;
}

/** Memories of one user without a session belong together when they were added within half an hour. */
const NEXT_WITHIN_MS = 30 * 60 * 1_000;
/** A session says that its memories belong together; nearness in time alone only suggests it. */
const SESSION_WEIGHT = 1;
const NEARNESS_WEIGHT = 0.5;

/** The `next` waypoint from the memory before to a new one; none where nothing ties them. */
export function nextWaypoint(before: Predecessor | undefined, memory: Predecessor): Change[] {
  if (before === undefined) return [];
  if (memory.sessionId === null && memory.createdAt - before.createdAt > NEXT_WITHIN_MS) return [];
  return putEdge({
    source: before.id,
    target: memory.id,
    kind: "next",
    weight: memory.sessionId === null ? NEARNESS_WEIGHT : SESSION_WEIGHT,
    createdAt: memory.createdAt,
  });
}

function putEdge(row: EdgeRow): Change[] {
  return [{ table: "edges", id: edgeId(row), row }];
}

/** The changes that remove edges. */
export function removeEdges(edges: readonly EdgeRow[]): Change[] {
  return edges.map((edge) => ({ table: "edges", id: edgeId(edge), row: null }));
}
