import type { MemoryPorts } from "./memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { visible } from "../owned.ts";
import { edgeId, type EdgeRow } from "../rows.ts";

export interface RelatedMemoriesInput {
  readonly id: string;
  /** Maximum number of waypoints on the way, 1 to 3. */
  readonly depth: number;
  readonly userId?: string;
}

export interface RelatedMemories {
  /** The memory itself first, then by distance and weight; at most 200. */
  readonly nodes: readonly SeenMemory[];
  /** Between those nodes. */
  readonly edges: readonly EdgeRow[];
}

const MAX_NODES = 200;

/** The memories that waypoints connect with one, in either direction. @throws {ServiceError} NOT_FOUND. */
export async function relatedMemories(
  { store }: Pick<MemoryPorts, "store">,
  { id, depth, userId }: RelatedMemoriesInput,
): Promise<RelatedMemories> {
  const { catalogue } = store;
  const start = visible("memory", catalogue.find(id), userId);
  const reached = new Set([start.id]);
  let frontier = [start.id];
  for (let step = 0; step < depth && reached.size < MAX_NODES; step += 1) {
    const strongest = frontier
      .flatMap((node) => [...catalogue.edgesOf(node)])
      .sort((a, b) => b.weight - a.weight);
    frontier = [];
    for (const end of strongest.flatMap(({ source, target }) => [source, target])) {
      // Waypoints never cross users.
      if (reached.has(end) || catalogue.find(end)?.userId !== start.userId) continue;
      if (reached.size === MAX_NODES) break;
      reached.add(end);
      frontier.push(end);
    }
  }

  const memories = await store.readMemories([...reached]);
  const nodes = [...reached].flatMap((node) => memories.get(node) ?? []);
  const edges = new Map<string, EdgeRow>();
  for (const node of nodes) {
    for (const edge of catalogue.edgesOf(node.id)) {
      if (edge.weight > 0 && memories.has(edge.source) && memories.has(edge.target))
        edges.set(edgeId(edge), edge);
    }
  }
  return { nodes, edges: [...edges.values()] };
}
