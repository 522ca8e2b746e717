import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { EmbeddingThreads } from "../../src/models/embedding-threads.ts";

const file = join(import.meta.dirname, "../support/fake-embedding-thread.js");
let threads: EmbeddingThreads;
afterEach(() => threads.stop());

function open(max: number, model = "m", idleTimeoutMs = 600_000) {
  threads = new EmbeddingThreads(max, { ...MINILM, name: model }, { file, idleTimeoutMs });
  return (text: string, kind: "question" | "window" = "window") =>
    threads.run({ kind, text, isWhole: true, tokensFrom: 0 });
}

describe("EmbeddingThreads", () => {
  it("starts no thread before there is work, and no more than needed", async () => {
    const run = open(4);
    expect(threads.count).toBe(0);
    await run("one");
    await run("two");
    expect(threads.count).toBe(1);
    await Promise.all(["a", "b", "c", "d", "e", "f"].map((text) => run(text)));
    expect(threads.count).toBe(4);
  });

  it("lets its threads go when there is no work, and starts again for the next text", async () => {
    const run = open(2, "m", 1);
    await Promise.all([run("a"), run("b")]);
    await expect.poll(() => threads.count).toBe(0);
    expect((await run("c")).vector[0]).toBe(1);
    // Asked at every moment of a thread's leaving, too.
    for (let i = 0; i < 50; i += 1) {
      await new Promise((done) => setTimeout(done, i % 5));
      expect(await run(`${i}`)).toMatchObject({ hasPieces: true });
    }
  });

  it("starts one thread before there is work where it is woken, also while the last one leaves", async () => {
    const run = open(2, "m", 1);
    for (let i = 0; i < 20; i += 1) {
      threads.wake();
      threads.wake();
      expect(threads.count).toBeGreaterThan(0);
      await new Promise((done) => setTimeout(done, i % 5));
    }
    await expect.poll(() => threads.count).toBe(0);
    threads.wake();
    expect(threads.count).toBe(1);
    expect(await run("a")).toMatchObject({ hasPieces: true });
    await threads.stop();
    threads.wake();
    expect(threads.count).toBe(0);
  });

  it("answers questions before windows, each kind in the order of asking", async () => {
    const run = open(1);
    const order: string[] = [];
    const asked = [run("w1"), run("w2"), run("q1", "question"), run("w3"), run("q2", "question")];
    const names = ["w1", "w2", "q1", "w3", "q2"];
    await Promise.all(asked.map(async (answer, i) => (await answer, order.push(names[i] ?? ""))));
    expect(order).toEqual(["q1", "q2", "w1", "w2", "w3"]);
  });

  it("replaces a thread that ends and gives up only the text that ended it", async () => {
    const run = open(1);
    const fate = run("crash").catch((error: unknown) => error);
    const others = Promise.all([run("a"), run("b")]);
    expect(await fate).toMatchObject({ code: "MODEL_UNAVAILABLE" });
    expect(await others).toHaveLength(2);
    expect(await run("c")).toMatchObject({ hasPieces: true });
  });

  it("goes on after a text that cannot be embedded", async () => {
    const run = open(1);
    await expect(run("fail")).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
    expect((await run("a")).vector[0]).toBe(1);
  });

  it("fails what waits when the model cannot be loaded, and tries again at the next call", async () => {
    const run = open(2, "missing");
    const waiting = await Promise.allSettled([run("a"), run("b")]);
    expect(waiting.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(run("c")).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: expect.stringContaining("no such model") as string,
    });
  });

  it("finishes what runs, refuses what waits and ends its threads when stopped", async () => {
    const run = open(1);
    await run("warm");
    const running = run("running");
    const waiting = run("waiting").catch((error: unknown) => error);
    await threads.stop();
    expect(await running).toMatchObject({ hasPieces: true });
    expect(await waiting).toMatchObject({ code: "NOT_READY" });
    expect(threads.count).toBe(0);
  });

  it("refuses the next window of a text that was being read when it was stopped, and all that comes later", async () => {
    const run = open(1);
    await run("warm");
    const text = run("first window").then(() => run("second window"));
    await Promise.all([threads.stop(), expect(text).rejects.toMatchObject({ code: "NOT_READY" })]);
    await expect(run("later")).rejects.toMatchObject({ code: "NOT_READY" });
    expect(threads.count).toBe(0);
  });
});
