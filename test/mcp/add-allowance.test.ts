import { expect, it } from "vitest";
import { AddAllowance } from "../../src/mcp/add-allowance.ts";

const MINUTE_MS = 60_000;
const nothing = async () => [];

it("lets a client add so many an hour, and says when the next is possible", async () => {
  let now = Date.UTC(2026, 10, 21, 10);
  const allowance = new AddAllowance(2, { now: () => now });
  await allowance.take("a", nothing);
  now += 10 * MINUTE_MS;
  const giveBack = await allowance.take("a", nothing);
  await expect(allowance.take("a", nothing)).rejects.toThrow(/2026-11-21T11:00:00.000Z, in 50 min/);
  await allowance.take("b", nothing);

  giveBack();
  await allowance.take("a", nothing);
  now += 51 * MINUTE_MS;
  await allowance.take("a", nothing);
  await expect(allowance.take("a", nothing)).rejects.toMatchObject({ code: "RATE_LIMITED" });
});

it("forgets what a clock that was set back says of the future", async () => {
  let now = Date.UTC(2026, 10, 21, 10);
  const allowance = new AddAllowance(1, { now: () => now });
  await allowance.take("a", nothing);
  now -= 24 * 60 * MINUTE_MS;
  await allowance.take("a", nothing);
});

it("counts what a client added before it was known, whoever of five comes first", async () => {
  const now = Date.UTC(2026, 10, 21, 10);
  const allowance = new AddAllowance(4, { now: () => now });
  const asked: number[] = [];
  const before = async (since: number) => {
    asked.push(since);
    // Newest first, and one of an hour ago.
    return [now - 1 * MINUTE_MS, now - 20 * MINUTE_MS, now - 60 * MINUTE_MS];
  };
  const takes = await Promise.allSettled(Array.from({ length: 5 }, () => allowance.take("a", before)));
  expect(asked).toEqual([now - 60 * MINUTE_MS]);
  expect(takes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "rejected",
    "rejected",
  ]);
  await expect(allowance.take("a", before)).rejects.toThrow(/in 40 min/);
});

it("asks again where what was added before could not be read", async () => {
  const allowance = new AddAllowance(1, { now: () => 0 });
  await expect(allowance.take("a", () => Promise.reject(new Error("closed")))).rejects.toThrow("closed");
  await allowance.take("a", nothing);
});
