import type { MemoryPorts } from "./memory-ports.ts";
import { visible } from "../owned.ts";
import type { Catalogue, CatalogueEntry } from "../ports.ts";
import { edgeId, type Waypoint } from "../rows.ts";
import { waypointsByPlace } from "./waypoints.ts";

const MAX_NODES = 200;

/**
 * The memories that at most `depth` waypoints, 1 to 3, connect with one, in either direction: itself first, then by distance and weight;
 * at most 200, with the waypoints between them. @throws {ServiceError} NOT_FOUND.
 */
export async function relatedMemories(
  { store }: Pick<MemoryPorts, "store">,
  { id, depth, userId }: { readonly id: string; readonly depth: number; readonly userId?: string },
) {
  const { catalogue } = store;
  const start = visible("memory", catalogue.find(id), userId);
  const ids = walk(catalogue, start, depth);
  const memories = await store.readMemories(ids);
  const nodes = ids.flatMap((node) => memories.get(node) ?? []);
  return { nodes, edges: waypointsAmong(catalogue, memories) };
}

/** Ids of the memories that waypoints lead to, in either direction, never to another user's: by distance, then by weight. */
function walk(catalogue: Catalogue, start: Pick<CatalogueEntry, "id" | "userId">, depth: number): string[] {
  const reached = new Set([start.id]);
  let frontier = [start.id];
  for (let step = 0; step < depth && reached.size < MAX_NODES && frontier.length > 0; step += 1) {
    const strongest = frontier
      .flatMap((node) => waypointsOf(catalogue, node))
      .sort((a, b) => b.weight - a.weight);
    frontier = [];
    for (const end of strongest.flatMap(({ source, target }) => [source, target])) {
      if (reached.has(end)) continue;
      const entry = catalogue.find(end);
      if (entry === undefined || entry.userId !== start.userId) continue;
      if (reached.size === MAX_NODES) break;
      reached.add(end);
      frontier.push(end);
    }
  }
  return [...reached];
}

/** The waypoints with both ends among the memories. */
function waypointsAmong(catalogue: Catalogue, memories: ReadonlyMap<string, unknown>): Waypoint[] {
  const edges = new Map<string, Waypoint>();
  for (const id of memories.keys())
    for (const edge of waypointsOf(catalogue, id))
      if (memories.has(edge.source) && memories.has(edge.target)) edges.set(edgeId(edge), edge);
  return [...edges.values()];
}

/** All waypoints of a memory, in no order; a rejected update is none. */
function waypointsOf(catalogue: Catalogue, id: string): Waypoint[] {
  const memory = catalogue.find(id);
  if (memory === undefined) return [];
  const stored = catalogue.edgesOf(id).filter(({ weight }) => weight > 0);
  return [...stored, ...waypointsByPlace(catalogue, memory)];
}
