import { describe, beforeEach, expect, it } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { deleteMemory, getMemory, bindOperations, type Operations } from "../../../src/core/operations.ts";
import { listMemories } from "../../../src/core/memories/list-memories.ts";
import { reinforceMemory } from "../../../src/core/memories/reinforce-memory.ts";
import { relatedMemories } from "../../../src/core/memories/related-memories.ts";
import { edgeId } from "../../../src/core/rows.ts";
import {
  updateMemory,
  tagMemories,
  type TagMemoriesInput,
} from "../../../src/core/memories/update-memory.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";
import { ServiceError } from "../../../src/core/errors.ts";
import { createDocumentWorld, type DocumentWorld } from "../../support/document-world.ts";

describe("update memory", () => {
  let world: MemoryWorld;
  let id: string;
  beforeEach(async () => {
    world = createMemoryWorld();
    const added = await addMemory(world.ports, {
      content: "tea",
      tags: ["a"],
      userId: "ann",
      project: "p",
      occurredAt: 5,
    });
    id = added.memory.id;
  });

  describe("updateMemory", () => {
    it("changes what is named, and counts the version up", async () => {
      world.now += 1_000;
      const memory = await updateMemory(world.ports, { id, tags: ["b"], metadata: { x: 1 } });
      expect(memory).toMatchObject({
        content: "tea",
        tags: ["b"],
        metadata: { x: 1 },
        project: "p",
        version: 2,
      });
      expect(memory.updatedAt).toBe(memory.createdAt + 1_000);
      expect(await getMemory(world.ports, { id })).toEqual(memory);
      expect(world.embedder.calls).toBe(1);
    });

    it("embeds and classifies new content anew", async () => {
      expect(await updateMemory(world.ports, { id, content: "I feel fine" })).toMatchObject({
        content: "I feel fine",
        primarySector: "emotional",
      });
      const { store } = world.ports;
      expect(store.scoreWords([{ term: "tea", weight: 1 }], 20).top(9)).toEqual([]);
      const question = await world.embedder.embedQuestion("I feel fine");
      expect(store.scoreVectors(question.vector).of(store.catalogue.find(id)?.ordinal ?? -1)).toBeCloseTo(
        1,
        2,
      );
    });

    it("clears project and time", async () => {
      expect(await updateMemory(world.ports, { id, project: null, occurredAt: null })).toMatchObject({
        project: null,
        occurredAt: null,
      });
    });

    it("answers the memory unchanged when nothing is named", async () => {
      const before = await getMemory(world.ports, { id });
      expect(await updateMemory(world.ports, { id })).toEqual(before);
    });

    it("takes what is named as changed by two at once, one after the other", async () => {
      await Promise.all([
        updateMemory(world.ports, { id, tags: ["x"] }),
        updateMemory(world.ports, { id, metadata: { y: 1 } }),
        updateMemory(world.ports, { id, content: "milk" }),
      ]);
      expect(await getMemory(world.ports, { id })).toMatchObject({
        content: "milk",
        tags: ["x"],
        metadata: { y: 1 },
        version: 4,
      });
    });

    it("lets one of two through that saw the same version", async () => {
      const outcomes = await Promise.allSettled([
        updateMemory(world.ports, { id, tags: ["x"], ifVersion: 1 }),
        updateMemory(world.ports, { id, tags: ["y"], ifVersion: 1 }),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
        reason: { code: "VERSION_MISMATCH" },
      });
    });

    it.each([
      [{ userId: "bob" }, "FORBIDDEN"],
      [{ id: "unknown" }, "NOT_FOUND"],
      [{ ifVersion: 7 }, "VERSION_MISMATCH"],
    ])("refuses %j with %s, and changes nothing", async (fields, code) => {
      await expect(updateMemory(world.ports, { id, content: "milk", ...fields })).rejects.toMatchObject({
        code,
      });
      expect(await getMemory(world.ports, { id })).toMatchObject({ content: "tea", version: 1 });
      expect(world.embedder.calls).toBe(1);
    });

    it("no longer stands for what it was when that is added again", async () => {
      await updateMemory(world.ports, { id, content: "milk" });
      const again = { content: "tea", tags: ["a"], userId: "ann", project: "p", occurredAt: 5 };
      expect(await addMemory(world.ports, again)).toMatchObject({ deduplicated: false });
    });
  });

  describe("deleteMemory", () => {
    it("takes the memory out of every answer", async () => {
      expect(await deleteMemory(world.ports, { id, userId: "ann", ifVersion: 1 })).toEqual({
        id,
        deleted: 1,
      });
      await expect(getMemory(world.ports, { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(await listMemories(world.ports, { filter: {}, limit: 10, offset: 0 })).toEqual({
        items: [],
        total: 0,
      });
      expect(world.ports.store.scoreWords([{ term: "tea", weight: 1 }], 20).top(9)).toEqual([]);
      expect((await world.ports.store.readTokens([id])).size).toBe(0);
    });

    it("removes its waypoints with it", async () => {
      const { memory } = await addMemory(world.ports, { content: "milk", userId: "ann" });
      const row = { source: id, target: memory.id, kind: "link", weight: 1, createdAt: 0 } as const;
      await world.ports.store.commit(() => ({
        changes: [{ table: "edges", id: edgeId(row), row }],
        result: undefined,
      }));
      const edges = async () => (await relatedMemories(world.ports, { id: memory.id, depth: 1 })).edges;
      expect((await edges()).map(({ kind }) => kind).sort()).toEqual(["link", "next"]);
      await deleteMemory(world.ports, { id });
      expect(await edges()).toEqual([]);
      expect(world.memory.records.at(-1)).toContainEqual({ table: "edges", id: edgeId(row), row: null });
    });

    it.each([
      [{ userId: "bob" }, "FORBIDDEN"],
      [{ id: "unknown" }, "NOT_FOUND"],
      [{ ifVersion: 2 }, "VERSION_MISMATCH"],
    ])("refuses %j with %s", async (fields, code) => {
      await expect(deleteMemory(world.ports, { id, ...fields })).rejects.toMatchObject({ code });
      expect(world.ports.store.catalogue.size).toBe(1);
    });
  });

  describe("reinforceMemory", () => {
    it("raises the salience towards 1, and nothing else", async () => {
      world.now += 500;
      expect(await reinforceMemory(world.ports, { id, boost: 0.1 })).toEqual({ id, salience: 0.55 });
      expect(await reinforceMemory(world.ports, { id, boost: 1 })).toEqual({ id, salience: 1 });
      const memory = await getMemory(world.ports, { id });
      expect(memory).toMatchObject({
        salience: 1,
        version: 1,
        updatedAt: memory.createdAt,
        lastSeenAt: world.now,
      });
    });

    it("counts a repeated request once", async () => {
      const idempotency = { key: "k", bodyHash: "h" };
      await reinforceMemory(world.ports, { id, boost: 0.1, idempotency });
      expect(await reinforceMemory(world.ports, { id, boost: 0.1, idempotency })).toEqual({
        id,
        salience: 0.55,
      });
    });

    it.each([
      [{ userId: "bob" }, "FORBIDDEN"],
      [{ id: "unknown" }, "NOT_FOUND"],
    ])("refuses %j with %s", async (fields, code) => {
      await expect(reinforceMemory(world.ports, { id, boost: 0.1, ...fields })).rejects.toMatchObject({
        code,
      });
    });
  });

  describe("getMemory", () => {
    it("shows another's memory to nobody who names himself", async () => {
      expect(await getMemory(world.ports, { id, userId: "ann" })).toMatchObject({ id });
      await expect(getMemory(world.ports, { id, userId: "bob" })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });
  });

  describe("listMemories", () => {
    it("goes on from a cursor whatever is added meanwhile", async () => {
      for (const content of ["b", "c", "d"]) await addMemory(world.ports, { content });
      const first = await listMemories(world.ports, { filter: {}, limit: 2, offset: 0 });
      expect(first.items.map(({ content }) => content)).toEqual(["d", "c"]);
      await addMemory(world.ports, { content: "e" });
      const second = await listMemories(world.ports, {
        filter: {},
        limit: 2,
        offset: 0,
        before: first.nextBefore ?? 0,
      });
      expect(second.items.map(({ content }) => content)).toEqual(["b", "tea"]);
      expect(second).not.toHaveProperty("nextBefore");
      expect(second.total).toBe(5);
    });

    it("ends a page early at 8 MiB, and goes on with the next", async () => {
      const filler = "x".repeat(200_000);
      for (let i = 0; i < 50; i += 1)
        await addMemory(world.ports, { content: `${i} ${filler}`, userId: "big" });
      const filter = { userId: "big" };
      const first = await listMemories(world.ports, { filter, limit: 100, offset: 0 });
      expect(first.items.length).toBeGreaterThan(30);
      expect(first.items.length).toBeLessThan(50);
      const rest = await listMemories(world.ports, {
        filter,
        limit: 100,
        offset: 0,
        before: first.nextBefore ?? 0,
      });
      expect(first.items.length + rest.items.length).toBe(50);
    });
  });

  describe("listMemories, while a write is under way", () => {
    it("answers no empty page where older memories are left", async () => {
      world.memory.hold();
      const adding = addMemory(world.ports, { content: "not durable yet" });
      await new Promise((done) => setImmediate(done));
      const { items } = await listMemories(world.ports, { filter: {}, limit: 1, offset: 0 });
      expect(items.map(({ content }) => content)).toEqual(["tea"]);
      await world.memory.release("durable");
      await adding;
    });
  });

  describe("relatedMemories", () => {
    it("walks waypoints both ways, as far as asked, within one user", async () => {
      const session = { sessionId: "s", userId: "ann" };
      for (const content of ["one", "two", "three", "four"])
        await addMemory(world.ports, { content, ...session });
      const all = await listMemories(world.ports, { filter: { sessionId: "s" }, limit: 9, offset: 0 });
      const two = all.items.find(({ content }) => content === "two");
      const near = await relatedMemories(world.ports, { id: two?.id ?? "", depth: 1, userId: "ann" });
      expect(near.nodes.map(({ content }) => content).sort()).toEqual(["one", "three", "two"]);
      expect(near.nodes[0]?.content).toBe("two");
      expect(near.edges).toHaveLength(2);
      const far = await relatedMemories(world.ports, { id: two?.id ?? "", depth: 2 });
      expect(far.nodes).toHaveLength(4);
      await expect(relatedMemories(world.ports, { id, depth: 1, userId: "bob" })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });

    it("looks for what is similar when asked, each pair once, and stores nothing", async () => {
      const add = async (content: string, userId = "eve") => {
        world.now += 3_600_000;
        return (await addMemory(world.ports, { content, userId })).memory.id;
      };
      const tea = await add("green tea grows in Japan");
      const again = await add("green tea grows in Japan too");
      await add("green tea grows in Japan today", "bob");
      const printer = await add("the printer is out of paper");
      const records = world.memory.records.length;
      const edges = async (of: string, depth: number) =>
        (await relatedMemories(world.ports, { id: of, depth })).edges.map(
          ({ source, target, kind }) => `${source} ${kind} ${target}`,
        );
      expect(await edges(tea, 1)).toEqual([`${again} similar ${tea}`]);
      expect(await edges(again, 3)).toEqual([`${again} similar ${tea}`]);
      expect(await edges(printer, 1)).toEqual([]);
      await deleteMemory(world.ports, { id: tea });
      expect(await edges(again, 1)).toEqual([]);
      expect(world.memory.records.length).toBe(records + 1);
    });
  });
});

describe("tag memories", () => {
  let world: DocumentWorld;
  let all: Operations;
  let ids: string[];

  beforeEach(async () => {
    world = createDocumentWorld();
    all = bindOperations(world.ports);
    ids = [];
    for (const content of ["Garlic is in.", "Leeks are in.", "The tyres are on."])
      ids.push((await addMemory(world.ports, { content, tags: ["old", "kept"], userId: "ann" })).memory.id);
  });

  const tag = async (input: Partial<TagMemoriesInput>) => {
    const memories = ids.map((id) => ({ id }));
    return (await tagMemories(world.ports, { memories, add: [], remove: [], ...input })).results;
  };
  const tagsOf = async (id: string | undefined) => (await all.getMemory({ id: id ?? "" })).tags;

  describe("tagMemories", () => {
    it("adds and removes tags, and keeps the versions before with who changed them", async () => {
      const results = await tag({ add: ["garden"], remove: ["old"], changedBy: "ann's shell" });
      expect(results).toEqual(ids.map((id) => ({ id, version: 2, tags: ["kept", "garden"], changed: true })));
      const { items } = await all.memoryHistory({ id: ids[0] ?? "", limit: 9, offset: 0 });
      expect(items.map(({ memory, changedBy }) => [memory.tags, changedBy])).toEqual([
        [["kept", "garden"], "ann's shell"],
        [["old", "kept"], null],
      ]);
    });

    it("changes nothing the second time", async () => {
      await tag({ add: ["garden"], remove: ["old"] });
      expect(await tag({ add: ["garden"], remove: ["old"] })).toEqual(
        ids.map((id) => ({ id, version: 2, tags: ["kept", "garden"], changed: false })),
      );
    });

    it("is taken back by undo", async () => {
      await tag({ add: ["wrong"], changedBy: "rogue" });
      const undone = await all.undoChanges({ client: "rogue", dryRun: false });
      expect(undone.map(({ done }) => done)).toEqual([true, true, true]);
      expect(await Promise.all(ids.map(tagsOf))).toEqual(ids.map(() => ["old", "kept"]));
    });

    it("refuses each by itself: unknown, another's, changed since, too many tags", async () => {
      const [first = "", second = "", third = ""] = ids;
      await updateMemory(world.ports, { id: second, content: "Leeks are out." });
      const tags = Array.from({ length: 64 }, (_, index) => `tag ${index}`);
      await updateMemory(world.ports, { id: third, tags });
      const other = await addMemory(world.ports, { content: "ben's", userId: "ben" });
      const memories = [
        { id: first, ifVersion: 1 },
        { id: second, ifVersion: 1 },
        { id: third },
        { id: "unknown" },
        { id: other.memory.id },
      ];
      const results = await tag({ memories, add: ["garden"], userId: "ann" });
      expect(results.map((each) => (each instanceof ServiceError ? each.code : each.tags))).toEqual([
        ["old", "kept", "garden"],
        "VERSION_MISMATCH",
        "INVALID_REQUEST",
        "NOT_FOUND",
        "NOT_FOUND",
      ]);
      expect(await tagsOf(second)).toEqual(["old", "kept"]);
      expect(await tagsOf(third)).toEqual(tags);
      expect(await tagsOf(other.memory.id)).toEqual([]);
    });

    it("loses no tag where two tag the same memories at once", async () => {
      await Promise.all(["a", "b", "c"].map((name) => tag({ add: [name] })));
      for (const id of ids) expect((await tagsOf(id)).toSorted()).toEqual(["a", "b", "c", "kept", "old"]);
    });
  });
});
