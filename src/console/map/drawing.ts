/** The graph of notes on a WebGL canvas, by sigma. */
import { MultiGraph } from "graphology";
import { Sigma } from "sigma";
import type { MemoryGraph } from "../../client/client.ts";
import { short } from "../format.ts";
import type { LayoutStep, LayoutTask } from "./layout-worker.ts";

type GraphNode = MemoryGraph["nodes"][number];

const LABEL_CHARS = 32;
/** Between two labels at least, CSS pixels. */
const LABEL_GAP = 4;
const [SMALLEST, LARGEST] = [4, 12];
/** Nodes of a larger graph are smaller. */
const NODES_AT_FULL_SIZE = 300;

export interface Drawing {
  /** Shows another graph; nodes that were there before stay where they are until the layout moves them. */
  show(graph: MemoryGraph): void;
  /** Redraws with these colours by node and this one selected. */
  paint(colourOf: (node: GraphNode) => string, selected: string | undefined): void;
  zoom(direction: "in" | "out" | "whole"): void;
  remove(): void;
}

export interface DrawingEvents {
  readonly onPick: (id: string) => void;
  /** Pressed twice. */
  readonly onGrow: (id: string) => void;
  readonly onSettled: (isSettled: boolean) => void;
  /** The browser took WebGL away. */
  readonly onLost: () => void;
}

export function hasWebGl(): boolean {
  const canvas = document.createElement("canvas");
  return (canvas.getContext("webgl2") ?? canvas.getContext("webgl")) !== null;
}

export function drawGraph(container: HTMLElement, events: DrawingEvents): Drawing {
  const places = new Map<string, { x: number; y: number }>();
  let worker: Worker | undefined;
  let colourOf: (node: GraphNode) => string = () => "#888";
  let selected: string | undefined;
  /** Places of the labels of this frame, CSS pixels. */
  let labels: { left: number; right: number; top: number; bottom: number }[] = [];
  const { color: textColour, borderColor, backgroundColor } = getComputedStyle(container);
  const renderer: Sigma = new Sigma(new MultiGraph(), container, {
    allowInvalidContainer: true,
    labelColor: { color: textColour },
    labelFont: "system-ui, sans-serif",
    labelDensity: 0.25,
    labelGridCellSize: 160,
    stagePadding: 50,
    labelRenderedSizeThreshold: 5.5,
    hideEdgesOnMove: true,
    zIndex: true,
    minCameraRatio: 0.02,
    maxCameraRatio: 3,
    nodeReducer: (id, data) => ({
      ...data,
      color: colourOf(data["node"] as GraphNode),
      ...(id === selected && { highlighted: true, zIndex: 1, size: 1.6 * (data["size"] as number) }),
    }),
    edgeReducer: (edge, data) => {
      const isOfSelected = selected !== undefined && renderer.getGraph().extremities(edge).includes(selected);
      return { ...data, color: isOfSelected ? textColour : borderColor, zIndex: isOfSelected ? 1 : 0 };
    },
    // The largest come first; a label that would lie over an earlier one is left out until one comes closer.
    defaultDrawNodeLabel: (context, { x, y, size, label }, { labelFont, labelSize }) => {
      if (typeof label !== "string") return;
      context.font = `${labelSize}px ${labelFont}`;
      const { width } = context.measureText(label);
      const right = x + size + 3;
      const left = right + width <= container.clientWidth ? right : x - size - 3 - width;
      const box = { left, right: left + width, top: y - labelSize / 2, bottom: y + labelSize / 2 };
      const isTaken = labels.some(
        (other) =>
          box.left < other.right + LABEL_GAP &&
          other.left < box.right + LABEL_GAP &&
          box.top < other.bottom + LABEL_GAP &&
          other.top < box.bottom + LABEL_GAP,
      );
      if (isTaken) return;
      labels.push(box);
      // Legible over nodes and lines.
      context.strokeStyle = backgroundColor;
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeText(label, left, y + labelSize / 3);
      context.fillStyle = textColour;
      context.fillText(label, left, y + labelSize / 3);
    },
    defaultDrawNodeHover: (context, { x, y, size, label, color }, { labelFont, labelSize }) => {
      context.font = `${labelSize}px ${labelFont}`;
      const width = typeof label === "string" ? context.measureText(label).width + size + 12 : 0;
      context.fillStyle = backgroundColor;
      context.strokeStyle = textColour;
      context.beginPath();
      context.roundRect(x - size - 4, y - size - 4, 2 * size + width + 4, 2 * size + 8, size + 4);
      context.fill();
      context.stroke();
      context.fillStyle = color;
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = textColour;
      if (typeof label === "string") context.fillText(label, x + size + 4, y + labelSize / 3);
    },
  });
  renderer.on("beforeRender", () => (labels = []));
  renderer.on("clickNode", ({ node }) => events.onPick(node));
  renderer.on("doubleClickNode", (event) => {
    event.preventSigmaDefault();
    events.onGrow(event.node);
  });
  container.addEventListener("webglcontextlost", events.onLost, true);

  const layOut = (task: LayoutTask, ids: readonly string[]) => {
    worker?.terminate();
    worker = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    events.onSettled(false);
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    worker.addEventListener("message", ({ data: { positions, isLast } }: MessageEvent<LayoutStep>) => {
      for (const [index, id] of ids.entries())
        places.set(id, { x: positions[2 * index] ?? 0, y: positions[2 * index + 1] ?? 0 });
      if (isLast || !isStill)
        renderer.getGraph().updateEachNodeAttributes((id, data) => ({ ...data, ...places.get(id) }), {
          attributes: ["x", "y"],
        });
      if (isLast) events.onSettled(true);
    });
    worker.postMessage(task);
  };

  return {
    show({ nodes, edges }) {
      const before = renderer.getGraph();
      const ids = nodes.map(({ id }) => id);
      const isKnown = ids.every((id) => places.has(id)) && before.size === edges.length;
      const graph = graphOf(nodes, edges, places);
      renderer.setGraph(graph);
      if (isKnown && before.order === graph.order) return;
      const numbers = new Map(ids.map((id, index) => [id, index]));
      layOut(
        {
          positions: Float32Array.from(
            ids.flatMap((id) => [
              Number(graph.getNodeAttribute(id, "x")),
              Number(graph.getNodeAttribute(id, "y")),
            ]),
          ),
          ends: Uint32Array.from(
            edges.flatMap(({ source, target }) => [numbers.get(source) ?? 0, numbers.get(target) ?? 0]),
          ),
          weights: Float32Array.from(edges, ({ weight }) => weight),
        },
        ids,
      );
    },
    paint(colours, id) {
      colourOf = colours;
      selected = id;
      renderer.refresh({ skipIndexation: true });
    },
    zoom(direction) {
      const camera = renderer.getCamera();
      if (direction === "whole") void camera.animatedReset();
      else void (direction === "in" ? camera.animatedZoom() : camera.animatedUnzoom());
    },
    remove() {
      worker?.terminate();
      container.removeEventListener("webglcontextlost", events.onLost, true);
      renderer.kill();
    },
  };
}

