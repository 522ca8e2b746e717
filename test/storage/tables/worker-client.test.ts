import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startWorker, TablesThread } from "../../../src/storage/tables/worker-client.ts";

const file = new URL("../../support/ending-tables-thread.js", import.meta.url);
let told: Error[];
let thread: TablesThread;
beforeEach(() => {
  told = [];
  thread = new TablesThread(
    (error) => told.push(error),
    () => startWorker(file),
  );
});
afterEach(() => thread.close());

describe("a tables' thread that ends unasked", () => {
  it("refuses what waits and what comes, says why, and tells it once", async () => {
    expect(thread.failure).toBeUndefined();
    const waiting = Promise.allSettled([thread.call("states", []), thread.call("states", [])]);
    const reasons = (await waiting).map((outcome) => outcome.status === "rejected" && outcome.reason);
    expect(reasons).toEqual([thread.failure, thread.failure]);
    expect(thread.failure).toMatchObject({
      code: "NOT_READY",
      message: expect.stringMatching(/ended \(out of memory\).*restart/) as string,
    });
    await expect(thread.call("states", [])).rejects.toBe(thread.failure);
    await thread.close();
    expect(told).toEqual([thread.failure]);
  });
});

it("has not failed once it was closed", async () => {
  await thread.close();
  await expect(thread.call("states", [])).rejects.toMatchObject({ code: "NOT_READY" });
  expect(thread.failure).toBeUndefined();
  expect(told).toEqual([]);
});
