import type { MemoryPorts } from "./memory-ports.ts";
import { type Memory, occurredAtOf, type Owned } from "../memory.ts";
import { visible } from "../owned.ts";
import type { Catalogue, CatalogueEntry, MemoryFilter } from "../ports.ts";
import { edgeId, type EdgeRow } from "../rows.ts";
import { shortened } from "../text/text-size.ts";

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
  const ids = walk(catalogue, start, { depth, limit: MAX_NODES, mayReach: () => true });
  const memories = await store.readMemories(ids);
  const nodes = ids.flatMap((node) => memories.get(node) ?? []);
  return { nodes, edges: waypointsAmong(catalogue, memories) };
}

export interface MemoryGraphInput {
  readonly filter: MemoryFilter;
  readonly limit: number;
  /** From this memory over at most that many waypoints; without it the newest memories. */
  readonly around?: { readonly id: string; readonly depth: number };
}

type GraphNode = Pick<Memory, "id" | "primarySector" | keyof Owned> & { text: string; occurredAt: number };

const TEXT_CHARS = 120;
/** Long texts are not all in memory at a time. */
const ROWS_PER_READ = 250;

/**
 * The memories that match, newest first, and the waypoints between them; `total` is the number of all that match. A walk passes over matching memories only; it begins at
 * `around` whether that matches or not. @throws {ServiceError} NOT_FOUND for `around`.
 */
export async function memoryGraph(
  { store, nextTurn }: Pick<MemoryPorts, "store" | "nextTurn">,
  { filter, limit, around }: MemoryGraphInput,
) {
  const { catalogue } = store;
  const matching = catalogue.select(filter);
  const ids =
    around === undefined
      ? catalogue.page(filter, { limit, offset: 0 }).ids
      : walk(catalogue, visible("memory", catalogue.find(around.id), filter.userId), {
          depth: around.depth,
          limit,
          mayReach: ({ ordinal }) => matching.has(ordinal),
        });
  const nodes = new Map<string, GraphNode>();
  for (let first = 0; first < ids.length; first += ROWS_PER_READ) {
    const wanted = ids.slice(first, first + ROWS_PER_READ);
    const memories = await store.readMemories(wanted);
    for (const memory of wanted.flatMap((id) => memories.get(id) ?? [])) {
      const { id, userId, project, primarySector, content } = memory;
      const text = shortened(
        content
          .slice(0, 10 * TEXT_CHARS)
          .replace(/\s+/g, " ")
          .trim(),
        TEXT_CHARS,
      );
      nodes.set(id, { id, userId, project, primarySector, text, occurredAt: occurredAtOf(memory) });
    }
    await nextTurn();
  }
  return { nodes: [...nodes.values()], edges: waypointsAmong(catalogue, nodes), total: matching.size };
}

interface Walk {
  readonly depth: number;
  /** Maximum number of memories, the first included. */
  readonly limit: number;
  readonly mayReach: (entry: CatalogueEntry) => boolean;
}

/** Ids of the memories that waypoints lead to, in either direction, never to another user's: by distance, then by weight. */
function walk(
  catalogue: Catalogue,
  start: Pick<CatalogueEntry, "id" | "userId">,
  { depth, limit, mayReach }: Walk,
): string[] {
  const reached = new Set([start.id]);
  let frontier = [start.id];
  for (let step = 0; step < depth && reached.size < limit && frontier.length > 0; step += 1) {
    const strongest = frontier
      .flatMap((node) => [...catalogue.edgesOf(node)])
      .sort((a, b) => b.weight - a.weight);
    frontier = [];
    for (const end of strongest.flatMap(({ source, target }) => [source, target])) {
      if (reached.has(end)) continue;
      const entry = catalogue.find(end);
      if (entry === undefined || entry.userId !== start.userId || !mayReach(entry)) continue;
      if (reached.size === limit) break;
      reached.add(end);
      frontier.push(end);
    }
  }
  return [...reached];
}

/** The waypoints with both ends among the memories; a rejected update is none. */
function waypointsAmong(catalogue: Catalogue, memories: ReadonlyMap<string, unknown>): EdgeRow[] {
  const edges = new Map<string, EdgeRow>();
  for (const id of memories.keys())
    for (const edge of catalogue.edgesOf(id))
      if (edge.weight > 0 && memories.has(edge.source) && memories.has(edge.target))
        edges.set(edgeId(edge), edge);
  return [...edges.values()];
}