/** New nodes begin beside one they are linked to, where there is one. */
function graphOf(
  nodes: MemoryGraph["nodes"],
  edges: MemoryGraph["edges"],
  places: ReadonlyMap<string, { x: number; y: number }>,
): MultiGraph {
  const graph = new MultiGraph();
  const beside = new Map<string, { x: number; y: number }>();
  const links = new Map<string, number>();
  for (const { source, target } of edges)
    for (const [one, other] of [
      [source, target],
      [target, source],
    ] as const) {
      links.set(one, (links.get(one) ?? 0) + 1);
      const place = places.get(other);
      if (place !== undefined) beside.set(one, place);
    }
  const scale = Math.max(0.45, Math.min(1, Math.sqrt(NODES_AT_FULL_SIZE / nodes.length)));
  for (const [index, node] of nodes.entries()) {
    // On a spiral with a distance of 1 along it and across: notes that were added together begin together.
    const [angle, distance] = [Math.sqrt(4 * Math.PI * index), Math.sqrt(index / Math.PI)];
    const { x, y } = beside.get(node.id) ?? { x: 0, y: 0 };
    const start = { x: x + distance * Math.cos(angle), y: y + distance * Math.sin(angle) };
    graph.addNode(node.id, {
      node,
      label: short(node.text, LABEL_CHARS),
      size: scale * Math.min(LARGEST, SMALLEST + Math.sqrt(links.get(node.id) ?? 0)),
      ...(places.get(node.id) ?? start),
    });
  }
  for (const { source, target, weight } of edges) graph.addEdge(source, target, { size: 0.4 + weight });
  return graph;
}
