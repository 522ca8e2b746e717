import { expect, it } from "vitest";
import type { ServiceError } from "../../../src/core/errors.ts";
import { createInMemoryStore } from "../../support/in-memory-store.ts";

it("has a write wait while the tables take what is pending, and refuses it once they fail again and again", async () => {
  let flushes = 0;
  let failed = 0;
  let failure: Error | undefined;
  const flush = async () => {
    flushes += 1;
    if (failure === undefined) return;
    failed += 1;
    throw failure;
  };
  const { store, records } = createInMemoryStore({ now: () => 1_000_000 }, undefined, flush);
  const row = { userId: null, vectors: new Int8Array(64 * 1_024 * 1_024), stamp: "stamp" };
  const add = (id: string) => store.commit(() => ({ changes: [{ table: "tokens", id, row }], result: id }));
  for (const id of ["a", "b", "c", "d"]) await add(id);
  let answer: string | undefined;
  const waiting = add("e")
    .catch((error: unknown) => (error as ServiceError).code)
    .then((text) => (answer = text));
  await expect.poll(() => flushes).toBeGreaterThan(2);
  expect(answer).toBeUndefined();
  failure = new Error("the disk fails");
  await expect(waiting).resolves.toBe("STORE_FULL");
  expect(failed).toBe(3);
  expect(records).toHaveLength(4);
});
