import { beforeEach, describe, expect, it } from "vitest";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createDocumentWorld, type DocumentWorld } from "../support/document-world.ts";

let world: DocumentWorld;
let all: Operations;
beforeEach(() => {
  world = createDocumentWorld();
  all = bindOperations(world.ports);
});

const changes = async (userId?: string) =>
  (await all.listChanges({ since: 0, limit: 1_000, ...(userId !== undefined && { userId }) })).items.map(
    ({ kind, id }) => `${kind} ${id}`,
  );
const kinds = async () => (await changes()).map((change) => change.split(" ")[0]);

describe("the feed", () => {
  it("names what happens to memories, and nothing that changes no version of them", async () => {
    const { memory } = await all.addMemory({ content: "tea" });
    const { id } = memory;
    await all.addMemory({ content: "tea" });
    await all.reinforceMemory({ id, boost: 1 });
    await all.updateMemory({ id, tags: ["drink"] });
    await all.updateMemory({ id });
    await all.deleteMemory({ id });
    await expect(all.deleteMemory({ id })).rejects.toThrow();
    expect(await changes()).toEqual([`memory.added ${id}`, `memory.updated ${id}`, `memory.deleted ${id}`]);
    const [added] = (await all.listChanges({ since: 0, limit: 1 })).items;
    expect(added).toMatchObject({ userId: null, at: memory.createdAt });
  });

  it("names each memory of a batch, and one that an export brings back in a later version as restored", async () => {
    const { results } = await all.addMemories({
      items: [{ content: "one" }, { content: "two", userId: "ann" }],
    });
    const [one, two] = results.map((result) => ("memory" in result ? result.memory.id : ""));
    expect(await changes()).toEqual([`memory.added ${one}`, `memory.added ${two}`]);
    expect(await changes("ann")).toEqual([`memory.added ${two}`]);
    await all.updateMemory({ id: two ?? "", tags: ["x"] });
    const records = [];
    for await (const each of await all.exportRecords({ waypoints: false })) records.push(each);
    const elsewhere = bindOperations(createDocumentWorld().ports);
    await elsewhere.restoreRecords({ items: records });
    expect(
      (await elsewhere.listChanges({ since: 0, limit: 9 })).items.map(({ kind, id }) => `${kind} ${id}`),
    ).toEqual([`memory.added ${one}`, `memory.restored ${two}`]);
  });

  it("names a fact once a record, however many of its versions change", async () => {
    const record = (object: string, validFrom: number) =>
      all.recordFact({ subject: "Ada", predicate: "lives in", object, validFrom, userId: "ann" });
    const { fact: york } = await record("York", 1_000);
    const { fact: leeds } = await record("Leeds", 2_000);
    await all.updateFact({ id: york.id, confidence: 0.5 });
    await all.eraseFact({ id: york.id });
    expect(await changes()).toEqual([
      `fact.added ${york.id}`,
      expect.stringMatching(/^fact[.]/),
      expect.stringMatching(/^fact[.]/),
      `fact.updated ${york.id}`,
      `fact.deleted ${york.id}`,
    ]);
    expect((await changes()).slice(1, 3).toSorted()).toEqual(
      [`fact.added ${leeds.id}`, `fact.updated ${york.id}`].toSorted(),
    );
    expect(await changes("ben")).toEqual([]);
  });

  it("names documents, jobs and the memories of a document", async () => {
    const job = await world.send("A text about tea.", { userId: "ann" });
    const { result } = await world.operations.awaitJob({ id: job }, new AbortController().signal);
    const id = result?.document.id ?? "";
    expect(await changes("ann")).toEqual(
      expect.arrayContaining([`job.added ${job}`, `document.added ${id}`, `job.updated ${job}`]),
    );
    expect(await kinds()).toContain("memory.added");
    await world.operations.deleteDocument({ id });
    expect(await changes()).toContain(`document.deleted ${id}`);
    expect(await kinds()).toContain("memory.deleted");
  });

  it("says what was restored: an earlier version, and from the trash a memory or a document with its memories", async () => {
    const { memory } = await all.addMemory({ content: "tea" });
    const { id } = memory;
    await all.updateMemory({ id, content: "coffee" });
    await all.restoreVersion({ id, version: 1 });
    await all.deleteMemory({ id, trash: true });
    await all.restoreFromTrash({ id });
    expect(await changes()).toEqual(
      ["added", "updated", "restored", "deleted", "restored"].map((how) => `memory.${how} ${id}`),
    );
    const job = await world.send("A text about tea.");
    const { result } = await world.operations.awaitJob({ id: job }, new AbortController().signal);
    const [root = ""] = result?.memoryIds ?? [];
    await all.deleteMemory({ id: root, trash: true });
    await all.restoreFromTrash({ id: root });
    expect((await changes()).slice(-5)).toEqual([
      `memory.deleted ${root}`,
      `document.deleted ${result?.document.id}`,
      `job.deleted ${job}`,
      `memory.restored ${root}`,
      `document.restored ${result?.document.id}`,
    ]);
  });

  it("leaves of an erased user only that, also where all was deleted before", async () => {
    const { memory } = await all.addMemory({ content: "tea", userId: "ann" });
    await all.addMemory({ content: "tea", userId: "ben" });
    await all.deleteMemory({ id: memory.id });
    const erase = () => all.deleteUserMemories({ userId: "ann", keepsDocuments: false, includesFacts: true });
    await erase();
    expect(await kinds()).toEqual(["memory.added", "user.erased"]);
    expect(await changes("ann")).toEqual(["user.erased ann"]);
    await all.deleteUserMemories({ userId: "zoe", keepsDocuments: false, includesFacts: true });
    expect(await changes("zoe")).toEqual([]);
  });
});

describe("following it", () => {
  const follow = (signal: AbortSignal, more: { since?: number; userId?: string } = {}) =>
    all.followChanges({ limit: 2, signal, heartbeatMs: 60_000, ...more });

  it("gives a page at once, further ones as changes come, and ends when it is told", async () => {
    await all.addMemory({ content: "before" });
    const stop = new AbortController();
    const pages = await follow(stop.signal);
    expect((await pages.next()).value).toMatchObject({ items: [], reset: false });
    const next = pages.next();
    const { memory } = await all.addMemory({ content: "tea" });
    expect((await next).value).toMatchObject({ items: [{ kind: "memory.added", id: memory.id }] });
    // What comes while the reader is busy is not missed.
    await all.addMemory({ content: "one" });
    await all.addMemory({ content: "two" });
    await all.addMemory({ content: "three" });
    expect((await pages.next()).value?.items).toHaveLength(2);
    expect((await pages.next()).value?.items).toHaveLength(1);
    const last = pages.next();
    stop.abort();
    expect((await last).done).toBe(true);
  });

  it("says when it is quiet, and nothing of what others changed meanwhile", async () => {
    const stop = new AbortController();
    const pages = await all.followChanges({
      limit: 2,
      userId: "ann",
      signal: stop.signal,
      heartbeatMs: 50,
    });
    const first = await pages.next();
    const second = pages.next();
    await all.addMemory({ content: "tea", userId: "ben" });
    const { value } = await second;
    expect(value).toEqual(first.value);
    stop.abort();
  });
});
