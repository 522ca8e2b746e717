import { beforeEach, describe, expect, it } from "vitest";
import { addMemory, addMemories } from "../../../src/core/memories/add-memories.ts";
import { relatedMemories } from "../../../src/core/memories/related-memories.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { ServiceError } from "../../../src/core/errors.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
});

const request = { key: "k", bodyHash: "h" };

describe("addMemory", () => {
  it("answers the record and stores it whole in one record of the journal", async () => {
    const { memory, deduplicated } = await addMemory(world.ports, {
      content: "I feel at home here",
      tags: ["home"],
      metadata: { room: 3 },
      userId: "ann",
      project: "move",
      sessionId: "s",
      occurredAt: 5,
      createdBy: "cli",
    });
    expect(deduplicated).toBe(false);
    expect(memory).toMatchObject({
      id: "m1",
      content: "I feel at home here",
      tags: ["home"],
      metadata: { room: 3 },
      userId: "ann",
      project: "move",
      sessionId: "s",
      occurredAt: 5,
      primarySector: "emotional",
      sectors: ["emotional"],
      salience: 0.5,
      createdAt: world.now,
      version: 1,
      createdBy: "cli",
      source: null,
      order: 1,
    });
    expect(world.memory.records.map((changes) => changes.map(({ table }) => table))).toEqual([
      ["memories", "vectors", "tokens"],
    ]);
  });

  it("lets the caller force the primary sector", async () => {
    const { memory } = await addMemory(world.ports, { content: "I feel well", sector: "procedural" });
    expect(memory).toMatchObject({ primarySector: "procedural", sectors: ["procedural", "emotional"] });
  });

  it("never goes back in time, whatever the clock does", async () => {
    const first = await addMemory(world.ports, { content: "one" });
    world.now -= 60_000;
    const second = await addMemory(world.ports, { content: "two" });
    expect(second.memory.createdAt).toBe(first.memory.createdAt);
    expect(second.memory.order).toBe(first.memory.order + 1);
  });

  it("returns an identical memory instead of a second one, without embedding it", async () => {
    const input = { content: "tea", tags: ["a"], metadata: { x: 1, y: 2 }, userId: "ann" };
    const first = await addMemory(world.ports, input);
    const again = await addMemory(world.ports, { ...input, metadata: { y: 2, x: 1 } });
    expect(again).toEqual({ memory: first.memory, deduplicated: true });
    expect(world.embedder.calls).toBe(1);
  });

  it.each([
    ["content", { content: "Tea" }],
    ["tags", { tags: ["b"] }],
    ["metadata", { metadata: { x: "1" } }],
    ["user", { userId: "bob" }],
    ["project", { project: "p" }],
    ["session", { sessionId: "s" }],
    ["time", { occurredAt: 1 }],
  ])("keeps memories apart that differ in %s", async (_name, difference) => {
    const input = { content: "tea", tags: ["a"], metadata: { x: 1 }, userId: "ann" };
    await addMemory(world.ports, input);
    expect(await addMemory(world.ports, { ...input, ...difference })).toMatchObject({ deduplicated: false });
  });

  it("makes one memory of the same one added by several at once", async () => {
    world.memory.hold();
    const adds = Promise.all([1, 2, 3].map(() => addMemory(world.ports, { content: "tea" })));
    await new Promise((done) => setImmediate(done));
    await world.memory.release("durable");
    const answers = await adds;
    expect(new Set(answers.map(({ memory }) => memory.id)).size).toBe(1);
    expect(answers.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1);
    expect(world.memory.store.catalogue.size).toBe(1);
  });

  it("leaves nothing behind when the journal refuses", async () => {
    world.memory.hold();
    const adds = ["one", "two"].map((content) => addMemory(world.ports, { content, sessionId: "s" }));
    const settled = Promise.allSettled(adds);
    await new Promise((done) => setImmediate(done));
    await world.memory.release("refused");
    for (const outcome of await settled) expect(outcome).toMatchObject({ reason: { code: "STORE_FULL" } });
    expect(world.memory.store.catalogue.size).toBe(0);
    const { memory } = await addMemory(world.ports, { content: "one", sessionId: "s" });
    expect(memory.content).toBe("one");
    expect(world.memory.store.catalogue.edgesOf(memory.id)).toEqual([]);
  });

  it("tells nobody of a memory that was refused, who asked for the same one meanwhile", async () => {
    world.memory.hold();
    const adds = Promise.allSettled([1, 2].map(() => addMemory(world.ports, { content: "tea" })));
    await new Promise((done) => setImmediate(done));
    await world.memory.release("refused");
    const outcomes = await adds;
    // The first was refused; the second, which rested on it, was decided anew and made the memory.
    expect(outcomes).toMatchObject([{ status: "rejected" }, { value: { deduplicated: false } }]);
    expect(world.memory.store.catalogue.size).toBe(1);
  });

  it("links the memories of a session in order, and of a user without one within half an hour", async () => {
    const a = await addMemory(world.ports, { content: "a", sessionId: "s" });
    const b = await addMemory(world.ports, { content: "b" });
    const c = await addMemory(world.ports, { content: "c", sessionId: "s" });
    const d = await addMemory(world.ports, { content: "d" });
    world.now += 31 * 60_000;
    const e = await addMemory(world.ports, { content: "e" });
    const edges = async (id: string) => {
      const { edges: found } = await relatedMemories(world.ports, { id, depth: 1 });
      return found.map(({ source, target, kind, weight }) => [source, target, kind, weight]);
    };
    expect(await edges(c.memory.id)).toEqual([[a.memory.id, c.memory.id, "next", 1]]);
    expect(await edges(d.memory.id)).toEqual([[b.memory.id, d.memory.id, "next", 0.5]]);
    expect(await edges(e.memory.id)).toEqual([]);
  });

  it("stores nothing when the model cannot run", async () => {
    world.embedder.failWith = new ServiceError("MODEL_UNAVAILABLE", "no model");
    await expect(addMemory(world.ports, { content: "tea" })).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
    });
    expect(world.memory.records).toEqual([]);
  });

  describe("with an Idempotency-Key", () => {
    it("answers a repeat with what the first one made, even after its identity changed", async () => {
      const first = await addMemory(world.ports, { content: "tea", idempotency: request });
      const again = await addMemory(world.ports, { content: "tea", idempotency: request });
      expect(again.memory).toEqual(first.memory);
      expect(world.memory.records).toHaveLength(1);
    });

    it("refuses another body, and one under way", async () => {
      const adding = addMemory(world.ports, { content: "tea", idempotency: request });
      await expect(addMemory(world.ports, { content: "tea", idempotency: request })).rejects.toMatchObject({
        code: "CONFLICT",
      });
      await adding;
      const other = { content: "milk", idempotency: { ...request, bodyHash: "other" } };
      await expect(addMemory(world.ports, other)).rejects.toMatchObject({ code: "UNPROCESSABLE" });
    });

    it("says that what was made is gone", async () => {
      const { memory } = await addMemory(world.ports, { content: "tea", idempotency: request });
      await deleteMemory(world.ports, { id: memory.id });
      await expect(addMemory(world.ports, { content: "tea", idempotency: request })).rejects.toMatchObject({
        code: "GONE",
      });
    });

    it("may be tried again after a failure", async () => {
      world.embedder.failWith = new ServiceError("MODEL_UNAVAILABLE", "no model");
      await expect(addMemory(world.ports, { content: "tea", idempotency: request })).rejects.toThrow();
      world.embedder.failWith = undefined;
      expect(await addMemory(world.ports, { content: "tea", idempotency: request })).toMatchObject({
        deduplicated: false,
      });
    });
  });
});

