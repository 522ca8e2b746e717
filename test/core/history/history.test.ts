import { describe, expect, it, vi } from "vitest";
import { bindOperations } from "../../../src/core/operations.ts";
import { expireVersions } from "../../../src/core/history/trash.ts";
import { createDocumentWorld } from "../../support/document-world.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";

const PAGE = { limit: 100, offset: 0 };
const DAY_MS = 24 * 3_600_000;

function createWorld() {
  const world = createMemoryWorld();
  return Object.assign(world, { all: bindOperations(world.ports) });
}
type World = ReturnType<typeof createWorld>;

async function contents({ all }: World, id: string): Promise<string[]> {
  const { items } = await all.memoryHistory({ id, ...PAGE });
  return items.map(
    ({ memory, change, changedBy }) => `${memory.version} ${memory.content} ${change} ${changedBy}`,
  );
}

async function found({ all }: World, query: string): Promise<string[]> {
  const { hits } = await all.queryMemory({ query, limit: 5, filter: {}, includeFacts: false });
  return hits.map(({ memory }) => memory.content);
}

/** Long enough in steps that are believed. */
async function passDays(world: World, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    world.now += DAY_MS;
    await expireVersions(world.ports);
  }
}

describe("the history of a memory", () => {
  it("has every version, and who made it, newest first", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "tea at four", createdBy: "ann" });
    const { id } = memory;
    expect(await contents(world, id)).toEqual(["1 tea at four created ann"]);
    world.now += 1_000;
    await world.all.updateMemory({ id, content: "tea at five", tags: ["tea"], changedBy: "agent" });
    await world.all.updateMemory({ id, tags: ["drinks"], changedBy: "ben" });
    expect(await contents(world, id)).toEqual([
      "3 tea at five updated ben",
      "2 tea at five updated agent",
      "1 tea at four created ann",
    ]);
    const { items, total } = await world.all.memoryHistory({ id, limit: 1, offset: 1 });
    expect([items[0]?.memory.version, items.length, total]).toEqual([2, 1, 3]);
  });

  it("brings a version back as a new one, found by its own words", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({
      content: "the key is under the mat",
      metadata: { a: 1 },
      project: "house",
      occurredAt: 5,
    });
    const { id } = memory;
    await world.all.updateMemory({
      id,
      content: "nothing here",
      metadata: {},
      project: null,
      occurredAt: null,
      changedBy: "agent",
    });
    const restored = await world.all.restoreVersion({ id, version: 1, changedBy: "ann" });
    expect(restored).toMatchObject({
      version: 3,
      content: "the key is under the mat",
      metadata: { a: 1 },
      project: "house",
      occurredAt: 5,
    });
    expect(await found(world, "where is the key?")).toEqual(["the key is under the mat"]);
    expect((await contents(world, id))[0]).toBe("3 the key is under the mat restored ann");
    await expect(world.all.restoreVersion({ id, version: 9 })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(world.all.restoreVersion({ id, version: 1, userId: "ben" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    // The present one is no change.
    expect((await world.all.restoreVersion({ id, version: 3 })).version).toBe(3);
  });

  it("is removed for good where it is asked, and by final deletion", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "secret 4711" });
    const { id } = memory;
    await world.all.updateMemory({ id, content: "no secret" });
    expect(await world.all.eraseHistory({ id })).toEqual({ id, deleted: 1 });
    expect((await world.all.memoryHistory({ id, ...PAGE })).total).toBe(1);
    await expect(world.all.restoreVersion({ id, version: 1 })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await world.all.updateMemory({ id, content: "again" });
    await world.all.deleteMemory({ id });
    expect([...world.ports.store.catalogue.versions.all()]).toEqual([]);
  });

  it("keeps nothing with 0 days, and then deletes for good", async () => {
    const world = createMemoryWorld();
    const all = bindOperations({ ...world.ports, historyMs: 0 });
    const { memory } = await all.addMemory({ content: "one" });
    const { id } = memory;
    await all.updateMemory({ id, content: "two" });
    expect((await all.memoryHistory({ id, ...PAGE })).total).toBe(1);
    await all.deleteMemory({ id, trash: true });
    expect((await all.listTrash(PAGE)).total).toBe(0);
    await expect(all.undoChanges({ dryRun: false })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("holds a thousand versions at most", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "counter" });
    for (let i = 0; i < 1_002; i += 1) await world.all.updateMemory({ id: memory.id, metadata: { i } });
    const { items, total } = await world.all.memoryHistory({ id: memory.id, limit: 1, offset: 1_000 });
    expect([total, items[0]?.memory.version]).toEqual([1_001, 3]);
  });

  it("is as it was where a write is refused", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "one" });
    world.memory.hold();
    const change = world.all.updateMemory({ id: memory.id, tags: ["two"] });
    const outcome = change.catch((error: { code: string }) => error.code);
    await new Promise((resolve) => setImmediate(resolve));
    await world.memory.release("refused");
    expect(await outcome).toBe("STORE_FULL");
    expect((await world.all.memoryHistory({ id: memory.id, ...PAGE })).total).toBe(1);
  });
});

