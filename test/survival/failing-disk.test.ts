import { describe, expect, it } from "vitest";
import { EVERY_REMAINS } from "../support/faulty-disk.ts";
import { survive } from "../support/store-survival.ts";

/**
 * What the fast tests do at some steps of the disk, at many: opening, journal, tables, checkpoints, compaction and the
 * removal of old files take some hundred steps a life. A failed run names its seed, step and the steps around it.
 */
describe("a store that lives on through failures has all it acknowledged, once, and finds it", () => {
  it.each([
    { seed: 11, fault: "crash", remains: EVERY_REMAINS, stride: 11 },
    { seed: 12, fault: "crash", remains: [], stride: 29 },
    { seed: 13, fault: "EIO", remains: EVERY_REMAINS, stride: 29 },
    { seed: 14, fault: "EIO", remains: [], stride: 37 },
    { seed: 15, fault: "ENOSPC", remains: [], stride: 29 },
    { seed: 16, fault: "short-write", remains: EVERY_REMAINS, stride: 37 },
  ] as const)("seed $seed: $fault at every step of a life that $stride divides", async (life) => {
    expect(await survive(life)).toBeGreaterThan(5);
  });
});
