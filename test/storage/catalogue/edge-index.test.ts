import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredEdgeKind } from "../../../src/core/rows.ts";
import { EdgeIndex } from "../../../src/storage/catalogue/edge-index.ts";

function edgesAt(index: EdgeIndex, ordinal: number): string[] {
  return index
    .of(ordinal)
    .map(({ source, target, kind, weight }) => `${source}>${target}:${kind}=${weight}`)
    .sort();
}

describe("EdgeIndex", () => {
  it("finds an edge from either end", () => {
    const index = new EdgeIndex();
    const edge = { source: 3, target: 7, kind: "link", weight: 1, createdAt: 5 } as const;
    index.put(edge);
    expect(edgesAt(index, 3)).toEqual(["3>7:link=1"]);
    expect(edgesAt(index, 7)).toEqual(["3>7:link=1"]);
    expect(edgesAt(index, 5)).toEqual([]);
    expect(index.get(3, 7, "link")).toEqual(edge);
    expect(index.all).toEqual([edge]);
  });

  it("agrees with a plain list after any puts and removals", () => {
    const step = fc.record({
      remove: fc.boolean(),
      source: fc.nat(4),
      target: fc.nat(4),
      kind: fc.constantFrom<StoredEdgeKind>("updates", "link"),
      weight: fc.constantFrom(0.25, 0.5, 1),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const index = new EdgeIndex();
        const model = new Map<string, number>();
        for (const { remove, source, target, kind, weight } of steps.filter((s) => s.source !== s.target)) {
          if (remove) index.remove({ source, target, kind });
          else index.put({ source, target, kind, weight, createdAt: 0 });
          if (remove) model.delete(`${source}>${target}:${kind}`);
          else model.set(`${source}>${target}:${kind}`, weight);
        }
        for (let ordinal = 0; ordinal < 5; ordinal += 1) {
          const expected = Array.from(model, ([edge, weight]) => `${edge}=${weight}`).filter(
            (edge) => edge.startsWith(`${ordinal}>`) || edge.includes(`>${ordinal}:`),
          );
          expect(edgesAt(index, ordinal)).toEqual(expected.sort());
        }
      }),
    );
  });
});
