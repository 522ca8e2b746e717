import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FastifyInstance } from "fastify";
import { Compile } from "typebox/compile";
import { buildServer } from "../../src/http/server.ts";
import {
  GetDocumentReply,
  IngestReply,
  JobRecord,
  ListDocumentsReply,
  ListJobsReply,
} from "../../src/schemas/document.ts";
import { createDocumentWorld, type DocumentWorld } from "../support/document-world.ts";
import { createFakeOperations, fakeId } from "../support/fake-operations.ts";
import { serverParts } from "../support/test-server.ts";

let world: DocumentWorld;
let app: FastifyInstance;
let ids = 0;
beforeEach(() => {
  world = createDocumentWorld();
  ids = 0;
  Object.assign(world.documentPorts.ids, { newId: () => fakeId((ids += 1)) });
  app = buildServer({
    operations: () => createFakeOperations().operations,
    documents: world.operations,
    ...serverParts({}),
    limits: { maxUploadBytes: 5_000, maxJsonBytes: 20_000 },
  });
});
afterEach(() => app.close());

const post = (url: string, payload: object, headers = {}) =>
  app.inject({ method: "POST", url, payload, headers });
const get = (url: string) => app.inject({ method: "GET", url });
const base64 = (text: string) => Buffer.from(text).toString("base64");

function form(parts: readonly { name: string; value: string; filename?: string; type?: string }[]) {
  const body = parts.map(
    ({ name, value, filename, type }) =>
      `--B\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n` +
      `${type === undefined ? "" : `Content-Type: ${type}\r\n`}\r\n${value}\r\n`,
  );
  return {
    payload: `${body.join("")}--B--\r\n`,
    headers: { "content-type": "multipart/form-data; boundary=B" },
  };
}
const upload = (parts: Parameters<typeof form>[0], headers = {}) => {
  const { payload, headers: own } = form(parts);
  return app.inject({ method: "POST", url: "/ingest", payload, headers: { ...own, ...headers } });
};

