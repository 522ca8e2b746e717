import { beforeEach, describe, expect, it } from "vitest";
import { documentOperationsFor, operationsFor } from "../../src/core/isolation.ts";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createDocumentWorld, type DocumentWorld } from "../support/document-world.ts";

let world: DocumentWorld;
let all: Operations;
let anns: Operations;
beforeEach(() => {
  world = createDocumentWorld();
  all = bindOperations(world.ports);
  anns = operationsFor("ann", all);
});

describe("operationsFor", () => {
  it("leaves a caller who is bound to nobody as it is", () => {
    expect(operationsFor(undefined, all)).toBe(all);
    expect(documentOperationsFor(undefined, world.operations)).toBe(world.operations);
  });

  it("writes and reads as the bound user where none is named", async () => {
    const { memory } = await anns.addMemory({ content: "likes tea" });
    await all.addMemory({ content: "nobody's tea" });
    await all.addMemory({ content: "ben's tea", userId: "ben" });

    expect(memory.userId).toBe("ann");
    const listed = await anns.listMemories({ filter: {}, limit: 10, offset: 0 });
    expect(listed.items.map(({ id }) => id)).toEqual([memory.id]);
    expect(listed.total).toBe(1);
  });

  it("refuses another user's name, item by item in a batch", async () => {
    await expect(anns.addMemory({ content: "x", userId: "ben" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    const { results } = await anns.addMemories({
      items: [{ content: "mine" }, { content: "x", userId: "ben" }],
    });
    expect(results).toMatchObject([{ memory: { userId: "ann" } }, { code: "FORBIDDEN" }]);
  });

  it.each(["ben", undefined])("answers for the memory of %s as for an unknown one", async (userId) => {
    const { memory } = await all.addMemory({ content: "tea", ...(userId !== undefined && { userId }) });
    const calls = [
      (id: string) => anns.getMemory({ id }),
      (id: string) => anns.relatedMemories({ id, depth: 1 }),
      (id: string) => anns.updateMemory({ id, content: "coffee" }),
      (id: string) => anns.reinforceMemory({ id, boost: 0.5 }),
      (id: string) => anns.deleteMemory({ id, ifVersion: 9 }),
    ];
    for (const call of calls) {
      const [found, unknown] = await Promise.allSettled([call(memory.id), call("unknown")]);
      expect(found).toMatchObject({ status: "rejected", reason: { code: "NOT_FOUND" } });
      expect(found).toEqual(unknown);
    }
    expect(await all.getMemory({ id: memory.id })).toMatchObject({ content: "tea", version: 1 });
  });

  it("takes no memory of another's for the source of a fact", async () => {
    const { memory } = await all.addMemory({ content: "tea", userId: "ben" });
    const fact = { subject: "a", predicate: "b", object: "c", sourceMemoryId: memory.id };
    await expect(anns.recordFact(fact)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("documentOperationsFor", () => {
  it("answers for another's documents and jobs as for unknown ones", async () => {
    const anns = documentOperationsFor("ann", world.operations);
    const jobId = await world.send("ben's notes", { userId: "ben" });
    const { result } = await world.operations.awaitJob({ id: jobId }, new AbortController().signal);
    const calls = [
      async (id: string) => anns.getJob({ id }),
      (id: string) => anns.cancelJob({ id }),
      (id: string) => anns.awaitJob({ id: id }, AbortSignal.abort()),
      (id: string) => anns.getDocument({ id, limit: 1, offset: 0 }),
      (id: string) => anns.readOriginal({ id }),
      (id: string) => anns.deleteDocument({ id }),
    ];
    for (const [index, call] of calls.entries()) {
      const known = index < 3 ? jobId : (result?.document.id ?? "");
      const [found, unknown] = await Promise.allSettled([call(known), call("unknown")]);
      expect(found).toMatchObject({ status: "rejected", reason: { code: "NOT_FOUND" } });
      expect(found).toEqual(unknown);
    }
    expect(anns.listJobs({ limit: 9, offset: 0 }).total).toBe(0);
    expect(anns.listDocuments({ limit: 9, offset: 0 }).total).toBe(0);
  });
});
