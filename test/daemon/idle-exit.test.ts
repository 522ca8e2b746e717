import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { exitWhenIdle } from "../../src/http/listen.ts";

const HOUR_MS = 3_600_000;

let server: EventEmitter;
let isBusy = false;
const onIdle = vi.fn();
let stop: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  onIdle.mockReset();
  isBusy = false;
  server = new EventEmitter();
  stop = exitWhenIdle(server as unknown as Server, { afterMs: HOUR_MS, isBusy: () => isBusy, onIdle });
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

function request(): EventEmitter {
  const answer = new EventEmitter();
  server.emit("request", {}, answer);
  return answer;
}

it("ends once nothing has happened for so long, and says so once", () => {
  vi.advanceTimersByTime(HOUR_MS);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10 * HOUR_MS);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

it("begins anew with each request, and waits for one that is under way", () => {
  vi.advanceTimersByTime(HOUR_MS);
  const answer = request();
  vi.advanceTimersByTime(5 * HOUR_MS);
  answer.emit("close");
  vi.advanceTimersByTime(HOUR_MS);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(HOUR_MS);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

it("waits while something goes on that nobody waits for, and not after it was stopped", () => {
  isBusy = true;
  vi.advanceTimersByTime(5 * HOUR_MS);
  expect(onIdle).not.toHaveBeenCalled();
  isBusy = false;
  stop();
  vi.advanceTimersByTime(5 * HOUR_MS);
  expect(onIdle).not.toHaveBeenCalled();
});
