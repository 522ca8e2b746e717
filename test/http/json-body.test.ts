import { describe, expect, it } from "vitest";
import { inTurns } from "../../src/http/batch.ts";

describe("long work", () => {
  it("lets others have their turn", async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const seen = await inTurns(
      (function* () {
        const seen: number[] = [];
        for (let step = 0; step < 4; step += 1) {
          for (const ends = performance.now() + 30; performance.now() < ends;);
          yield seen.push(turns);
        }
        return seen;
      })(),
    );
    clearImmediate(next);
    expect(seen).toEqual([...new Set(seen)]);
  });
});
