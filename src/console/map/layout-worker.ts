/** Lays a graph out by force atlas 2, away from the page: posts positions, x and y of each node in turn, as they settle. */
import { MultiUndirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

/** Nodes are numbered; an edge is two of them in `ends`. */
export interface LayoutTask {
  readonly positions: Float32Array;
  readonly ends: Uint32Array;
  readonly weights: Float32Array;
}

export interface LayoutStep {
  readonly positions: Float32Array;
  readonly isLast: boolean;
}

const STEPS = 25;
const ITERATIONS_PER_STEP = 12;

addEventListener("message", ({ data: { positions, ends, weights } }: MessageEvent<LayoutTask>) => {
  const graph = new MultiUndirectedGraph();
  for (let node = 0; node < positions.length / 2; node += 1)
    graph.addNode(node, { x: positions[2 * node], y: positions[2 * node + 1] });
  for (const [edge, weight] of weights.entries())
    graph.addEdge(ends[2 * edge], ends[2 * edge + 1], { weight });
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: graph.order > 500,
    adjustSizes: false,
  };
  for (let step = 1; step <= STEPS; step += 1) {
    forceAtlas2.assign(graph, { iterations: ITERATIONS_PER_STEP, settings });
    const laidOut = new Float32Array(positions.length);
    graph.forEachNode((node, { x, y }) => laidOut.set([x as number, y as number], 2 * Number(node)));
    postMessage({ positions: laidOut, isLast: step === STEPS } satisfies LayoutStep);
  }
  close();
});
