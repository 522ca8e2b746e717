import { describe, expect, it } from "vitest";
import { EVERY_REMAINS } from "../support/faulty-disk.ts";
import { survive } from "../support/store-survival.ts";

/** As `failing-disk.test.ts`, with the erasing of what was deleted beside all else. */
describe("a store that erases and lives on through failures has all it acknowledged, once, and finds it", () => {
  it.each([
    { seed: 17, fault: "crash", remains: EVERY_REMAINS, stride: 13 },
    { seed: 18, fault: "crash", remains: [], stride: 31 },
    { seed: 19, fault: "EIO", remains: EVERY_REMAINS, stride: 31 },
    { seed: 20, fault: "ENOSPC", remains: [], stride: 37 },
  ] as const)("seed $seed: $fault at every step of a life that $stride divides", async (life) => {
    expect(await survive({ ...life, erasing: true })).toBeGreaterThan(5);
  });
});
