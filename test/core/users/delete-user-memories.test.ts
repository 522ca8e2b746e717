import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { recordFact } from "../../../src/core/facts/record-fact.ts";
import { deleteUserMemories } from "../../../src/core/users/delete-user-memories.ts";
import { edgeId } from "../../../src/core/rows.ts";
import { listUsers } from "../../../src/core/users/list-users.ts";
import { createDocumentWorld, type DocumentWorld } from "../../support/document-world.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
});

const add = (content: string, userId?: string, idempotencyKey?: string) =>
  addMemory(world.ports, {
    content,
    ...(userId !== undefined && { userId }),
    ...(idempotencyKey !== undefined && { idempotency: { key: idempotencyKey, bodyHash: content } }),
  });
const erase = (options: { keepsDocuments?: boolean; includesFacts?: boolean } = {}) =>
  deleteUserMemories(world.ports, { userId: "u", keepsDocuments: false, includesFacts: false, ...options });
const rememberFact = (userId: string, sourceMemoryId?: string) =>
  recordFact(world.ports, {
    subject: "Ann",
    predicate: "owns",
    object: "a kite",
    userId,
    ...(sourceMemoryId && { sourceMemoryId }),
  });
const left = () => world.ports.store.catalogue.page({}, { limit: 100, offset: 0 }).ids;

async function link(source: string, target: string): Promise<void> {
  const row = { source, target, kind: "link", weight: 1, createdAt: 0 } as const;
  await world.ports.store.commit(() => ({
    changes: [{ table: "edges", id: edgeId(row), row }],
    result: undefined,
  }));
}

/** Changes of the last record that leave something behind under an id. */
const remainders = () => (world.memory.records.at(-1) ?? []).filter(({ row }) => row !== null);

describe("deleting the memories of a user", () => {
  it("takes all of theirs, in one record, and nobody else's", async () => {
    await add("the kite is red", "u");
    await add("the kite is blue", "u");
    const { memory: other } = await add("the kite is green", "v");
    const { memory: nobodys } = await add("the kite is white");
    const before = world.memory.records.length;
    expect(await erase()).toEqual({ deleted: 2, deletedDocuments: 0, deletedFacts: 0 });
    expect(world.memory.records).toHaveLength(before + 1);
    expect(remainders()).toEqual([]);
    expect(left()).toEqual([nobodys.id, other.id]);
    expect(world.ports.store.scoreWords([{ term: "kite", weight: 1 }], 20).top(10)).toHaveLength(2);
  });

  it("removes every waypoint of what goes", async () => {
    const { memory: first } = await add("one", "u");
    const { memory: second } = await add("two", "u");
    await link(first.id, second.id);
    await erase();
    const edges = (world.memory.records.at(-1) ?? []).filter(({ table }) => table === "edges");
    expect(edges.map(({ id }) => id)).toEqual(["m1>m2:link"]);
  });

  it("writes nothing for somebody unknown", async () => {
    await add("one", "v");
    const before = world.memory.records.length;
    expect(await erase()).toEqual({ deleted: 0, deletedDocuments: 0, deletedFacts: 0 });
    expect(world.memory.records).toHaveLength(before);
  });

  it("leaves what an idempotent request made as gone", async () => {
    await add("one", "u", "key");
    await erase();
    await expect(add("one", "u", "key")).rejects.toMatchObject({ code: "GONE" });
  });

  it("takes what was accepted before it, and leaves what comes after", async () => {
    world.memory.hold();
    const accepted = add("accepted and not durable yet", "u");
    await new Promise((turn) => setImmediate(turn));
    const erasing = erase();
    const later = add("comes later", "u");
    await new Promise((turn) => setImmediate(turn));
    await world.memory.release("durable");
    expect((await erasing).deleted).toBe(1);
    await accepted;
    expect(left()).toEqual([(await later).memory.id]);
  });

  it("changes nothing when the journal refuses it", async () => {
    const { memory } = await add("one", "u");
    const { memory: second } = await add("two", "u");
    await link(memory.id, second.id);
    const waypoints = world.ports.store.catalogue.edgesOf(memory.id);
    world.memory.hold();
    const refused = erase().catch((error: unknown) => error);
    while (left().length > 0) await new Promise((turn) => setImmediate(turn));
    // What is staged goes to the journal a turn later.
    await new Promise((turn) => setImmediate(turn));
    await world.memory.release("refused");
    expect(await refused).toMatchObject({ code: "STORE_FULL" });
    expect(left()).toEqual([second.id, memory.id]);
    expect(world.ports.store.catalogue.edgesOf(memory.id)).toEqual(waypoints);
  });

  it("keeps facts, and has them name none of what went as their source", async () => {
    const { memory } = await add("Ann has a kite", "u");
    await rememberFact("u", memory.id);
    await erase();
    const [fact] = world.ports.store.catalogue.facts.timelines({ userId: "u" }).flatMap(({ facts }) => facts);
    expect(fact?.latest.sourceMemoryId).toBeNull();
  });

  it("takes facts along where that is asked, and nobody else's", async () => {
    const { memory } = await add("Ann has a kite", "u");
    await rememberFact("u", memory.id);
    await rememberFact("v");
    expect(await erase({ includesFacts: true })).toMatchObject({ deleted: 1, deletedFacts: 1 });
    expect(world.ports.store.catalogue.facts.timelines({}).map(({ userId }) => userId)).toEqual(["v"]);
    expect(remainders()).toEqual([]);
  });
});

