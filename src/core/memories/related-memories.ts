import type { MemoryPorts } from "./memory-ports.ts";
import { type OneRow, visible } from "../owned.ts";
import type { Catalogue, CatalogueEntry } from "../ports.ts";
import { edgeId, type Waypoint } from "../rows.ts";
import { similarWaypoints, waypointsByPlace } from "./waypoints.ts";

const MAX_NODES = 200;

type Ports = Pick<MemoryPorts, "store" | "embedder" | "nextTurn">;

/**
 * The memories that at most `depth` waypoints, 1 to 3, connect with one, in either direction: itself first, then by distance and weight;
 * at most 200, with the waypoints between them. Of those that are furthest away no `similar` ones are looked for. Cost: as
 * `neighboursOf` for each of the others. @throws {ServiceError} NOT_FOUND.
 */
export async function relatedMemories(
  ports: Ports,
  { id, depth, userId }: OneRow & { readonly depth: number },
) {
  const { store } = ports;
  const start = visible("memory", store.catalogue.find(id), userId);
  const { ids, similar } = await walk(ports, start, depth);
  const memories = await store.readMemories(ids);
  const nodes = ids.flatMap((node) => memories.get(node) ?? []);
  const edges = new Map<string, Waypoint>();
  for (const edge of [...ids.flatMap((node) => waypointsOf(store.catalogue, node)), ...similar])
    if (memories.has(edge.source) && memories.has(edge.target)) edges.set(edgeId(edge), edge);
  return { nodes, edges: [...edges.values()] };
}

/** Ids of the memories that waypoints lead to, in either direction, never to another user's: by distance, then by weight. */
async function walk({ store, embedder, nextTurn }: Ports, start: CatalogueEntry, depth: number) {
  const { catalogue } = store;
  const reached = new Set([start.id]);
  const similar: Waypoint[] = [];
  let frontier = [start.id];
  for (let step = 0; step < depth && reached.size < MAX_NODES && frontier.length > 0; step += 1) {
    const edges: Waypoint[] = [];
    for (const node of frontier) {
      await nextTurn();
      const memory = catalogue.find(node);
      if (memory === undefined) continue;
      const found = similarWaypoints(store, memory, embedder.profile.similar);
      similar.push(...found);
      edges.push(...waypointsOf(catalogue, node), ...found);
    }
    edges.sort((a, b) => b.weight - a.weight);
    frontier = [];
    for (const end of edges.flatMap(({ source, target }) => [source, target])) {
      if (reached.has(end)) continue;
      const entry = catalogue.find(end);
      if (entry === undefined || entry.userId !== start.userId) continue;
      if (reached.size === MAX_NODES) break;
      reached.add(end);
      frontier.push(end);
    }
  }
  return { ids: [...reached], similar };
}

/** All waypoints of a memory but the `similar` ones, in no order; a rejected update is none. */
function waypointsOf(catalogue: Catalogue, id: string): Waypoint[] {
  const memory = catalogue.find(id);
  if (memory === undefined) return [];
  const stored = catalogue.edgesOf(id).filter(({ weight }) => weight > 0);
  return [...stored, ...waypointsByPlace(catalogue, memory)];
}
