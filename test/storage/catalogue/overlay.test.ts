import { describe, expect, it } from "vitest";
import type { Change } from "../../../src/core/rows.ts";
import { Overlay } from "../../../src/storage/catalogue/overlay.ts";

const seen = (id: string, salience: number): Change => ({
  table: "signals",
  id,
  row: { salience, lastSeenAt: 1 },
});
const gone = (id: string): Change => ({ table: "signals", id, row: null });

describe("Overlay", () => {
  it("holds the last state of each row", () => {
    const overlay = new Overlay();
    overlay.put(1, [seen("a", 0.1), seen("b", 0.2)]);
    overlay.put(2, [seen("a", 0.3), gone("b")]);
    expect(overlay.get("signals", "a")).toMatchObject({ salience: 0.3 });
    expect(overlay.get("signals", "b")).toBeNull();
    expect(overlay.get("signals", "c")).toBeUndefined();
    expect(overlay.rows).toBe(2);
  });

  it("snapshots one change a row, as of the last record", () => {
    const overlay = new Overlay();
    overlay.put(4, [seen("a", 0.1)]);
    overlay.put(5, [seen("a", 0.2)]);
    expect(overlay.snapshot()).toEqual({ changes: [seen("a", 0.2)], sequence: 5 });
  });

  it("keeps on release what changed after the snapshot", async () => {
    const overlay = new Overlay();
    overlay.put(1, [seen("a", 0.1), seen("b", 0.1)]);
    const { sequence } = overlay.snapshot();
    overlay.put(2, [seen("b", 0.2)]);
    await overlay.release(sequence);
    expect(overlay.get("signals", "a")).toBeUndefined();
    expect(overlay.get("signals", "b")).toMatchObject({ salience: 0.2 });
  });

  it("weighs nothing when everything is released", async () => {
    const overlay = new Overlay();
    overlay.put(1, [seen("a", 0.1), gone("b")]);
    overlay.put(2, [seen("a", 0.2)]);
    expect(overlay.bytes).toBeGreaterThan(0);
    await overlay.release(2);
    expect([overlay.rows, overlay.bytes]).toEqual([0, 0]);
  });
});
