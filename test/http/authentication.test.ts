import { beforeEach, expect, it } from "vitest";
import { TokenBuckets } from "../../src/http/authentication.ts";

const clock = { at: 0, now: () => clock.at };
beforeEach(() => {
  clock.at = 1_000_000;
});

const buckets = (maxBuckets = 10) => new TokenBuckets({ capacity: 3, perMinute: 6, maxBuckets, clock });
const takeAll = (from: TokenBuckets, name: string) => [1, 2, 3].map(() => from.take(name).waitSeconds);

it("gives what is there at once, then as it refills", () => {
  const some = buckets();
  expect(takeAll(some, "a")).toEqual([0, 0, 0]);
  expect(some.take("a")).toEqual({ waitSeconds: 10, isFirstRefusal: true });
  clock.at += 4_000;
  expect(some.take("a").waitSeconds).toBeCloseTo(6);
  clock.at += 6_000;
  expect(some.take("a").waitSeconds).toBe(0);
  clock.at += 600_000;
  expect(takeAll(some, "a")).toEqual([0, 0, 0]);
  expect(some.take("a").waitSeconds).toBeGreaterThan(0);
});

it("keeps names apart", () => {
  const some = buckets();
  takeAll(some, "a");
  expect(some.take("a").waitSeconds).toBeGreaterThan(0);
  expect(some.take("b").waitSeconds).toBe(0);
});

it("says once that it refuses, until it was full again", () => {
  const some = buckets();
  takeAll(some, "a");
  expect([some.take("a"), some.take("a")].map(({ isFirstRefusal }) => isFirstRefusal)).toEqual([true, false]);
  clock.at += 60_000;
  takeAll(some, "a");
  expect(some.take("a").isFirstRefusal).toBe(true);
});

it("takes nothing away when the clock is set back", () => {
  const some = buckets();
  some.take("a");
  clock.at -= 500_000;
  expect(some.take("a").waitSeconds).toBe(0);
  expect(some.take("a").waitSeconds).toBe(0);
  expect(some.take("a").waitSeconds).toBe(10);
});

it("remembers so many names and no more", () => {
  const some = buckets(100);
  takeAll(some, "a");
  for (let i = 0; i < 10_000; i += 1) some.take(`name ${i}`);
  expect(some.size).toBe(100);
  expect(some.take("a").waitSeconds).toBe(0);
});
