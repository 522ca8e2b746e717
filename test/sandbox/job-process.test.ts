import { resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withoutNode } from "../support/without-node.ts";
import { JobProcess, type ProcessEnd } from "../../src/sandbox/job-process.ts";

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

it("tells a job that it is over, and lets it settle once", async () => {
  let wasOver: boolean | undefined;
  const answer = process.run<string>((job) => {
    void process.send("answer");
    return () => {
      job.resolve("first");
      job.reject(new Error("second"));
      wasOver = job.isOver;
    };
  });
  expect(await answer).toBe("first");
  expect(wasOver).toBe(true);
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
