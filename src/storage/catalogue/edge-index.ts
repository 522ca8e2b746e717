import type { Ordinal, OrdinalEdge } from "../../core/ports.ts";

/** Waypoints by either end. Few memories have any, and those have few. */
export class EdgeIndex {
  readonly #edges = new Map<Ordinal, OrdinalEdge[]>();

  /** Edges that leave or reach a memory. */
  of(ordinal: Ordinal): readonly OrdinalEdge[] {
    return this.#edges.get(ordinal) ?? [];
  }

  get(source: Ordinal, target: Ordinal, kind: OrdinalEdge["kind"]): OrdinalEdge | undefined {
    return this.of(source).find(
      (edge) => edge.source === source && edge.target === target && edge.kind === kind,
    );
  }

  /** Puts an edge in the place of the one with its ends and kind. */
  put(edge: OrdinalEdge): void {
    this.remove(edge);
    for (const end of new Set([edge.source, edge.target])) {
      const edges = this.#edges.get(end);
      if (edges === undefined) this.#edges.set(end, [edge]);
      else edges.push(edge);
    }
  }

  remove({ source, target, kind }: Pick<OrdinalEdge, "source" | "target" | "kind">): void {
    const known = this.get(source, target, kind);
    if (known === undefined) return;
    for (const end of [source, target]) {
      const others = this.of(end).filter((edge) => edge !== known);
      if (others.length > 0) this.#edges.set(end, others);
      else this.#edges.delete(end);
    }
  }

  /** For an image. */
  get all(): OrdinalEdge[] {
    return [...this.#edges].flatMap(([ordinal, edges]) => edges.filter(({ source }) => source === ordinal));
  }
}