describe("the list of users", () => {
  it("counts what each has, in the order of ids, a page at a time", async () => {
    await add("one", "b");
    world.now += 1_000;
    await add("two", "b");
    await add("nobody's");
    await rememberFact("a");
    const page = listUsers(world.ports, { limit: 1, offset: 0 });
    expect(page).toMatchObject({
      total: 2,
      isMore: true,
      items: [{ userId: "a", memoryCount: 0, factCount: 1 }],
    });
    const next = listUsers(world.ports, { limit: 1, offset: 0, after: "a" });
    expect(next.items).toEqual([
      {
        userId: "b",
        memoryCount: 2,
        factCount: 0,
        documentCount: 0,
        firstMemoryAt: world.now - 1_000,
        lastMemoryAt: world.now,
      },
    ]);
    expect(next.isMore).toBe(false);
  });

  it("forgets who has nothing any more", async () => {
    await add("one", "u");
    await erase();
    expect(listUsers(world.ports, { limit: 10, offset: 0 }).items).toEqual([]);
  });
});

describe("deleting the documents of a user", () => {
  const deleting = (documents: DocumentWorld, keepsDocuments: boolean) => {
    const { jobs } = documents;
    return deleteUserMemories(
      { ...documents.ports, stopJob: (job) => jobs.stop(job), noteErasure: async () => {} },
      { userId: "u", keepsDocuments, includesFacts: false },
    );
  };

  it("takes them with their memories, and what their jobs answered", async () => {
    const documents = createDocumentWorld();
    const { id, result } = await documents.ingest("the kite is red", { userId: "u" });
    await documents.ingest("the kite is blue", { userId: "v" });
    expect(await deleting(documents, false)).toMatchObject({ deleted: 1, deletedDocuments: 1 });
    expect(() => documents.operations.getJob({ id })).toThrow("no job");
    const index = documents.ports.store.catalogue.documents;
    expect(index.needsFile(result?.document.sha256 ?? "")).toBe(false);
    expect(index.byId.size).toBe(1);
    expect(documents.memory.records.at(-1)?.filter(({ row }) => row !== null)).toEqual([]);
  });

  it("keeps them whole where that is asked", async () => {
    const documents = createDocumentWorld();
    const { id, result } = await documents.ingest("the kite is red", { userId: "u" });
    await addMemory(documents.ports, { content: "a note", userId: "u" });
    expect(await deleting(documents, true)).toMatchObject({ deleted: 1, deletedDocuments: 0 });
    expect(documents.operations.getJob({ id }).result).toEqual(result);
  });

  it("cancels what is on its way", async () => {
    const documents = createDocumentWorld();
    const release = documents.holdExtractions();
    const id = await documents.send("the kite is red", { userId: "u" });
    const answer = documents.operations.awaitJob({ id: id }, new AbortController().signal);
    const deleted = deleting(documents, false);
    await new Promise((turn) => setImmediate(turn));
    release();
    await deleted;
    expect((await answer).status).toBe("cancelled");
    expect(documents.ports.store.catalogue.size).toBe(0);
    expect(documents.files.letGoOf).toEqual([...documents.files.contents.keys()]);
  });
});
