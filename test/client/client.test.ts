/** The client over real HTTP, against the server over fakes. */
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient, type Job, type MemorydClient, MemorydError } from "../../src/client/client.ts";
import { createDocumentWorld } from "../support/document-world.ts";
import { FAKE_STATUS, fakeId } from "../support/fake-operations.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let url: string;
let client: MemorydClient;
beforeEach(async () => {
  const documents = createDocumentWorld();
  let ids = 0;
  Object.assign(documents.documentPorts.ids, { newId: () => fakeId((ids += 1)) });
  server = createTestServer({}, { documents: documents.operations });
  await server.app.listen({ host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
  client = createClient({ url: `${url}/`, clientName: "a-test" });
});
afterEach(async () => await server.app.close());

describe("memories", () => {
  it("are added, read, changed under their version, reinforced, linked and deleted", async () => {
    const added = await client.memories.add({ content: "Tea.", tags: ["drink"], user_id: "ann" });
    expect(added).toMatchObject({ content: "Tea.", created_by: "a-test", deduplicated: false });
    const { id } = added;
    expect(await client.memories.get(id, { user_id: "ann" })).toMatchObject({ tags: ["drink"], version: 1 });
    expect(await client.memories.update(id, { tags: [] }, { ifVersion: 1 })).toMatchObject({ version: 2 });
    await expect(client.memories.update(id, { tags: ["x"] }, { ifVersion: 1 })).rejects.toMatchObject({
      name: "MemorydError",
      code: "VERSION_MISMATCH",
      status: 412,
    });
    expect((await client.memories.reinforce(id, { boost: 0.5 })).salience).toBeCloseTo(0.75);
    expect((await client.memories.related(id, { depth: 2 })).nodes).toHaveLength(1);
    await expect(client.memories.delete(id, { user_id: "bob" })).rejects.toMatchObject({ status: 403 });
    expect(await client.memories.delete(id, {}, { ifVersion: 2 })).toEqual({ ok: true, id, deleted: 1 });
    await expect(client.memories.get(id)).rejects.toBeInstanceOf(MemorydError);
  });

  it("are tagged many at a time, each judged by itself", async () => {
    const { id } = await client.memories.add({ content: "Tea.", tags: ["drink"] });
    const memories = [{ id, version: 1 }, { id: "nonsense" }];
    const { results, tagged, failed } = await client.memories.tag({
      memories,
      add: ["hot"],
      remove: ["drink"],
    });
    expect({ tagged, failed }).toEqual({ tagged: 1, failed: 1 });
    expect(results).toMatchObject([
      { status: 200, id, version: 2, tags: ["hot"] },
      { status: 404, code: "NOT_FOUND" },
    ]);
  });

  it("come page by page, and stop when nobody asks on", async () => {
    await client.memories.addMany(Array.from({ length: 150 }, (_, index) => ({ content: `Note ${index}.` })));
    const contents: string[] = [];
    for await (const { content } of client.memories.list()) contents.push(content);
    expect(contents).toHaveLength(150);
    expect(contents[0]).toBe("Note 149.");
    expect(new Set(contents).size).toBe(150);
    const pages = () => server.calls.filter(({ name }) => name === "listMemories").length;
    expect(pages()).toBe(2);
    for await (const memory of client.memories.list({ project: "" })) {
      expect(memory.content).toBe("Note 149.");
      break;
    }
    expect(pages()).toBe(3);
    expect(await client.memories.page({ l: 3 })).toMatchObject({ total: 150, limit: 3 });
  });

  it("are found by a question", async () => {
    await client.memories.add({ content: "Tea." });
    const { matches } = await client.query("what to drink?", { k: 1, filters: { tags: [] }, snippet: 20 });
    expect(matches[0]).toMatchObject({ content: "Tea.", snippet: "Tea.", score: 0.5 });
    await expect(client.query("x", { k: 0 })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      errors: [{ path: "/k", message: expect.any(String) }],
      requestId: expect.any(String),
    });
  });
});

describe("facts", () => {
  it("are recorded, read in every way, closed and erased", async () => {
    const place = { subject: "Ada", predicate: "lives in" };
    const { results } = await client.facts.recordMany([
      { ...place, object: "London", valid_from: "2016-01-01" },
      { ...place, object: "Paris", valid_from: "2021-01-01" },
    ]);
    expect(results.map(({ status }) => status)).toEqual([200, 200]);
    const { id } = await client.facts.current(place);
    expect((await client.facts.get(id)).object).toBe("Paris");
    const all: string[] = [];
    for await (const { object } of client.facts.list({ subject: "ada" })) all.push(object);
    expect(all).toEqual(["Paris", "London"]);
    expect((await client.facts.page({ at: "2017-01-01" })).facts[0]?.object).toBe("London");
    expect((await client.facts.timeline({ subject: "Ada" })).timeline).toHaveLength(3);
    expect((await client.facts.search({ pattern: "lond*" })).total).toBe(1);
    const { summary } = await client.facts.compare({ time1: "2017-01-01", time2: "2022-01-01" });
    expect(summary.changed).toBe(1);
    expect((await client.facts.stats()).total_facts).toBe(2);
    expect((await client.facts.volatile({ limit: 1 })).count).toBe(1);
    expect((await client.facts.update(id, { confidence: 0.5 })).confidence).toBe(0.5);
    expect((await client.facts.close(id, { valid_to: "2023-01-01" })).valid_to).toMatch(/^2023-01-01/);
    expect((await client.facts.erase(id)).id).toBe(id);
    await expect(client.facts.get(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await client.facts.record({ ...place, object: "Rome" })).superseded).toEqual([]);
  });
});

describe("the service and its users", () => {
  it("say what they have", async () => {
    expect(await client.health()).toMatchObject({ ok: true });
    expect((await client.version()).version).toBe(FAKE_STATUS.version);
    expect((await client.stats()).memory_count).toBe(FAKE_STATUS.memoryCount);
    expect((await client.sectors()).sectors).toHaveLength(5);
    await client.memories.add({ content: "Tea.", user_id: "a/b c" });
    for await (const { user_id } of client.users.memories("a/b c")) expect(user_id).toBe("a/b c");
    expect(server.lastInput("listMemories")).toMatchObject({ filter: { userId: "a/b c" } });
    expect(await client.users.deleteMemories("a/b c", { include: "facts" })).toMatchObject({ deleted: 1 });
    expect(await client.users.page()).toMatchObject({ total: 0 });
    for await (const user of client.users.list()) expect(user).toBeUndefined();
  });
});

describe("documents", () => {
  it("go in as text, as bytes and as a file, and are read, downloaded and deleted", async () => {
    const seen: Job["status"][] = [];
    const result = await client.documents.ingest(
      { text: "# Garlic\n\nPlant it in October." },
      { tags: ["garden"], metadata: { filename: "garlic.md" }, project: "plot" },
      { onProgress: ({ status }) => void seen.push(status) },
    );
    expect(result).toMatchObject({ deduplicated: false, document: { filename: "garlic.md" } });
    const { id } = result.document;
    expect((await client.documents.get(id)).chunk_total).toBeGreaterThan(0);
    expect(await (await client.documents.file(id)).text()).toContain("October");

    const bytes = new Blob(["Leeks stand the winter."], { type: "text/plain" });
    const second = await client.documents.ingest(
      { file: bytes, filename: "leeks.txt" },
      { tags: ["garden"], metadata: { bed: 3 }, project: "plot" },
    );
    expect(second.document.filename).toBe("leeks.txt");
    const names: (string | null)[] = [];
    for await (const { filename, metadata } of client.documents.list({ project: "plot" })) {
      names.push(filename);
      if (filename === "leeks.txt") expect(metadata).toMatchObject({ bed: 3 });
    }
    expect(names).toEqual(["leeks.txt", "garlic.md"]);
    expect((await client.jobs.page()).items.length).toBeGreaterThan(0);
    expect((await client.documents.delete(id)).deleted).toBeGreaterThan(0);
    await expect(client.documents.get(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("fail with what their job failed with", async () => {
    await expect(
      client.documents.ingest({ file: new Blob([new Uint8Array(64)]), filename: "nothing.pdf" }),
    ).rejects.toMatchObject({ name: "MemorydError", code: expect.stringMatching(/^UN/) });
    await expect(client.jobs.wait(fakeId(99))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

it("sends its key", async () => {
  const guarded = createTestServer({}, { access: { apiKey: "a-key-of-some-length" } });
  await guarded.app.listen({ host: "127.0.0.1", port: 0 });
  const there = `http://127.0.0.1:${(guarded.app.server.address() as AddressInfo).port}`;
  try {
    await expect(createClient({ url: there }).sectors()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    const known = createClient({ url: there, apiKey: "a-key-of-some-length" });
    expect((await known.sectors()).sectors).toHaveLength(5);
  } finally {
    await guarded.app.close();
  }
});

it("makes keys, moves everything, and calls any other address", async () => {
  const made = await client.keys.create({ name: "laptop", scope: "admin" });
  const known = createClient({ url, apiKey: made.key });
  expect((await known.keys.list()).keys).toMatchObject([{ id: made.id, name: "laptop", state: "active" }]);
  expect(await known.compaction.start()).toMatchObject({ started: true });
  const lines = await new Response(await known.transfer.export()).text();
  expect(lines).toMatch(/^\{"format":"memoryd-export"[^]*"type":"end"/);
  expect(await known.transfer.import(lines)).toMatchObject({ failed: 0 });
  await expect(known.shutDown()).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(await known.call({ method: "GET", path: "/livez" })).toEqual({ ok: true });
  expect((await known.keys.revoke(made.id)).state).toBe("revoked");
});
