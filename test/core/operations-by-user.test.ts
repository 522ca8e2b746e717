import { beforeEach, expect, it } from "vitest";
import { ServiceError } from "../../src/core/errors.ts";
import { operationsByUser, operationsFor } from "../../src/core/isolation.ts";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createMemoryWorld } from "../support/memory-world.ts";

let stores: Map<string, Operations>;
let all: Operations;
beforeEach(() => {
  stores = new Map();
  all = operationsByUser(async (user) => {
    if (user === "away") throw new ServiceError("NOT_READY", "the database is away");
    const known = stores.get(user) ?? bindOperations(createMemoryWorld().ports);
    stores.set(user, known);
    return known;
  });
});

const contents = async (userId: string) =>
  (await all.listMemories({ filter: { userId }, limit: 9, offset: 0 })).items.map(({ content }) => content);

it("finds the store of the user wherever a call names one", async () => {
  const { memory } = await all.addMemory({ content: "tea", userId: "ann" });
  await all.addMemory({ content: "coffee", userId: "ben" });
  expect([await contents("ann"), await contents("ben")]).toEqual([["tea"], ["coffee"]]);
  expect(await all.getMemory({ id: memory.id, userId: "ann" })).toMatchObject({ content: "tea" });
  const records = [];
  for await (const record of await all.exportRecords({ userId: "ann", waypoints: false }))
    records.push(record);
  expect(records).toHaveLength(1);
  expect([...stores.keys()]).toEqual(["ann", "ben"]);
});

it("asks for a user where none is named, unless the key is bound to one", async () => {
  for (const call of [
    all.addMemory({ content: "tea" }),
    all.listMemories({ filter: {}, limit: 9, offset: 0 }),
    all.addMemories({ items: [{ content: "tea" }] }),
  ])
    await expect(call).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/`user_id`, or use a key that is bound/) as string,
    });
  await operationsFor("ann", all).addMemory({ content: "tea" });
  expect(await contents("ann")).toEqual(["tea"]);
});

it("parts a batch by users, and answers in its order", async () => {
  const refused = new ServiceError("INVALID_REQUEST", "too long");
  const { results } = await all.addMemories({
    items: [
      { content: "one", userId: "ann" },
      refused,
      { content: "two", userId: "ben" },
      { content: "three" },
      { content: "four", userId: "away" },
      { content: "five", userId: "ann" },
    ],
  });
  expect(
    results.map((result) => (result instanceof ServiceError ? result.code : result.memory.content)),
  ).toEqual(["one", "INVALID_REQUEST", "two", "INVALID_REQUEST", "NOT_READY", "five"]);
  expect(results[1]).toBe(refused);
  expect(await contents("ann")).toEqual(["five", "one"]);
});

it("refuses the whole batch with what refuses its only user", async () => {
  await expect(all.addMemories({ items: [{ content: "one", userId: "away" }] })).rejects.toMatchObject({
    code: "NOT_READY",
  });
});

it("repeats a batch of several users by one Idempotency-Key", async () => {
  const input = {
    items: [
      { content: "one", userId: "ann" },
      { content: "two", userId: "ben" },
    ],
    idempotency: { key: "k", bodyHash: "h" },
  };
  const first = await all.addMemories(input);
  expect(await all.addMemories(input)).toEqual(first);
  expect([await contents("ann"), await contents("ben")]).toEqual([["one"], ["two"]]);
});

it("refuses what is about all users", async () => {
  await expect(all.listUsers({ limit: 9, offset: 0 })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(all.restoreRecords({ items: [] })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringMatching(/^Restoring an export is not possible where a database/) as string,
  });
});
