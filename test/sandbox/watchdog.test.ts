import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WorkClock } from "../../src/sandbox/watchdog.ts";

let ends = 0;
const clock = new WorkClock(() => (ends += 1));

beforeEach(() => {
  ends = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  clock.stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("counts what is waited for, over several times, and neither pauses nor sleep", () => {
  const awake = performance.now.bind(performance);
  let sleptMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => awake() + sleptMs);
  clock.start(1_000);
  vi.advanceTimersByTime(500);
  clock.stop();
  vi.advanceTimersByTime(60_000);
  clock.start(1_000);
  // A laptop that was closed for an hour: time has passed, and no timer has fired.
  sleptMs = 3_600_000;
  vi.advanceTimersByTime(250);
  expect(ends).toBe(0);
  vi.advanceTimersByTime(500);
  expect(ends).toBeGreaterThan(0);
});
