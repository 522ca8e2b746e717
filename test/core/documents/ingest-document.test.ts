import { beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/core/errors.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { relatedMemories } from "../../../src/core/memories/related-memories.ts";
import { createDocumentWorld, type DocumentWorld } from "../../support/document-world.ts";

const filler = (word: string, count = 120) =>
  Array.from({ length: count }, (_, i) => `${word}${i}`).join(" ");
const LONG = [
  "# Almanac",
  "[page 1]",
  "## Soil",
  `Loam holds water. ${filler("soil")}`,
  "[page 2]",
  "## Bees",
  `The queen bee of hive nine is called Beatrix. ${filler("bee")}`,
  "## Frost",
  `Frost came early. ${filler("frost")}`,
].join("\n");

let world: DocumentWorld;
beforeEach(() => {
  world = createDocumentWorld();
});

const catalogue = () => world.ports.store.catalogue;
const documentOf = (view: Awaited<ReturnType<DocumentWorld["ingest"]>>) => {
  if (view.result === undefined) throw new Error(`no result: ${view.status} ${view.problem?.message}`);
  return view.result;
};

describe("ingestDocument", () => {
  it("keeps a short document as one memory", async () => {
    const view = await world.ingest("# Note\nThe garlic is in.", {
      tags: ["t"],
      userId: "ann",
      metadata: { a: 1 },
    });
    const { document, memoryIds } = documentOf(view);
    expect(view.status).toBe("succeeded");
    expect(document).toMatchObject({ strategy: "single", filename: "notes.txt", userId: "ann", bytes: 24 });
    expect(memoryIds).toEqual([document.rootMemoryId]);
    const memory = (await world.ports.store.readMemories(memoryIds)).get(document.rootMemoryId);
    expect(memory).toMatchObject({
      content: "# Note\n\nThe garlic is in.",
      tags: ["t"],
      metadata: { a: 1 },
      userId: "ann",
    });
    expect(memory?.source).toEqual({
      documentId: document.id,
      filename: "notes.txt",
      mediaType: "text/plain",
      chunkIndex: 0,
      chunkCount: 1,
    });
  });

  it("makes a root and chunks, in one record, linked in order, each with its page and section", async () => {
    const { document, memoryIds } = documentOf(await world.ingest(LONG));
    expect(document.strategy).toBe("root-child");
    const memories = await world.ports.store.readMemories(memoryIds);
    const [root, ...chunks] = memoryIds.map((id) => memories.get(id));
    expect(root?.content).toMatch(/^Almanac\n\n.*Contents:/s);
    expect(
      chunks.map((chunk) => [chunk?.source?.chunkIndex, chunk?.source?.page, chunk?.source?.section]),
    ).toEqual([
      [0, 1, "Almanac › Soil"],
      [1, 2, "Almanac › Bees"],
      [2, 2, "Almanac › Frost"],
    ]);
    expect(chunks.every((chunk) => !chunk?.content.includes("Almanac"))).toBe(true);
    const { edges } = await relatedMemories(world.ports, { id: memoryIds[0] ?? "", depth: 3 });
    expect(edges.map(({ source, target, kind }) => [source, target, kind])).toEqual(
      memoryIds.slice(1).map((target, i) => [memoryIds[i], target, "same-document"]),
    );
    const [, first = "", second = "", third = ""] = memoryIds;
    await deleteMemory(world.ports, { id: second });
    const around = await relatedMemories(world.ports, { id: third, depth: 1 });
    expect(around.edges).toMatchObject([{ source: first, target: third, kind: "same-document" }]);
    const record = world.memory.records.find((changes) => changes.some(({ table }) => table === "documents"));
    expect(record?.filter(({ table }) => table === "memories")).toHaveLength(4);
  });

  it("finds a fact in the middle, and a chunk by its heading, also after the chunk was changed", async () => {
    const { memoryIds } = documentOf(await world.ingest(LONG));
    const ask = async (query: string) =>
      (await queryMemory(world.ports, { query, limit: 1, filter: {} })).hits[0]?.memory;
    expect((await ask("Who is the queen of hive nine?"))?.source?.page).toBe(2);
    await updateMemory(world.ports, { id: memoryIds[3] ?? "", content: "It was cold." });
    expect(await ask("frost")).toMatchObject({
      content: "It was cold.",
      source: { section: "Almanac › Frost" },
    });
  });

  it("answers the first document for the same bytes of the same user and project", async () => {
    const first = documentOf(await world.ingest(LONG, { userId: "ann" }));
    const again = documentOf(await world.ingest(LONG, { userId: "ann", tags: ["other"] }));
    expect(again).toEqual({ ...first, deduplicated: true });
    expect(world.extractions).toBe(1);
    const others = [await world.ingest(LONG), await world.ingest(LONG, { userId: "ann", project: "p" })];
    for (const other of others) expect(documentOf(other)).toMatchObject({ deduplicated: false });
  });

  it("remembers every path under which the same bytes were sent, unless the first sender named none", async () => {
    const send = async (text: string, path: string | undefined) =>
      documentOf(await world.ingest(text, path === undefined ? {} : { metadata: { path, x: 1 } })).document
        .metadata;
    expect(await send(LONG, "/a.md")).toEqual({ path: "/a.md", x: 1 });
    expect(await send(LONG, "/b.md")).toEqual({ path: ["/a.md", "/b.md"], x: 1 });
    expect(await send(LONG, "/a.md")).toEqual({ path: ["/a.md", "/b.md"], x: 1 });
    expect(await send("Another text.", undefined)).toEqual({});
    expect(await send("Another text.", "/c.md")).toEqual({});
  });

  it("cites a document by the name it was last sent under", async () => {
    const { document, memoryIds } = documentOf(await world.ingest(LONG, { filename: "old.txt" }));
    const names = async () => {
      const now = catalogue().documents.byId.get(document.id);
      const memories = await world.ports.store.readMemories(now?.memoryIds ?? []);
      return new Set([now?.filename, ...[...memories.values()].map(({ source }) => source?.filename)]);
    };
    const written = world.memory.records.length;
    const again = documentOf(await world.ingest(LONG, { filename: "new.txt" }));
    expect(again.document).toEqual({ ...document, filename: "new.txt" });
    expect(await names()).toEqual(new Set(["new.txt"]));
    const changed = world.memory.records.slice(written).flat();
    expect(changed.map(({ table }) => table).toSorted()).toEqual(["documents", "jobs"]);
    await world.ingest(LONG, { filename: "new.txt" });
    expect(world.memory.records.at(-1)).toHaveLength(1);
    await deleteMemory(world.ports, { id: memoryIds[2] ?? "" });
    await world.ingest(LONG, { filename: "third.txt" });
    expect(await names()).toEqual(new Set(["third.txt"]));
    const file = await world.operations.receiveFile();
    await file.write(Buffer.from(LONG));
    await world.operations.ingest({ original: { file: await file.keep() } });
    expect(await names()).toEqual(new Set(["third.txt"]));
  });

  it("takes the last name also while the bytes are on their way", async () => {
    const release = world.holdExtractions();
    const id = await world.send(LONG, { filename: "old.txt" });
    expect(await world.send(LONG, { filename: "new.txt" })).toBe(id);
    release();
    await world.jobs.ended(id);
    const { result } = world.operations.getJob({ id });
    expect(result?.document.filename).toBe("new.txt");
    const [memory] = (await world.ports.store.readMemories(result?.memoryIds ?? [])).values();
    expect(memory?.source?.filename).toBe("new.txt");
  });

  it("takes the last name also while the page is fetched", async () => {
    const url = "http://a.example/tea";
    world.pages.set(url, LONG);
    const arrive = world.holdFetches();
    const { id } = await world.operations.ingest({ original: { url }, filename: "old.txt" });
    expect(await world.operations.ingest({ original: { url }, filename: "new.txt" })).toMatchObject({ id });
    arrive();
    await world.jobs.ended(id);
    expect(world.operations.getJob({ id }).result?.document.filename).toBe("new.txt");
  });

  it("makes again what was deleted, and leaves what was changed", async () => {
    const { document, memoryIds } = documentOf(await world.ingest(LONG));
    const [root = "", soil = "", bees = "", frost = ""] = memoryIds;
    await updateMemory(world.ports, { id: soil, content: "Clay." });
    await deleteMemory(world.ports, { id: bees });
    const again = documentOf(await world.ingest(LONG));
    expect(again).toMatchObject({ deduplicated: true, document: { id: document.id } });
    expect(again.memoryIds).toEqual([root, soil, expect.not.stringContaining(bees), frost]);
    const memories = await world.ports.store.readMemories(again.memoryIds);
    expect(memories.get(soil)?.content).toBe("Clay.");
    expect(memories.get(again.memoryIds[2] ?? "")?.content).toContain("Beatrix");
  });

  it("does the same bytes once while they are on their way", async () => {
    const release = world.holdExtractions();
    const [first, second] = [await world.send(LONG), await world.send(LONG)];
    expect(second).toBe(first);
    release();
    await world.jobs.ended(first);
    expect(world.extractions).toBe(1);
    expect(catalogue().documents.byId.size).toBe(1);
  });

  it("refuses stored bytes by another name as it would refuse new ones, and shares no job with what is called else", async () => {
    await world.ingest(LONG);
    await expect(world.send(LONG, { claimedType: "pdf" })).rejects.toMatchObject({
      code: "UNSUPPORTED_MEDIA_TYPE",
    });
    expect(documentOf(await world.ingest(LONG, { claimedType: "txt" }))).toMatchObject({
      deduplicated: true,
    });
    const release = world.holdExtractions();
    const [bad, good] = [await world.send("Fresh.", { claimedType: "pdf" }), await world.send("Fresh.")];
    expect(good).not.toBe(bad);
    release();
    await Promise.all([world.jobs.ended(bad), world.jobs.ended(good)]);
    expect(world.operations.getJob({ id: bad })).toMatchObject({
      status: "failed",
      progress: { stage: "done" },
      problem: { code: "UNSUPPORTED_MEDIA_TYPE" },
    });
    expect(world.operations.getJob({ id: good }).status).toBe("succeeded");
  });

  it("fails with the reason, and keeps nothing", async () => {
    const view = await world.ingest("\u0000");
    expect(view).toMatchObject({ status: "failed", problem: { code: "UNSUPPORTED_MEDIA_TYPE" } });
    expect(catalogue().size).toBe(0);
    expect(await world.ingest("BUG")).toMatchObject({ status: "failed", problem: { code: "INTERNAL" } });
    expect(world.reported).toHaveLength(1);
  });

  it("fetches a page, and keeps its address", async () => {
    world.pages.set("http://a.example/x", "# Page\nText of the page.");
    const input = { original: { url: "http://a.example/x" } };
    const view = await world.operations.ingest(input);
    const done = await world.operations.awaitJob({ id: view.id }, new AbortController().signal);
    expect(documentOf(done).document).toMatchObject({
      url: "http://a.example/x?final",
      filename: "page.txt",
    });
    await expect(world.operations.ingest({ original: { url: "file:///etc/passwd" } })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  });

  it("lets go of the file of a job that failed or was cancelled, once no row needs it", async () => {
    await world.ingest("\u0000");
    world.holdExtractions();
    const id = await world.send(LONG);
    await world.operations.cancelJob({ id });
    expect(world.files.letGoOf).toEqual([...world.files.contents.keys()]);
    expect(world.files.letGoOf.some((sha256) => catalogue().documents.needsFile(sha256))).toBe(false);
  });

  it("lets go of every file", async () => {
    await world.ingest(LONG);
    await world.ingest("\u0000");
    world.pages.set("http://a.example/x", "page");
    const { id } = await world.operations.ingest({ original: { url: "http://a.example/x" } });
    await world.jobs.ended(id);
    expect([...world.files.held.values()].filter((holders) => holders > 0)).toEqual([]);
  });
});

describe("deleting", () => {
  it("a root takes its chunks, its document, its jobs and the need of its file along", async () => {
    const view = await world.ingest(LONG);
    const { document } = documentOf(view);
    expect(catalogue().documents.needsFile(document.sha256)).toBe(true);
    expect(await deleteMemory(world.ports, { id: document.rootMemoryId })).toEqual({
      id: document.rootMemoryId,
      deleted: 4,
    });
    expect(catalogue().size).toBe(0);
    expect(catalogue().documents.needsFile(document.sha256)).toBe(false);
    expect(() => world.operations.getJob({ id: view.id })).toThrow("no job");
    await expect(
      world.operations.getDocument({ id: document.id, limit: 9, offset: 0 }),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("a chunk leaves the rest", async () => {
    const { document, memoryIds } = documentOf(await world.ingest(LONG));
    await deleteMemory(world.ports, { id: memoryIds[1] ?? "" });
    const { chunks, total } = await world.operations.getDocument({ id: document.id, limit: 9, offset: 0 });
    expect([chunks.length, total]).toEqual([2, 2]);
  });

  it("a document by its id, with the file kept while another needs it", async () => {
    const { document } = documentOf(await world.ingest(LONG, { userId: "ann" }));
    await world.ingest(LONG, { userId: "bob" });
    await expect(world.operations.deleteDocument({ id: document.id, userId: "bob" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await world.operations.deleteDocument({ id: document.id, userId: "ann" })).toEqual({
      id: document.id,
      deleted: 4,
    });
    expect(catalogue().documents.needsFile(document.sha256)).toBe(true);
  });
});

describe("jobs", () => {
  it("tell how far they are, and can be cancelled", async () => {
    world.holdExtractions();
    const id = await world.send(LONG);
    await new Promise((done) => setImmediate(done));
    expect(world.operations.getJob({ id })).toMatchObject({
      status: "running",
      progress: { stage: "extracting" },
    });
    expect(await world.operations.cancelJob({ id })).toMatchObject({ status: "cancelled" });
    expect(await world.operations.cancelJob({ id })).toMatchObject({ status: "cancelled" });
    expect(catalogue().size).toBe(0);
    expect(world.jobs.running).toBe(0);
  });

  it("are over only when what they made is durable and can be found", async () => {
    const release = world.holdExtractions();
    const id = await world.send(LONG);
    world.memory.hold();
    release();
    while (catalogue().size === 0) await new Promise((done) => setImmediate(done));
    const view = world.operations.getJob({ id });
    expect(view).toMatchObject({ status: "running", progress: { stage: "storing" }, finishedAt: null });
    expect(view.result).toBeUndefined();
    let isEnded = false;
    const ended = world.jobs.ended(id).then(() => (isEnded = true));
    await new Promise((done) => setImmediate(done));
    expect(isEnded).toBe(false);
    await world.memory.release("durable");
    await ended;
    expect(world.operations.getJob({ id })).toMatchObject({
      status: "succeeded",
      result: { deduplicated: false },
    });
  });

  const book = (word: string) => `${word}\n`.repeat(20_000);
  const statuses = async (ids: readonly string[]) => {
    await new Promise((done) => setImmediate(done));
    return ids.map((id) => world.operations.getJob({ id }).status);
  };

  it("run two at a time, the others in order", async () => {
    const release = world.holdExtractions();
    const ids = [
      await world.send(book("one")),
      await world.send(book("two")),
      await world.send(book("three")),
    ];
    expect(await statuses(ids)).toEqual(["running", "running", "queued"]);
    release();
    await Promise.all(ids.map((id) => world.jobs.ended(id)));
    expect(catalogue().documents.byId.size).toBe(3);
  });

  it("keep a place for a small document beside the large ones", async () => {
    world.holdExtractions();
    const ids = [await world.send(book("one")), await world.send(book("two"))];
    const notes = [await world.send("a note"), await world.send("another note")];
    expect(await statuses([...ids, ...notes])).toEqual(["running", "running", "running", "queued"]);
    await world.jobs.close();
  });

  it("wait for pages outside the places for documents, and take one when the page is there", async () => {
    const arrive = world.holdFetches();
    const submit = async (n: number) => {
      world.pages.set(`http://a.example/${n}`, `Page ${n} of the log.`);
      return (await world.operations.ingest({ original: { url: `http://a.example/${n}` } })).id;
    };
    const pages = [];
    for (let n = 0; n < 9; n += 1) pages.push(await submit(n));
    const note = await world.ingest("a note");
    expect(note.status).toBe("succeeded");
    expect(await statuses(pages)).toEqual([...Array.from({ length: 8 }, () => "running"), "queued"]);
    arrive();
    await Promise.all(pages.map((id) => world.jobs.ended(id)));
    expect(await statuses(pages)).toEqual(pages.map(() => "succeeded"));
    expect(catalogue().documents.byId.size).toBe(10);
  });

  it("stay queued when the daemon stops, and go on when it starts", async () => {
    const release = world.holdExtractions();
    const id = await world.send(LONG);
    await new Promise((done) => setImmediate(done));
    await world.jobs.close();
    expect(catalogue().documents.jobs.get(id)?.status).toBe("queued");
    release();
    const { IngestJobs } = await import("../../../src/core/documents/ingest-jobs.ts");
    const next = new IngestJobs(world.documentPorts, { concurrency: 2, report: () => {} });
    next.start();
    await next.ended(id);
    expect(catalogue().documents.jobs.get(id)?.status).toBe("succeeded");
  });

  it("fail where the store does not take their end, and go on with the next start", async () => {
    const release = world.holdExtractions();
    const id = await world.send(LONG);
    await new Promise((done) => setImmediate(done));
    world.memory.hold();
    release();
    // What is staged goes to the journal in a later turn.
    while (catalogue().size === 0 || world.memory.waiting === 0)
      await new Promise((done) => setImmediate(done));
    const { store } = world.ports;
    const commit = store.commit.bind(store);
    // As of a journal that takes nothing more.
    store.commit = () => Promise.reject(new ServiceError("NOT_READY", "The data directory was moved."));
    await world.memory.release("refused");
    await world.jobs.ended(id);
    const failed = { status: "failed", progress: { stage: "done" }, problem: { code: "NOT_READY" } };
    expect(world.operations.getJob({ id })).toMatchObject(failed);
    expect(await world.operations.awaitJob({ id: id }, new AbortController().signal)).toMatchObject(failed);
    expect(catalogue().size).toBe(0);
    expect(catalogue().documents.jobs.get(id)?.status).toBe("queued");
    store.commit = commit;
    // Taken up again, it is on its way like any other, while it waits for its turn too.
    const releaseOthers = world.holdExtractions();
    for (const text of ["one", "two", "three"]) await world.send(text);
    world.jobs.enqueue(id);
    expect(world.operations.getJob({ id })).toMatchObject({ status: "queued" });
    releaseOthers();
    await world.jobs.ended(id);
    expect(world.operations.getJob({ id })).toMatchObject({ status: "succeeded" });
  });

  it("answer an idempotent repeat with the same job, and GONE after the document went", async () => {
    const idempotency = { key: "k", bodyHash: "h" };
    const first = await world.ingest(LONG, { idempotency });
    expect((await world.ingest(LONG, { idempotency })).id).toBe(first.id);
    await world.operations.deleteDocument({ id: documentOf(first).document.id });
    await expect(world.send(LONG, { idempotency })).rejects.toMatchObject({ code: "GONE" });
  });

  it("are forgotten a day after they ended", async () => {
    const { id } = await world.ingest("one");
    world.now += 25 * 60 * 60 * 1_000;
    await world.ingest("two");
    expect(() => world.operations.getJob({ id })).toThrow("no job");
  });
});
