import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fadedSalience, HALF_LIVES, reinforced } from "../../../src/core/memories/reinforce-memory.ts";

const DAY_MS = 86_400_000;

describe("fadedSalience", () => {
  it("halves with every half-life, in whole days", () => {
    const signals = { salience: 0.8, lastSeenAt: 5 };
    expect(fadedSalience(signals, 5 + 10 * DAY_MS, 10 * DAY_MS)).toBeCloseTo(0.4, 12);
    expect(fadedSalience(signals, 5 + DAY_MS - 1, 10 * DAY_MS)).toBe(0.8);
  });

  it("never rises, never falls below 0, and stands still without fading or when the clock went back", () => {
    const signals = fc.record({
      salience: fc.double({ min: 0, max: 1, noNaN: true }),
      lastSeenAt: fc.nat(1e12),
    });
    fc.assert(
      fc.property(signals, fc.nat(1e12), (seen, elapsed) => {
        const faded = fadedSalience(seen, seen.lastSeenAt + elapsed, HALF_LIVES.episodic);
        expect(faded).toBeGreaterThanOrEqual(0);
        expect(faded).toBeLessThanOrEqual(seen.salience);
        expect(fadedSalience(seen, seen.lastSeenAt + elapsed, Infinity)).toBe(seen.salience);
        expect(fadedSalience(seen, seen.lastSeenAt - elapsed, HALF_LIVES.episodic)).toBe(seen.salience);
      }),
    );
  });
});

describe("reinforced", () => {
  it("adds a share of what is missing", () => {
    expect(reinforced(0.5, 0.1)).toBeCloseTo(0.55, 12);
    expect([reinforced(0.5, 0), reinforced(0.5, 1), reinforced(1, 0.3)]).toEqual([0.5, 1, 1]);
  });
});