describe("the trash", () => {
  it("brings a memory back with its history, its salience and the facts' source", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({
      content: "Ada lives in York",
      tags: ["city"],
      userId: "ann",
    });
    const { id } = memory;
    await world.all.updateMemory({ id, tags: ["home"], changedBy: "ben" });
    await world.all.reinforceMemory({ id, boost: 0.5 });
    const { fact } = await world.all.recordFact({
      subject: "Ada",
      predicate: "lives in",
      object: "York",
      userId: "ann",
      sourceMemoryId: id,
    });
    expect(await world.all.deleteMemory({ id, trash: true, deletedBy: "agent" })).toEqual({ id, deleted: 1 });
    expect(await found(world, "where does Ada live?")).toEqual([]);
    await expect(world.all.getMemory({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await world.all.getFact({ id: fact.id })).sourceMemoryId).toBeNull();
    // Another version of it, since.
    await world.all.updateFact({ id: fact.id, confidence: 0.4 });

    const { items, total } = await world.all.listTrash({ userId: "ann", ...PAGE });
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({ deletedBy: "agent", memories: 1, purgeAfter: world.now + 30 * DAY_MS });
    expect(items[0]?.memory).toMatchObject({ id, version: 2, tags: ["home"] });
    expect((await world.all.listTrash({ userId: "ben", ...PAGE })).total).toBe(0);
    await expect(world.all.restoreFromTrash({ id, userId: "ben" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });

    const back = await world.all.restoreFromTrash({ id, restoredBy: "ann" });
    expect(back).toMatchObject({ id, version: 3, tags: ["home"], salience: 0.75, userId: "ann" });
    expect(await found(world, "where does Ada live?")).toEqual(["Ada lives in York"]);
    expect(await world.all.getFact({ id: fact.id })).toMatchObject({ sourceMemoryId: id, confidence: 0.4 });
    expect((await world.all.listTrash(PAGE)).total).toBe(0);
    expect(await contents(world, id)).toEqual([
      "3 Ada lives in York restored ann",
      "2 Ada lives in York updated ben",
      "1 Ada lives in York created null",
    ]);
    await expect(world.all.restoreFromTrash({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("is emptied one by one, of one user, of everybody", async () => {
    const world = createWorld();
    const ids: string[] = [];
    for (const userId of ["ann", "ann", "ben"]) {
      const { memory } = await world.all.addMemory({ content: `note ${ids.length}`, userId });
      await world.all.updateMemory({ id: memory.id, tags: ["x"] });
      await world.all.deleteMemory({ id: memory.id, trash: true });
      ids.push(memory.id);
    }
    const [first = "", second = ""] = ids;
    await expect(world.all.eraseFromTrash({ id: first, userId: "ben" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await world.all.eraseFromTrash({ id: first })).toEqual({ id: first, deleted: 1 });
    await expect(world.all.restoreFromTrash({ id: first })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await world.all.emptyTrash({ userId: "ann" })).toEqual({ deleted: 1 });
    await expect(world.all.restoreFromTrash({ id: second })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await world.all.listTrash(PAGE)).total).toBe(1);
    expect(await world.all.emptyTrash({})).toEqual({ deleted: 1 });
    expect([...world.ports.store.catalogue.versions.all()]).toEqual([]);
  });

  it("loses what is past its days, and nothing by a clock that jumps", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "kept" });
    await world.all.updateMemory({ id: memory.id, tags: ["x"] });
    await passDays(world, 20);
    const gone = (await world.all.addMemory({ content: "gone" })).memory.id;
    await world.all.deleteMemory({ id: gone, trash: true });
    const right = world.now;
    for (const jump of [3_650 * DAY_MS, -20_000 * DAY_MS, 40 * DAY_MS]) {
      world.now = right + jump;
      // As daemons do: once per hour, also for a few days.
      for (let hour = 0; hour < 60; hour += 1) {
        world.now += 3_600_000;
        expect(await expireVersions(world.ports)).toBe(0);
      }
      // What is deleted meanwhile has its days from before the jump.
      const { memory: other } = await world.all.addMemory({ content: `while ${jump}` });
      await world.all.deleteMemory({ id: other.id, trash: true });
      world.now = right;
      expect(await expireVersions(world.ports)).toBe(0);
    }
    await passDays(world, 10);
    expect((await world.all.memoryHistory({ id: memory.id, ...PAGE })).total).toBe(1);
    expect((await world.all.listTrash(PAGE)).total).toBe(4);
    await passDays(world, 20);
    expect((await world.all.listTrash(PAGE)).total).toBe(0);
    expect([...world.ports.store.catalogue.versions.all()]).toEqual([]);
  });

  it("believes in a clock that went on for a week where it jumped to", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "kept" });
    await world.all.deleteMemory({ id: memory.id, trash: true });
    await expireVersions(world.ports);
    world.now += 90 * DAY_MS;
    expect(await expireVersions(world.ports)).toBe(0);
    world.now += 8 * DAY_MS;
    expect(await expireVersions(world.ports)).toBe(1);
  });

  it("goes with a user's data, with the history", async () => {
    const world = createWorld();
    for (const userId of ["ann", "ben"]) {
      const { memory } = await world.all.addMemory({ content: "one", userId });
      await world.all.updateMemory({ id: memory.id, content: "two" });
      const other = (await world.all.addMemory({ content: "three", userId })).memory.id;
      await world.all.deleteMemory({ id: other, trash: true });
    }
    await world.all.deleteUserMemories({ userId: "ann", keepsDocuments: false, includesFacts: false });
    const left = [...world.ports.store.catalogue.versions.all()];
    expect(left.map(({ userId }) => userId)).toEqual(["ben", "ben"]);
    // Nothing erased comes back.
    const undone = await world.all.undoChanges({ since: 0, userId: "ann", dryRun: false });
    expect(undone).toEqual([]);
  });

  it("gives way to an import of the same memory", async () => {
    const world = createWorld();
    const { memory } = await world.all.addMemory({ content: "one" });
    const records = [];
    for await (const record of await world.all.exportRecords({ waypoints: false })) records.push(record);
    await world.all.deleteMemory({ id: memory.id, trash: true });
    const { results } = await world.all.restoreRecords({ items: records });
    expect(results).toEqual([{ id: memory.id, outcome: "added" }]);
    expect((await world.all.listTrash(PAGE)).total).toBe(0);
    await expect(world.all.restoreFromTrash({ id: memory.id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a document in the trash", () => {
  const TEXT = Array.from({ length: 40 }, (_, i) =>
    `Paragraph ${i} on bees, hives and honey.`.repeat(12),
  ).join("\n\n");

  async function createWithDocument() {
    const world = createDocumentWorld();
    const all = bindOperations(world.ports);
    const { result } = await world.ingest(TEXT, { userId: "ann" });
    const document = result?.document;
    if (document === undefined) throw new Error("no document");
    const count = document.memoryIds.length;
    expect(count).toBeGreaterThan(2);
    return { world, all, document, count };
  }

  it("comes back as one entry, with its chunks in order and its original", async () => {
    const { world, all, document, count } = await createWithDocument();
    const { id, rootMemoryId, sha256 } = document;
    const before = await world.operations.getDocument({ id, ...PAGE });
    expect(await world.operations.deleteDocument({ id, trash: true, deletedBy: "ann" })).toEqual({
      id,
      deleted: count,
    });
    const { catalogue } = world.ports.store;
    expect(catalogue.size).toBe(0);
    expect(catalogue.documents.byId.get(id)).toBeUndefined();
    expect(catalogue.documents.neededFiles()).toEqual([sha256]);
    const { items, total } = await all.listTrash(PAGE);
    expect([total, items[0]?.memory.id, items[0]?.memories]).toEqual([1, rootMemoryId, count]);
    const chunk = before.memoryIds.at(-1) ?? "";
    await expect(all.restoreFromTrash({ id: chunk })).rejects.toMatchObject({ code: "CONFLICT" });

    await all.restoreFromTrash({ id: rootMemoryId });
    const after = await world.operations.getDocument({ id, ...PAGE });
    expect(after.memoryIds).toEqual(before.memoryIds);
    expect(after.chunks.map(({ content }) => content)).toEqual(before.chunks.map(({ content }) => content));
    expect(after.document).toMatchObject({ filename: document.filename, sha256 });
    const { edges } = await all.relatedMemories({ id: rootMemoryId, depth: 1 });
    expect(edges.some(({ kind }) => kind === "same-document")).toBe(true);
    expect((await all.listTrash(PAGE)).total).toBe(0);
    expect(catalogue.documents.neededFiles()).toEqual([sha256]);
    await world.operations.deleteDocument({ id });
    expect(catalogue.documents.neededFiles()).toEqual([]);
    expect([...catalogue.versions.all()]).toEqual([]);
  });

  it("is listed, brought back and erased without a look at the rest of the trash", async () => {
    const { world, all, document, count } = await createWithDocument();
    const roots = [document.rootMemoryId];
    for (let i = 1; i < 12; i += 1)
      roots.push((await world.ingest(`Volume ${i}. ${TEXT}`)).result?.document.rootMemoryId ?? "");
    for (const id of roots) await all.deleteMemory({ id, trash: true });
    const { versions } = world.ports.store.catalogue;
    const kept = [...versions.all()].length;
    expect(kept).toBeGreaterThanOrEqual(12 * count);
    let visited = 0;
    const counted = <T>(entries: Iterable<T>) => [...entries].map((entry) => ((visited += 1), entry));
    const [allOf, ofDocument] = [versions.all.bind(versions), versions.ofDocument.bind(versions)];
    vi.spyOn(versions, "all").mockImplementation(() => counted(allOf()));
    vi.spyOn(versions, "ofDocument").mockImplementation((id) => counted(ofDocument(id)));
    const visitsOf = async (work: () => Promise<unknown>) => {
      visited = 0;
      await work();
      return visited;
    };
    const listed = await all.listTrash(PAGE);
    expect(listed.items.reduce((sum, { memories }) => sum + memories, 0)).toBe(kept);
    expect(await visitsOf(() => all.listTrash(PAGE))).toBe(2 * kept);
    const [first = "", second = ""] = roots;
    expect(await visitsOf(() => all.eraseFromTrash({ id: second }))).toBeLessThan(kept / 4);
    expect(await visitsOf(() => all.restoreFromTrash({ id: first }))).toBeLessThan(kept / 4);
    expect(await visitsOf(() => world.operations.deleteDocument({ id: document.id }))).toBeLessThan(kept / 4);
  });

  it("takes what was deleted of it before along when it is erased", async () => {
    const { world, all, document, count } = await createWithDocument();
    const chunk = document.memoryIds.at(-1) ?? "";
    await all.updateMemory({ id: chunk, tags: ["x"] });
    await all.deleteMemory({ id: chunk, trash: true });
    const other = (await world.ingest(`Another. ${TEXT}`, { userId: "ann" })).result?.document;
    const foreign = other?.memoryIds.at(-1) ?? "";
    await all.deleteMemory({ id: foreign, trash: true });
    await all.deleteMemory({ id: document.rootMemoryId, trash: true });
    expect((await all.listTrash(PAGE)).items.map(({ memories }) => memories)).toEqual(
      expect.arrayContaining([1, 1, count - 1]),
    );
    expect(await all.eraseFromTrash({ id: chunk })).toEqual({ id: chunk, deleted: 1 });
    await all.restoreFromTrash({ id: document.rootMemoryId });
    const next = document.memoryIds.at(-2) ?? "";
    await all.updateMemory({ id: next, tags: ["x"] });
    await all.deleteMemory({ id: next, trash: true });
    await all.deleteMemory({ id: document.rootMemoryId, trash: true });
    expect((await all.eraseFromTrash({ id: document.rootMemoryId })).deleted).toBe(count - 1);
    expect((await all.listTrash(PAGE)).items.map(({ memory }) => memory.id)).toEqual([foreign]);
    await expect(all.restoreFromTrash({ id: next })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect([...world.ports.store.catalogue.versions.all()].map(({ memoryId }) => memoryId)).toEqual([
      foreign,
    ]);
  });

  it("gives a chunk back to the document, unless that is away or was made again", async () => {
    const { world, all, document } = await createWithDocument();
    const { id, rootMemoryId } = document;
    const chunk = document.memoryIds.at(-1) ?? "";
    await all.deleteMemory({ id: chunk, trash: true });
    await all.deleteMemory({ id: rootMemoryId, trash: true });
    expect((await all.listTrash(PAGE)).total).toBe(2);
    await expect(all.restoreFromTrash({ id: chunk })).rejects.toMatchObject({ code: "CONFLICT" });
    await all.restoreFromTrash({ id: rootMemoryId });
    await all.restoreFromTrash({ id: chunk });
    expect((await world.operations.getDocument({ id, ...PAGE })).memoryIds).toEqual(document.memoryIds);

    await all.deleteMemory({ id: chunk, trash: true });
    await world.ingest(TEXT, { userId: "ann" });
    await expect(all.restoreFromTrash({ id: chunk })).rejects.toMatchObject({ code: "CONFLICT" });
    await all.deleteMemory({ id: rootMemoryId, trash: true });
    const again = await world.ingest(TEXT, { userId: "ann" });
    expect(again.result?.document.id).not.toBe(id);
    await expect(all.restoreFromTrash({ id: rootMemoryId })).rejects.toMatchObject({ code: "CONFLICT" });
    // Away for good with all its memories.
    await all.eraseFromTrash({ id: rootMemoryId });
    expect(world.ports.store.catalogue.documents.byId.get(id)).toBeUndefined();
  });
});