describe("addMemories", () => {
  it("stores what is accepted as one record, in order, with refusals in their places", async () => {
    const refusal = new ServiceError("INVALID_REQUEST", "content is missing");
    const { results } = await addMemories(world.ports, {
      items: [{ content: "a" }, refusal, { content: "b" }, { content: "a" }],
    });
    expect(
      results.map((result) => (result instanceof ServiceError ? result : result.memory.content)),
    ).toEqual(["a", refusal, "b", "a"]);
    expect(results.map((result) => !(result instanceof ServiceError) && result.deduplicated)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(world.memory.records).toHaveLength(1);
    expect(world.memory.store.catalogue.size).toBe(2);
  });

  it("takes an empty batch, and one of which nothing is accepted", async () => {
    const refusal = new ServiceError("INVALID_REQUEST", "no");
    expect(await addMemories(world.ports, { items: [] })).toEqual({ results: [] });
    expect(await addMemories(world.ports, { items: [refusal] })).toEqual({ results: [refusal] });
    expect(world.memory.records).toEqual([]);
  });

  it("answers a repeat in the same places when the model refused an item", async () => {
    const items = ["a", "b", "c"].map((content) => ({ content }));
    const { embedder } = world;
    const refusing = {
      ...world.ports,
      embedder: {
        ...embedder,
        stamp: embedder.stamp,
        embedDocument: (text: string) =>
          text === "b"
            ? Promise.reject(new ServiceError("RATE_LIMITED", "later"))
            : embedder.embedDocument(text),
      },
    };
    await addMemories(refusing, { items, idempotency: request });
    const { results } = await addMemories(world.ports, { items, idempotency: request });
    expect(
      results.map((result) => (result instanceof ServiceError ? result.code : result.memory.content)),
    ).toEqual(["a", "CONFLICT", "c"]);
  });

  it("may be tried again when the model refused everything", async () => {
    world.embedder.failWith = new ServiceError("RATE_LIMITED", "later");
    const input = { items: [{ content: "a" }], idempotency: request };
    expect((await addMemories(world.ports, input)).results).toMatchObject([{ code: "RATE_LIMITED" }]);
    world.embedder.failWith = undefined;
    expect((await addMemories(world.ports, input)).results).toMatchObject([{ deduplicated: false }]);
  });

  it("answers a repeat in the same places", async () => {
    const refusal = new ServiceError("INVALID_REQUEST", "no");
    const input = { items: [{ content: "a" }, refusal, { content: "b" }], idempotency: request };
    const first = await addMemories(world.ports, input);
    const again = await addMemories(world.ports, input);
    expect(again).toEqual(first);
    const [, , last] = first.results;
    if (last === undefined || last instanceof ServiceError) throw new TypeError("b was stored");
    await deleteMemory(world.ports, { id: last.memory.id });
    expect((await addMemories(world.ports, input)).results[2]).toMatchObject({ code: "GONE" });
  });
});
