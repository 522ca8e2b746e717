import { describe, afterEach, beforeEach, expect, it, vi } from "vitest";
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { withoutNode } from "../support/without-node.ts";
import {
  JobProcess,
  type ProcessEnd,
  ProcessQueue,
  type WorkProcess,
} from "../../src/sandbox/job-process.ts";

describe("job process", () => {
  const WORKER = resolve(import.meta.dirname, "../fixtures/job-worker.js");
  const HEAP_BYTES = 64 * 1024 ** 2;

  type Deed = "answer" | "refuse" | "sleep" | "snoop" | "die";
  interface Reply {
    readonly pid?: number;
    readonly secret?: string;
    readonly refusal?: string;
    readonly bytes?: Uint8Array;
    readonly sleeps?: true;
  }

  let process: JobProcess<Deed, Reply>;
  let ends: ProcessEnd[];
  const explainEnd = (end: ProcessEnd) => {
    ends.push(end);
    return new Error(`explained: ${end.cause.message}`);
  };

  beforeEach(() => {
    ends = [];
    open();
  });
  afterEach(async () => {
    process.kill();
    await process.ended();
  });

  function open(worker = WORKER): void {
    const sandbox = { worker, heapBytes: HEAP_BYTES, packages: [] };
    process = new JobProcess({
      sandbox,
      walls: undefined,
      env: { SECRET: "given" },
      explainEnd,
    });
  }

  /** Resolves with the first reply, rejects with a refusal. */
  function told(deed: Deed, signal?: AbortSignal): Promise<Reply> {
    return process.run<Reply>((job) => {
      void process.send(deed);
      return (reply) => {
        if (reply.refusal === undefined) job.resolve(reply);
        else job.reject(new Error(reply.refusal));
      };
    }, signal);
  }

  /** Resolves when the process sleeps over its job; the job itself is in `over`. */
  async function asleep(signal?: AbortSignal): Promise<{ readonly over: Promise<void> }> {
    let over: Promise<void> | undefined;
    await new Promise<void>((sleeps) => {
      over = process.run<void>(() => {
        void process.send("sleep");
        return () => sleeps();
      }, signal);
      over.catch(() => undefined);
    });
    return { over: over ?? Promise.reject(new Error("it was not begun")) };
  }

  it("does one job after the other, whatever became of the one before, and counts them", async () => {
    const { pid } = await told("answer");
    expect(pid).toBe(process.pid);
    await expect(told("refuse")).rejects.toThrow("not this one");
    expect(process.isUsable).toBe(true);
    expect((await told("answer")).pid).toBe(pid);
    expect(process.count).toBe(3);
  });

  it("has no rights and no environment but those it was given", async () => {
    expect((await told("answer")).secret).toBe("given");
    await expect(told("snoop")).rejects.toThrow("ERR_ACCESS_DENIED");
  });

  it("lets a job settle once", async () => {
    const answer = process.run<string>((job) => {
      void process.send("answer");
      return () => {
        job.resolve("first");
        job.reject(new Error("second"));
      };
    });
    expect(await answer).toBe("first");
  });

  it("is ended by the job's signal, with its reason", async () => {
    const controller = new AbortController();
    const { over } = await asleep(controller.signal);
    controller.abort(new Error("not wanted any more"));
    await expect(over).rejects.toThrow("not wanted any more");
    expect(process.isUsable).toBe(false);
    await process.ended();
  });

  it("is not ended by the signal of a job that is over", async () => {
    const controller = new AbortController();
    await told("answer", controller.signal);
    controller.abort(new Error("late"));
    expect(process.isUsable).toBe(true);
    expect((await told("answer")).pid).toBe(process.pid);
  });

  it("keeps to the first reason that it was killed for", async () => {
    const { over } = await asleep();
    process.kill();
    process.kill(new Error("first"));
    process.kill(new Error("second"));
    await expect(over).rejects.toThrow("first");
  });

  it("explains an end that nobody asked for, by the last that it printed", async () => {
    await told("answer");
    await expect(told("die")).rejects.toThrow("explained: it ended with code 7");
    const [end] = ends;
    expect(end).toMatchObject({ hasAnswered: true, printed: expect.stringMatching(/x last words\n$/) });
    expect(end?.printed.length).toBeLessThan(10_000);
    expect(process.isUsable).toBe(false);
  });

  it("explains that it never spoke", async () => {
    await expect(told("die")).rejects.toThrow("explained");
    expect(ends).toMatchObject([{ hasAnswered: false }]);
  });

  it("takes no message once it has ended, and holds nobody up", async () => {
    process.kill();
    await process.ended();
    await process.send("answer");
  });

  it("explains that it could not be started", async () => {
    process.kill();
    await process.ended();
    ends = [];
    await withoutNode(async () => open());
    await expect(told("answer")).rejects.toThrow("explained: spawn /nowhere/node ENOENT");
    expect(ends).toMatchObject([{ hasAnswered: false }]);
  });

  it("says that the program was not built", () => {
    expect(() => open("/nowhere.js")).toThrow(/npm run build/);
  });
});

describe("process queue", () => {
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

  it("holds no answer of jobs that are over", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const answers: WeakRef<object>[] = [];
    const answer = async () => {
      const text = { of: "a document" };
      answers.push(new WeakRef(text));
      return text;
    };
    for (let i = 0; i < 4; i += 1) await queue.run(answer, never);
    // What a weak reference was made for stays until the turn is over.
    await nextTurn();
    collectGarbage();
    expect(answers.map((one) => one.deref())).toEqual(answers.map(() => undefined));
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
});
