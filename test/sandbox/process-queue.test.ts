import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ProcessQueue, type WorkProcess } from "../../src/sandbox/job-process.ts";

interface FakeProcess extends WorkProcess {
  readonly name: number;
  isUsable: boolean;
  count: number;
}

let started: FakeProcess[];
let queue: ProcessQueue<FakeProcess>;
const never = new AbortController().signal;

beforeEach(() => {
  started = [];
  queue = new ProcessQueue({ start, jobsPerProcess: 2, idleMs: 1_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function start(): FakeProcess {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const process: FakeProcess = {
    name: started.length + 1,
    isUsable: true,
    count: 0,
    kill() {
      process.isUsable = false;
      end();
    },
    ended: () => ended,
  };
  started.push(process);
  return process;
}

/** A job that ends when it is told to. */
function job() {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  const run = async (process: FakeProcess) => {
    process.count += 1;
    await done;
    return process.name;
  };
  return { run, end };
}

it("runs one job at a time, in the order of asking, in as few processes as it may", async () => {
  const jobs = [job(), job(), job()];
  const answers = jobs.map(({ run }) => queue.run(run, never));
  jobs[2]?.end();
  await expect.poll(() => started.map(({ count }) => count)).toEqual([1]);
  jobs[0]?.end();
  jobs[1]?.end();
  expect(await Promise.all(answers)).toEqual([1, 1, 2]);
  expect(started.map(({ isUsable }) => isUsable)).toEqual([false, true]);
  expect(queue.current?.name).toBe(2);
});

it("replaces a process that a job left of no use, and goes on after a job that failed", async () => {
  const failing = queue.run(async (process) => {
    process.isUsable = false;
    throw new Error("broken");
  }, never);
  const { run, end } = job();
  end();
  const next = queue.run(run, never);
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe(2);
});

it("gives no process jobs of two owners", async () => {
  const { run, end } = job();
  end();
  const owners = ["ada", "bo", "bo", undefined];
  const names = await Promise.all(owners.map((owner) => queue.run(run, never, owner)));
  expect(names).toEqual([1, 2, 2, 3]);
});

it("lets go of a job that is aborted while it waits, and of none else", async () => {
  const [first, last] = [job(), job()];
  const running = queue.run(first.run, never);
  const abort = new AbortController();
  const waiting = queue.run(() => Promise.reject(new Error("must not run")), abort.signal);
  const later = queue.run(last.run, never);
  abort.abort(new Error("not wanted any more"));
  await expect(waiting).rejects.toThrow("not wanted any more");
  await expect(queue.run(first.run, abort.signal)).rejects.toThrow("not wanted any more");
  first.end();
  last.end();
  expect([await running, await later]).toEqual([1, 1]);
});

it("ends a process that has had no work for a while, and starts another when there is some", async () => {
  vi.useFakeTimers();
  const { run, end } = job();
  end();
  expect(await queue.run(run, never)).toBe(1);
  vi.advanceTimersByTime(999);
  expect(queue.current?.name).toBe(1);
  vi.advanceTimersByTime(1);
  expect(queue.current).toBeUndefined();
  expect(await queue.run(run, never)).toBe(2);
});

it("is closed when all its processes have gone", async () => {
  const { run, end } = job();
  end();
  await queue.run(run, never);
  await queue.close();
  expect(started.map(({ isUsable }) => isUsable)).toEqual([false]);
});