describe("POST /ingest", () => {
  it("takes a text", async () => {
    const reply = await post("/ingest", {
      text: "# Note\nGarlic is in.",
      user_id: "ann",
      tags: ["a"],
      metadata: { filename: "n.md" },
    });
    expect(reply.statusCode).toBe(200);
    expect(Compile(IngestReply).Errors(reply.json())).toEqual([]);
    expect(reply.json()).toMatchObject({
      strategy: "single",
      child_count: 0,
      deduplicated: false,
      document: { filename: "n.md", bytes: 20 },
    });
  });

  it("undoes what forms escape in a filename, and nothing else", async () => {
    const reply = await upload([{ name: "file", value: "Garlic.", filename: "a%22b%22%0D%0A 5%25 %0a.txt" }]);
    expect(reply.json().document.filename).toBe('a"b" 5%25 %0a.txt');
  });

  it("refuses a filename that is too long, and keeps nothing of its file", async () => {
    const filename = `${"a".repeat(300)}.txt`;
    const replies = [
      await upload([{ name: "file", value: "Garlic.", filename }]),
      await post("/ingest", { text: "Garlic.", metadata: { filename } }),
    ];
    expect(replies.map(({ statusCode }) => statusCode)).toEqual([400, 400]);
    expect(replies[0]?.json().errors).toEqual([
      { path: "/file", message: "must have a name of at most 256 characters" },
    ]);
    expect(world.files.contents.size).toBe(0);
  });

  it("takes a file with fields that hold JSON", async () => {
    const reply = await upload([
      { name: "metadata", value: '{"bed":3}' },
      { name: "tags", value: '["x"]' },
      { name: "user_id", value: "ann" },
      { name: "project", value: "" },
      { name: "file", value: "Garlic is in.", filename: "../../etc/a b.txt", type: "text/plain" },
    ]);
    expect(reply.statusCode).toBe(200);
    const { document } = reply.json();
    expect(document.filename).toBe("a b.txt");
    expect((await get(`/documents/${document.id}`)).json()).toMatchObject({
      tags: ["x"],
      metadata: { bed: 3 },
      user_id: "ann",
    });
  });

  it("takes the language as metadata", async () => {
    const given = { language: "de", metadata: { bed: 3 } };
    const { document } = (await post("/ingest", { text: "Knoblauch.", ...given })).json();
    expect((await get(`/documents/${document.id}`)).json()).toMatchObject({
      metadata: { bed: 3, language: "de" },
    });
  });

  it.each([
    ["nothing", {}],
    ["two", { text: "a", url: "http://a.example" }],
    ["a number", { text: 5 }],
    ["an empty user", { text: "a", user_id: "" }],
    ["two languages", { text: "a", language: "de", metadata: { language: "en" } }],
  ])("refuses %s", async (_name, payload) => {
    expect((await post("/ingest", payload)).statusCode).toBe(400);
  });

  it("refuses bad parts, and keeps nothing", async () => {
    const file = { name: "file", value: "x", filename: "a.txt" };
    expect((await upload([file, { name: "text", value: "y" }])).statusCode).toBe(400);
    expect((await upload([file, { name: "tags", value: "[" }])).statusCode).toBe(400);
    expect((await upload([{ ...file, name: "other" }])).statusCode).toBe(400);
    expect((await upload([file, file])).statusCode).toBe(400);
    const tags = { name: "tags", value: '["x"]' };
    expect((await upload([tags, tags, file])).statusCode).toBe(400);
    const cut = form([file]);
    const torn = await app.inject({
      method: "POST",
      url: "/ingest",
      headers: cut.headers,
      payload: cut.payload.slice(0, -20),
    });
    expect(torn.statusCode).toBe(400);
    expect([...world.files.held.values()].filter((holders) => holders > 0)).toEqual([]);
  });

  it("names the limit that a file passes", async () => {
    const reply = await upload([{ name: "file", value: "x".repeat(5_001), filename: "a.txt" }]);
    expect(reply.statusCode).toBe(413);
    expect(reply.json()).toMatchObject({
      code: "TOO_LARGE",
      detail: expect.stringContaining("MEMORYD_MAX_UPLOAD_BYTES"),
    });
  });

  it("bounds all fields together as it bounds a body of JSON", async () => {
    const fields = ["a", "b", "c"].map((name) => ({ name, value: "x".repeat(8_000) }));
    const reply = await upload([...fields, { name: "text", value: "Garlic." }]);
    expect(reply.statusCode).toBe(413);
    expect(reply.json().detail).toMatch(/^All that is not the file is larger than \d+ bytes\.$/);
    expect((await upload([...fields.slice(1), { name: "text", value: "Garlic." }])).statusCode).toBe(200);
  });

  it("answers a job at once where that is preferred", async () => {
    world.holdExtractions();
    const reply = await post("/ingest", { text: "hello" }, { prefer: "respond-async" });
    expect(reply.statusCode).toBe(202);
    expect(Compile(JobRecord).Errors(reply.json())).toEqual([]);
    expect(reply.headers.location).toBe(`/jobs/${reply.json().id}`);
    expect((await app.inject({ method: "DELETE", url: `/jobs/${reply.json().id}` })).json().status).toBe(
      "cancelled",
    );
    expect((await post("/ingest", { text: "hi" }, { prefer: "wait=0" })).statusCode).toBe(202);
  });

  it("answers a failure as a problem, and the job has it", async () => {
    const reply = await post("/ingest", { text: "\u0000" });
    expect([reply.statusCode, reply.json().code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    const { items } = (await get("/jobs")).json();
    expect(items).toMatchObject([
      { status: "failed", problem: { code: "UNSUPPORTED_MEDIA_TYPE", status: 415 } },
    ]);
  });

  it("repeats with an Idempotency-Key what it answered, forms too", async () => {
    const key = { "idempotency-key": "k1" };
    const part = { name: "file", value: "tea", filename: "a.txt" };
    const [first, again] = [await upload([part], key), await upload([part], key)];
    expect(again.json()).toEqual(first.json());
    expect((await upload([{ ...part, value: "coffee" }], key)).statusCode).toBe(422);
  });
});

describe("POST /memory/ingest", () => {
  const send = (data: string) => post("/memory/ingest", { content_type: "txt", data });

  it("takes base64 in its forms", async () => {
    const plain = base64("Garlic?>~ is in."); // has + and / in it
    const forms = [
      plain,
      plain.replaceAll("=", ""),
      `data:text/plain;base64,${plain}`,
      plain.replace(/(.{8})/g, "$1\r\n"),
    ];
    for (const data of [...forms, plain.replaceAll("+", "-").replaceAll("/", "_")]) {
      expect((await send(data)).json()).toMatchObject({ document: { bytes: 16 } });
    }
  });

  it.each([
    "Garlic is in.",
    "abc$",
    "a",
    "ab=c",
    "data:text/plain,hello",
    "YQ=",
    "YWI===",
    "YW Jj",
    "YWJjY=JjYWJj",
    "YWJ\u0143",
    "\u0159WJj",
    "YWJj\u200bYWJ",
    "YWJjYW.j",
  ])("refuses %j", async (data) => {
    const reply = await send(data);
    expect([reply.statusCode, reply.json().errors[0].message]).toEqual([
      400,
      expect.stringContaining("/ingest"),
    ]);
  });
});

describe("POST /memory/ingest/url", () => {
  it("fetches, and refuses before a job what can be refused", async () => {
    world.pages.set("http://a.example/", "A page.");
    expect((await post("/memory/ingest/url", { url: "http://a.example/" })).json()).toMatchObject({
      document: { filename: "page.txt" },
    });
    expect((await post("/memory/ingest/url", { url: "http://b.example/" })).statusCode).toBe(502);
    expect((await post("/memory/ingest/url", { url: "file:///etc" })).statusCode).toBe(400);
  });
});

describe("documents and jobs", () => {
  it("are listed newest first, in pages, by owner", async () => {
    for (const text of ["one", "two", "three"]) await post("/ingest", { text, user_id: "ann", project: "p" });
    await post("/ingest", { text: "four" });
    const first = (await get("/documents?l=2&user_id=ann")).json();
    expect(Compile(ListDocumentsReply).Errors(first)).toEqual([]);
    expect([first.total, first.items.length]).toEqual([3, 2]);
    const next = (await get(`/documents?l=2&user_id=ann&cursor=${first.next_cursor}`)).json();
    expect(next).toMatchObject({ offset: 2, next_cursor: null, items: [{ bytes: 3 }] });
    expect((await get("/documents?project=")).json().total).toBe(1);
    const jobs = (await get("/jobs")).json();
    expect(Compile(ListJobsReply).Errors(jobs)).toEqual([]);
    expect(jobs.total).toBe(4);
  });

  it("are another's to nobody else", async () => {
    const { document } = (await post("/ingest", { text: "one", user_id: "ann" })).json();
    expect((await get(`/documents/${document.id}?user_id=bob`)).statusCode).toBe(404);
    expect((await get(`/documents/${document.id}/file?user_id=bob`)).statusCode).toBe(404);
    const gone = await app.inject({ method: "DELETE", url: `/documents/${document.id}?user_id=bob` });
    expect(gone.statusCode).toBe(403);
    const { items } = (await get("/jobs")).json();
    expect((await get(`/jobs/${items[0].id}?user_id=bob`)).statusCode).toBe(404);
  });

  it("are shown with chunks, and deleted with all of it", async () => {
    const { document, memory_ids } = (await post("/ingest", { text: "Garlic is in." })).json();
    const shown = (await get(`/documents/${document.id}`)).json();
    expect(Compile(GetDocumentReply).Errors(shown)).toEqual([]);
    expect(shown).toMatchObject({ memory_ids, chunk_total: 1, chunks: [{ content: "Garlic is in." }] });
    const gone = await app.inject({ method: "DELETE", url: `/documents/${document.id}` });
    expect(gone.json()).toEqual({ ok: true, id: document.id, deleted: 1 });
    expect((await get(`/documents/${document.id}`)).statusCode).toBe(404);
    expect((await get("/jobs")).json().total).toBe(0);
  });

  it("gives back the original with headers that keep it inert", async () => {
    const { document } = (
      await post("/ingest", { text: "<script>", metadata: { filename: 'ü"x.html' } })
    ).json();
    const reply = await get(`/documents/${document.id}/file`);
    expect(reply.body).toBe("<script>");
    expect(reply.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": "8",
      "content-disposition": `attachment; filename="__x.html"; filename*=UTF-8''%C3%BC%22x.html`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  });

  it("says as what it takes an original", async () => {
    const { document } = (await post("/ingest", { text: "Garlic is in." })).json();
    const url = `/documents/${document.id}/file`;
    const reply = await app.inject({ method: "PUT", url, payload: { a: 1 } });
    expect(reply.statusCode).toBe(415);
    expect(reply.json().detail).toBe(
      "Send the bytes of the original, with content-type: application/octet-stream.",
    );
  });

  it("takes back an original that is not kept, and no other bytes", async () => {
    const { document } = (await post("/ingest", { text: "Garlic is in." })).json();
    const url = `/documents/${document.id}/file`;
    const put = (payload: string) =>
      app.inject({ method: "PUT", url, payload, headers: { "content-type": "application/octet-stream" } });
    const isKept = async () => (await get(`/documents/${document.id}`)).json().has_original;
    expect(await isKept()).toBe(true);
    world.files.contents.clear();
    expect(await isKept()).toBe(false);
    expect((await get(url)).statusCode).toBe(404);

    expect((await put("Leeks are in.")).statusCode).toBe(422);
    expect((await put("x".repeat(5_001))).statusCode).toBe(413);
    expect([...world.files.held.values()].every((count) => count === 0)).toBe(true);
    expect((await get(url)).statusCode).toBe(404);
    expect((await put("Garlic is in.")).json()).toEqual({ ok: true, id: document.id });
    expect((await put("Garlic is in.")).statusCode).toBe(200);
    expect((await get(url)).body).toBe("Garlic is in.");
    expect(await isKept()).toBe(true);
  });
});
