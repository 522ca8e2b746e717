import { expect, it } from "vitest";
import { AddAllowance } from "../../src/mcp/add-allowance.ts";

const MINUTE_MS = 60_000;

it("lets a client add so many an hour, and says when the next is possible", () => {
  let now = Date.UTC(2026, 10, 21, 10);
  const allowance = new AddAllowance(2, { now: () => now });
  allowance.take("a");
  now += 10 * MINUTE_MS;
  const giveBack = allowance.take("a");
  expect(() => allowance.take("a")).toThrow(/2026-11-21T11:00:00.000Z, in 50 min/);
  allowance.take("b");

  giveBack();
  allowance.take("a");
  now += 51 * MINUTE_MS;
  allowance.take("a");
  expect(() => allowance.take("a")).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
});

it("forgets what a clock that was set back says of the future", () => {
  let now = Date.UTC(2026, 10, 21, 10);
  const allowance = new AddAllowance(1, { now: () => now });
  allowance.take("a");
  now -= 24 * 60 * MINUTE_MS;
  allowance.take("a");
});
