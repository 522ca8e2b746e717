import { describe, expect, it } from "vitest";
import { EVERY_REMAINS } from "../support/faulty-disk.ts";
import { survive } from "../support/store-survival.ts";
import { strideOf } from "../support/stress.ts";

/**
 * Opening, journal, tables, checkpoints, compaction and the removal of old files take some hundred steps per life.
 * A failed run names its seed, step and the steps around it.
 */
describe("a store that lives on through failures has all it acknowledged, once, and finds it", () => {
  it.each([
    { seed: 3, fault: "EIO", remains: ["mixed", "zeroed"], stride: strideOf(151) },
    { seed: 3, fault: "ENOSPC", remains: [], stride: strideOf(211) },
    { seed: 11, fault: "crash", remains: EVERY_REMAINS, stride: strideOf(33) },
    { seed: 12, fault: "crash", remains: [], stride: strideOf(87) },
    { seed: 13, fault: "EIO", remains: EVERY_REMAINS, stride: strideOf(87) },
    { seed: 14, fault: "EIO", remains: [], stride: strideOf(111) },
    { seed: 15, fault: "ENOSPC", remains: [], stride: strideOf(87) },
    { seed: 16, fault: "short-write", remains: EVERY_REMAINS, stride: strideOf(111) },
  ] as const)("seed $seed: $fault at every step of a life that $stride divides", async (life) => {
    expect(await survive(life)).toBeGreaterThan(1);
  });
});
