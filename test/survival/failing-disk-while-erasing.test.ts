import { describe, expect, it } from "vitest";
import { EVERY_REMAINS } from "../support/faulty-disk.ts";
import { survive } from "../support/store-survival.ts";
import { strideOf } from "../support/stress.ts";

/** As `failing-disk.test.ts`, with the erasing of what was deleted beside all else. */
describe("a store that erases and lives on through failures has all it acknowledged, once, and finds it", () => {
  it.each([
    { seed: 5, fault: "crash", remains: ["zeroed", "mixed", "truncated", "kept"], stride: strideOf(173) },
    { seed: 5, fault: "EIO", remains: ["mixed", "zeroed"], stride: strideOf(233) },
    { seed: 17, fault: "crash", remains: EVERY_REMAINS, stride: strideOf(39) },
    { seed: 18, fault: "crash", remains: [], stride: strideOf(93) },
    { seed: 19, fault: "EIO", remains: EVERY_REMAINS, stride: strideOf(93) },
    { seed: 20, fault: "ENOSPC", remains: [], stride: strideOf(111) },
  ] as const)("seed $seed: $fault at every step of a life that $stride divides", async (life) => {
    expect(await survive({ ...life, erasing: true })).toBeGreaterThan(0);
  });
});
