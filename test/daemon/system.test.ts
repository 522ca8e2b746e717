import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../src/daemon/system.ts";

describe("nextTurn", () => {
  it("lets one of those that wait go on each turn of the event loop", async () => {
    const gone: number[] = [];
    const waiting = Promise.all([0, 1, 2].map((place) => nextTurn().then(() => gone.push(place))));
    const seen: number[] = [];
    while (gone.length < 3) {
      await turn();
      seen.push(gone.length);
    }
    await waiting;
    expect(gone).toEqual([0, 1, 2]);
    expect(seen.every((count, i) => count - (seen[i - 1] ?? 0) <= 1)).toBe(true);
  });
});
