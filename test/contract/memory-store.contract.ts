import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addMemory, addMemories } from "../../src/core/memories/add-memories.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { ServiceError } from "../../src/core/errors.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { reinforceMemory } from "../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";

export interface StoreUnderTest {
  readonly ports: MemoryPorts;
  /** Brings everything pending to where it rests; a store that has no such place does nothing. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Every MemoryStore passes these tests, whether its rows rest in memory, in the journal or in tables. */
export function memoryStoreContract(name: string, createStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the MemoryStore contract`, () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await createStore();
    });
    afterEach(() => under.close());

    const add = async (content: string, more = {}) =>
      (await addMemory(under.ports, { content, ...more })).memory;
    const texts = async () => {
      const { store } = under.ports;
      const { ids } = store.catalogue.page({}, { limit: 1_000, offset: 0 });
      const memories = await store.readMemories(ids);
      return ids.map((id) => memories.get(id)?.content);
    };
    const found = (word: string) => {
      const { store } = under.ports;
      return store
        .scoreWords([{ term: word, weight: 1 }], 20)
        .top(9)
        .map((ordinal) => store.catalogue.at(ordinal)?.id);
    };

    it("reads its own writes, before and after they settle", async () => {
      const memory = await add("green tea", {
        tags: ["a", "b"],
        metadata: { nested: { list: [1, null, "ü"] }, "": 0 },
        userId: "ann",
        project: "p",
        sessionId: "s",
        occurredAt: -5,
        createdBy: "test",
      });
      for (let time = 0; time < 2; time += 1) {
        expect((await under.ports.store.readMemories([memory.id, "missing"])).get(memory.id)).toEqual(memory);
        expect(
          (await under.ports.store.readTokens([memory.id])).get(memory.id)?.vectors.length,
        ).toBeGreaterThan(0);
        expect(found("tea")).toEqual([memory.id]);
        await under.settle();
      }
    });

    it("reads token vectors as they are now, whatever was read before", async () => {
      const { id } = await add("green tea");
      const bytes = async () => (await under.ports.store.readTokens([id])).get(id)?.vectors.length;
      const before = await bytes();
      await under.settle();
      expect([await bytes(), await bytes()]).toEqual([before, before]);
      await updateMemory(under.ports, { id, content: "green tea, black coffee and hot chocolate" });
      const after = await bytes();
      expect(after).toBeGreaterThan(before ?? 0);
      await under.settle();
      expect(await bytes()).toBe(after);
      await deleteMemory(under.ports, { id });
      expect(await bytes()).toBeUndefined();
    });

    it("keeps newest first, with changes in place", async () => {
      const first = await add("one");
      await add("two");
      await under.settle();
      await updateMemory(under.ports, { id: first.id, content: "first" });
      await add("three");
      await under.settle();
      expect(await texts()).toEqual(["three", "two", "first"]);
    });

    it("forgets what was deleted, settled or not", async () => {
      const [settled, pending] = [await add("green tea"), await add("black tea")];
      await deleteMemory(under.ports, { id: pending.id });
      await under.settle();
      await deleteMemory(under.ports, { id: settled.id });
      for (let time = 0; time < 2; time += 1) {
        expect(await texts()).toEqual([]);
        expect(found("tea")).toEqual([]);
        expect((await under.ports.store.readTokens([settled.id, pending.id])).size).toBe(0);
        await under.settle();
      }
    });

    it("replaces all windows of a text that becomes shorter", async () => {
      const { ports } = under;
      const long = await add(`${"filler ".repeat(400)} zebra`);
      await under.settle();
      await updateMemory(ports, { id: long.id, content: "short" });
      await under.settle();
      const { vector } = await ports.embedder.embedQuestion("filler filler filler");
      expect(ports.store.scoreVectors(vector).top(9)).toEqual([]);
    });

    it("shows salience as last written", async () => {
      const { id } = await add("tea");
      await under.settle();
      await reinforceMemory(under.ports, { id, boost: 0.5 });
      await under.settle();
      await reinforceMemory(under.ports, { id, boost: 0.5 });
      expect((await under.ports.store.readMemories([id])).get(id)?.salience).toBe(0.875);
    });

    it("writes many at once, each one", async () => {
      const contents = Array.from({ length: 120 }, (_, i) => `note number ${i}`);
      await Promise.all(contents.map((content) => add(content)));
      await under.settle();
      expect(new Set(await texts())).toEqual(new Set(contents));
      expect(await texts()).toHaveLength(contents.length);
    });

    it("writes a batch as one record", async () => {
      const items = Array.from({ length: 300 }, (_, i) => ({ content: `item ${i}`, sessionId: "s" }));
      const { results } = await addMemories(under.ports, { items });
      expect(results.filter((result) => result instanceof ServiceError)).toEqual([]);
      await under.settle();
      expect(await texts()).toEqual(items.map(({ content }) => content).reverse());
    });

    it("writes nothing when the decision throws", async () => {
      const { store } = under.ports;
      await expect(
        store.commit(() => {
          throw new ServiceError("CONFLICT", "no");
        }),
      ).rejects.toMatchObject({ code: "CONFLICT" });
      expect(store.catalogue.size).toBe(0);
    });

    it("refuses to write after it was closed", async () => {
      await under.close();
      await expect(add("tea")).rejects.toMatchObject({ code: "NOT_READY" });
    });
  });
}
