import { describe, expect, it } from "vitest";
import { ServiceError } from "../../src/core/errors.ts";
import { fakeId, FAKE_NOW } from "../support/fake-operations.ts";
import { createTestServer } from "../support/test-server.ts";

const time = new Date(FAKE_NOW).toISOString();

describe("POST /memory/add", () => {
  it("answers the whole record, times in RFC 3339", async () => {
    const { post, lastInput } = createTestServer();
    const reply = await post(
      "/memory/add",
      {
        content: "planted garlic",
        tags: ["allotment"],
        metadata: { bed: 3 },
        user_id: "ada",
        project: "garden",
        session_id: "s1",
        occurred_at: "2026-11-20",
        sector: "episodic",
      },
      { headers: { "x-memoryd-client": "notes-import" } },
    );
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({
      id: fakeId(1),
      content: "planted garlic",
      tags: ["allotment"],
      metadata: { bed: 3 },
      user_id: "ada",
      project: "garden",
      session_id: "s1",
      occurred_at: "2026-11-20T00:00:00.000Z",
      primary_sector: "episodic",
      sectors: ["episodic"],
      salience: 0.5,
      created_at: time,
      updated_at: time,
      last_seen_at: time,
      version: 1,
      created_by: "notes-import",
      source: null,
      supersedes: [],
      superseded_by: null,
      superseded_at: null,
      superseded_how: null,
      deduplicated: false,
    });
    expect(lastInput("addMemory")).toMatchObject({
      occurredAt: Date.UTC(2026, 10, 20),
      createdBy: "notes-import",
    });
  });

  it("takes created_at for a time that nobody gave", async () => {
    const reply = await createTestServer().post("/memory/add", { content: "x" });
    expect(reply.json().occurred_at).toBe(time);
  });

  it("names a writer in UTF-8, and refuses one that cannot be printed", async () => {
    const { post } = createTestServer();
    const add = (client: string) =>
      post("/memory/add", { content: "x" }, { headers: { "x-memoryd-client": client } });
    expect((await add(Buffer.from("Jürgen").toString("latin1"))).json().created_by).toBe("Jürgen");
    expect((await add("")).json().created_by).toBeNull();
    expect((await add("a".repeat(256))).statusCode).toBe(200);
    expect((await add("a".repeat(257))).statusCode).toBe(400);
    expect((await add("a\tb")).statusCode).toBe(400);
    expect((await add("\xff")).statusCode).toBe(400);
  });

  it("makes the same idempotency key of the same caller, route, user and key only", async () => {
    const { post, lastInput } = createTestServer();
    const keyOf = async (body: object, key: string) => {
      await post("/memory/add", body, { headers: { "idempotency-key": key } });
      return lastInput("addMemory").idempotency;
    };
    const first = await keyOf({ content: "x", user_id: "ada" }, "k1");
    expect(first).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await keyOf({ content: "x", user_id: "ada" }, "k1")).toEqual(first);
    expect((await keyOf({ content: "y", user_id: "ada" }, "k1"))?.key).toBe(first?.key);
    expect((await keyOf({ content: "y", user_id: "ada" }, "k1"))?.bodyHash).not.toBe(first?.bodyHash);
    expect((await keyOf({ content: "x", user_id: "bob" }, "k1"))?.key).not.toBe(first?.key);
    expect((await keyOf({ content: "x", user_id: "ada" }, "k2"))?.key).not.toBe(first?.key);

    await post("/memory/add/batch", { memories: [] }, { headers: { "idempotency-key": "k1" } });
    expect(lastInput("addMemories").idempotency?.key).not.toBe(first?.key);
  });

  it.each(["", "a b", "ä", "k".repeat(256)])("refuses the Idempotency-Key %j", async (key) => {
    const reply = await createTestServer().post(
      "/memory/add",
      { content: "x" },
      { headers: { "idempotency-key": key } },
    );
    expect(reply.statusCode).toBe(400);
    expect(reply.json().errors[0].path).toBe("/idempotency-key");
  });
});

describe("POST /memory/add/batch", () => {
  it("judges items one by one and answers in their order", async () => {
    const { post, lastInput } = createTestServer();
    const reply = await post(
      "/memory/add/batch",
      {
        memories: [
          { content: "a" },
          { content: 5 },
          7,
          { content: "x".repeat(200_001) },
          { content: "b", user_id: "ada" },
        ],
      },
      { headers: { "x-memoryd-client": "notes-import" } },
    );
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toMatchObject({
      results: [
        { status: 200, id: fakeId(1), content: "a", deduplicated: false },
        { status: 400, code: "INVALID_REQUEST", errors: [{ path: "/memories/1/content" }] },
        { status: 400, code: "INVALID_REQUEST", errors: [{ path: "/memories/2" }] },
        { status: 413, code: "TOO_LARGE", errors: [{ path: "/memories/3/content" }] },
        { status: 200, id: fakeId(2), content: "b" },
      ],
      added: 2,
      failed: 3,
    });
    expect(lastInput("addMemories").items).toEqual([
      { content: "a", createdBy: "notes-import" },
      expect.any(ServiceError),
      expect.any(ServiceError),
      expect.any(ServiceError),
      { content: "b", userId: "ada", createdBy: "notes-import" },
    ]);
  });

  it("may be empty, and hold 1 000 but not 1 001", async () => {
    const { post } = createTestServer();
    const send = (length: number) =>
      post("/memory/add/batch", { memories: Array.from({ length }, () => ({ content: "x" })) });
    expect((await send(0)).json()).toEqual({ results: [], added: 0, failed: 0 });
    expect((await send(1_000)).json().added).toBe(1_000);
    expect((await send(1_001)).statusCode).toBe(413);
  });

  it("refuses the item alone that supersedes what is no id", async () => {
    const { post } = createTestServer();
    const memories = [{ content: "a" }, { content: "b", supersedes: "nonsense" }];
    const { statusCode, ...reply } = await post("/memory/add/batch", { memories });
    expect(statusCode).toBe(200);
    expect(reply.json()).toMatchObject({ added: 1, failed: 1, results: [{ status: 200 }, { status: 404 }] });
  });

  it("is refused whole when it is no batch", async () => {
    const { post } = createTestServer();
    expect((await post("/memory/add/batch", {})).statusCode).toBe(400);
    expect((await post("/memory/add/batch", { memories: null })).statusCode).toBe(400);
    expect((await post("/memory/add/batch", [])).statusCode).toBe(400);
  });
});

describe("POST /memory/query", () => {
  it("answers records with score and path, best first", async () => {
    const { post } = createTestServer();
    await post("/memory/add", { content: "planted garlic" });
    const reply = await post("/memory/query", {
      query: "garlic",
      snippet: 7,
      explain: true,
      reinforce: true,
    });
    expect(reply.json()).toMatchObject({
      query: "garlic",
      matches: [
        {
          id: fakeId(1),
          content: "planted garlic",
          score: 0.5,
          path: [fakeId(1)],
          snippet: "planted",
          explain: { words: 0.5 },
        },
      ],
      took_ms: expect.any(Number),
    });
  });

  it("leaves out snippet and explain when nobody asked", async () => {
    const { post } = createTestServer();
    await post("/memory/add", { content: "x" });
    const [match] = (await post("/memory/query", { query: "x" })).json().matches;
    expect(match).not.toHaveProperty("snippet");
    expect(match).not.toHaveProperty("explain");
  });

  it("hands over every filter", async () => {
    const { post, lastInput } = createTestServer();
    await post("/memory/query", {
      query: "x",
      k: 3,
      user_id: "ada",
      filters: {
        user_id: "ada",
        sectors: ["episodic", "semantic"],
        min_score: 0.2,
        project: ["garden", null],
        tags: ["a", "b"],
        session_id: "s",
        created_by: "notes",
        from: "2026-01-01",
        to: 1_795_720_100_000,
        metadata: { bed: 3, done: false, note: null },
      },
    });
    expect(lastInput("queryMemory")).toEqual({
      query: "x",
      limit: 3,
      includeFacts: true,
      minScore: 0.2,
      filter: {
        userId: "ada",
        sectors: ["episodic", "semantic"],
        projects: ["garden", null],
        tags: ["a", "b"],
        sessionId: "s",
        createdBy: "notes",
        from: Date.UTC(2026, 0, 1),
        to: 1_795_720_100_000,
        metadata: { bed: 3, done: false, note: null },
      },
    });
  });

  it("reads null filters as none", async () => {
    const { post, lastInput } = createTestServer();
    await post("/memory/query", {
      query: "x",
      k: null,
      user_id: null,
      filters: null,
      snippet: null,
      explain: null,
    });
    expect(lastInput("queryMemory")).toEqual({ query: "x", limit: 8, filter: {}, includeFacts: true });
    await post("/memory/query", {
      query: "x",
      filters: { sector: null, project: null, user_id: null, tags: null },
    });
    expect(lastInput("queryMemory")).toEqual({ query: "x", limit: 8, filter: {}, includeFacts: true });
  });

  it.each([
    [{ project: "garden" }, { projects: ["garden"] }],
    [{ project: [null] }, { projects: [null] }],
    [{ sector: "episodic" }, { sectors: ["episodic"] }],
    [{ sector: "episodic", sectors: ["episodic", "semantic"] }, { sectors: ["episodic"] }],
    [{ user_id: "bob" }, { userId: "bob" }],
  ])("reads the filter %j", async (filters, filter) => {
    const { post, lastInput } = createTestServer();
    await post("/memory/query", { query: "x", filters });
    expect(lastInput("queryMemory").filter).toEqual(filter);
  });

  it.each([
    [{ query: "" }, "/query"],
    [{ query: "x".repeat(8_193) }, "/query"],
    [{ query: "x", k: 0 }, "/k"],
    [{ query: "x", k: 201 }, "/k"],
    [{ query: "x", k: 1.5 }, "/k"],
    [{ query: "x", k: "8" }, "/k"],
    [{ query: "x", snippet: 0 }, "/snippet"],
    [{ query: "x", user_id: "" }, "/user_id"],
    [{ query: "x", filters: { unknown: 1 } }, "/filters/unknown"],
    [{ query: "x", filters: { min_score: 1.1 } }, "/filters/min_score"],
    [{ query: "x", filters: { user_id: "" } }, "/filters/user_id"],
    [{ query: "x", user_id: "ada", filters: { user_id: "bob" } }, "/filters/user_id"],
    [{ query: "x", filters: { sectors: [] } }, "/filters/sectors"],
    [{ query: "x", filters: { sector: "episodic", sectors: ["semantic"] } }, "/filters/sector"],
    [{ query: "x", filters: { from: "2026-02-01", to: "2026-01-01" } }, "/filters/to"],
    [{ query: "x", filters: { project: [] } }, "/filters/project"],
    [{ query: "x", filters: { project: "" } }, "/filters/project"],
    [{ query: "x", filters: { project: 5 } }, "/filters/project"],
    [{ query: "x", filters: { metadata: { a: {} } } }, "/filters/metadata/a"],
    [
      { query: "x", filters: { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, 1])) } },
      "/filters/metadata",
    ],
    [{ query: "x", filters: { from: "soon" } }, "/filters/from"],
  ])("refuses %j", async (body, path) => {
    const { post, calls } = createTestServer();
    const reply = await post("/memory/query", body);
    expect(reply.statusCode).toBe(400);
    expect(reply.json().errors.map((error: { path: string }) => error.path)).toContain(path);
    expect(calls).toEqual([]);
  });
});

describe("PATCH /memory/:id", () => {
  it("changes what it names, clears project and time with null, and answers the new version", async () => {
    const { app, post, lastInput } = createTestServer();
    await post("/memory/add", { content: "x", project: "garden", user_id: "ada" });
    const reply = await app.inject({
      method: "PATCH",
      url: `/memory/${fakeId(1).toUpperCase()}`,
      headers: { "if-match": '"1"' },
      payload: { content: "y", tags: null, metadata: null, project: null, occurred_at: null, user_id: "ada" },
    });
    expect(lastInput("updateMemory")).toEqual({
      id: fakeId(1),
      content: "y",
      project: null,
      occurredAt: null,
      userId: "ada",
      ifVersion: 1,
    });
    expect(reply.headers.etag).toBe('"2"');
    expect(reply.json()).toMatchObject({ content: "y", project: null, version: 2, updated: true });
  });

  it("hands over nothing for {}", async () => {
    const { app, post, lastInput } = createTestServer();
    await post("/memory/add", { content: "x" });
    await app.inject({ method: "PATCH", url: `/memory/${fakeId(1)}`, payload: {} });
    expect(lastInput("updateMemory")).toEqual({ id: fakeId(1) });
  });

  it.each([
    ['"1"', 200],
    ["1", 200],
    ['W/"1"', 200],
    ["*", 200],
    ['"2"', 412],
    ['"0"', 412],
    ['"one"', 400],
    ['"1", "2"', 400],
    ["", 400],
  ])("answers If-Match %s with %i", async (ifMatch, status) => {
    const { app, post } = createTestServer();
    await post("/memory/add", { content: "x" });
    const reply = await app.inject({
      method: "PATCH",
      url: `/memory/${fakeId(1)}`,
      headers: { "if-match": ifMatch },
      payload: { content: "y" },
    });
    expect(reply.statusCode).toBe(status);
  });

  it("checks the owner named in the query too", async () => {
    const { app, post } = createTestServer();
    await post("/memory/add", { content: "x", user_id: "ada" });
    const patch = (query: string, payload: object) =>
      app.inject({ method: "PATCH", url: `/memory/${fakeId(1)}${query}`, payload });
    expect((await patch("?user_id=bob", { content: "y" })).statusCode).toBe(403);
    expect((await patch("?user_id=ada", { content: "y", user_id: "bob" })).statusCode).toBe(400);
    expect((await patch("?user_id=ada", { content: "y" })).statusCode).toBe(200);
  });
});

describe("GET /memory/:id", () => {
  it("answers the record with its version as ETag, HEAD without the body", async () => {
    const { app, get, post } = createTestServer();
    await post("/memory/add", { content: "x" });
    const reply = await get(`/memory/${fakeId(1)}`);
    expect(reply.headers.etag).toBe('"1"');
    expect(reply.json()).toMatchObject({ id: fakeId(1), content: "x" });
    const head = await app.inject({ method: "HEAD", url: `/memory/${fakeId(1)}` });
    expect([head.statusCode, head.body, head.headers["content-length"]]).toEqual([
      200,
      "",
      reply.headers["content-length"],
    ]);
  });

  it.each(["all-of-them", "..%2f..%2fetc", "019aa5a0", "%00", "a".repeat(5_000)])(
    "is 404 for the id %.20s",
    async (id) => {
      const { get, calls } = createTestServer();
      const reply = await get(`/memory/${id}`);
      expect(reply.statusCode).toBe(404);
      expect(reply.json().code).toBe("NOT_FOUND");
      expect(calls).toEqual([]);
    },
  );

  it("is 404 for another user's", async () => {
    const { get, post } = createTestServer();
    await post("/memory/add", { content: "x", user_id: "ada" });
    expect((await get(`/memory/${fakeId(1)}?user_id=bob`)).statusCode).toBe(404);
    expect((await get(`/memory/${fakeId(1)}?user_id=`)).statusCode).toBe(400);
  });
});

describe("GET /memory/all", () => {
  it("pages by offset and by cursor alike", async () => {
    const { get, post } = createTestServer();
    for (const content of ["a", "b", "c", "d", "e"]) await post("/memory/add", { content });
    const first = (await get("/memory/all?l=2")).json();
    expect(first).toMatchObject({ total: 5, limit: 2, offset: 0, next_cursor: expect.any(String) });
    const second = (await get(`/memory/all?l=2&cursor=${first.next_cursor}`)).json();
    expect(second).toMatchObject({ total: 5, limit: 2, offset: 2 });
    const third = (await get(`/memory/all?l=2&cursor=${second.next_cursor}`)).json();
    expect(third).toMatchObject({ offset: 4, next_cursor: null });
    const contents = [first, second, third].flatMap(({ items }) =>
      items.map((item: { content: string }) => item.content),
    );
    expect(contents).toEqual(["e", "d", "c", "b", "a"]);
    expect((await get("/memory/all?l=2&u=2")).json()).toEqual({ ...second });
  });

  it("defaults to 100 from the start", async () => {
    const { get, lastInput } = createTestServer();
    await get("/memory/all");
    expect(lastInput("listMemories")).toEqual({ filter: {}, limit: 100, offset: 0, skipped: 0 });
  });

  it("hands over the period in which memories were added", async () => {
    const { get, lastInput } = createTestServer();
    await get("/memory/all?created_from=2026-01-01&created_to=2026-02-01");
    const period = { createdFrom: Date.UTC(2026, 0, 1), createdTo: Date.UTC(2026, 1, 1) };
    expect(lastInput("listMemories")).toMatchObject({ filter: period });
  });

  it("hands over several tags, and the order of what happened with pages by place", async () => {
    const { get, lastInput } = createTestServer();
    const reply = await get("/memory/all?tags=garden&tags=bees&tag=x&order=happened&l=3&u=1");
    expect(lastInput("listMemories")).toEqual({
      filter: { tags: ["garden", "bees", "x"] },
      isByTime: true,
      limit: 3,
      offset: 1,
    });
    expect(reply.json()).toMatchObject({ offset: 1, limit: 3 });
    expect((await get("/memory/all?tags=")).statusCode).toBe(400);
    expect((await get("/memory/all?order=size")).statusCode).toBe(400);
    expect((await get("/memory/counts?by=day&order=happened")).statusCode).toBe(400);
  });
});

describe("POST /memory/reinforce", () => {
  it.each([
    [undefined, 0.1],
    [null, 0.1],
    [0, 0],
    [0.4, 0.4],
    [7, 1],
  ])("takes the boost %s as %s", async (boost, taken) => {
    const { post, lastInput } = createTestServer();
    await post("/memory/add", { content: "x" });
    const reply = await post("/memory/reinforce", { id: fakeId(1), boost });
    expect(reply.json()).toEqual({ ok: true, id: fakeId(1), salience: 0.5 + taken * 0.5 });
    expect(lastInput("reinforceMemory")).toEqual({ id: fakeId(1), boost: taken });
  });

  it("refuses a boost below 0 or not a number, and knows no id that is none", async () => {
    const { post } = createTestServer();
    expect((await post("/memory/reinforce", { id: fakeId(1), boost: -0.1 })).statusCode).toBe(400);
    expect((await post("/memory/reinforce", { id: fakeId(1), boost: "0.1" })).statusCode).toBe(400);
    expect((await post("/memory/reinforce", { boost: 0.1 })).statusCode).toBe(400);
    expect((await post("/memory/reinforce", { id: "nonsense" })).statusCode).toBe(404);
  });
});

describe("GET /memory/:id/related", () => {
  it("answers nodes and edges by their wire names only", async () => {
    const edge = {
      source: fakeId(1),
      target: fakeId(2),
      kind: "next" as const,
      weight: 0.5,
      createdAt: FAKE_NOW,
    };
    const { get, lastInput } = createTestServer({
      relatedMemories: async () => ({ nodes: [], edges: [edge] }),
    });
    const reply = await get(`/memory/${fakeId(1)}/related?depth=3`);
    expect(reply.json()).toEqual({
      nodes: [],
      edges: [{ source: fakeId(1), target: fakeId(2), weight: 0.5, kind: "next" }],
    });
    expect(lastInput("relatedMemories")).toEqual({ id: fakeId(1), depth: 3 });
  });

  it.each(["depth=0", "depth=4", "depth=x"])("refuses %s", async (query) => {
    expect((await createTestServer().get(`/memory/${fakeId(1)}/related?${query}`)).statusCode).toBe(400);
  });
});

describe("GET /memory/coming", () => {
  it("answers what is to come with its day, and hands the conditions over", async () => {
    const { get, lastInput, post } = createTestServer();
    await post("/memory/add", { content: "one" });
    expect(
      (await get("/memory/coming?user_id=ann&days=7&l=5&time_zone=Asia/Kathmandu")).json(),
    ).toMatchObject({
      items: [{ on: "2026-12-24", memory: { content: "one" } }],
    });
    expect(lastInput("listComing")).toEqual({
      filter: { userId: "ann" },
      days: 7,
      limit: 5,
      timeZone: "Asia/Kathmandu",
    });
    expect((await get("/memory/coming?days=367")).statusCode).toBe(400);
  });
});

describe("GET /memory/superseded", () => {
  it("answers pairs page by page, and hands the conditions over", async () => {
    const { get, lastInput, post } = createTestServer();
    for (const content of ["one", "two"]) await post("/memory/add", { content });
    const page = (await get("/memory/superseded?how=inferred&user_id=ann&project=&l=1")).json();
    expect(page).toMatchObject({
      items: [{ older: { id: fakeId(1) }, newer: { id: fakeId(2), content: "two" } }],
      total: 1,
      next_cursor: null,
    });
    expect(lastInput("listSuperseded")).toEqual({
      filter: { userId: "ann", projects: [null] },
      how: "inferred",
      limit: 1,
      offset: 0,
    });
    expect((await get("/memory/superseded?how=perhaps")).statusCode).toBe(400);
  });
});

describe("POST /memory/tags", () => {
  const tag = async (body: object) => (await createTestServer().post("/memory/tags", body)).statusCode;
  const [memories, add] = [[{ id: fakeId(1) }], ["x"]];

  it("hands over ids, versions, tags, user and writer", async () => {
    const { post, lastInput } = createTestServer();
    const body = {
      memories: [{ id: fakeId(1).toUpperCase(), version: 3 }, { id: fakeId(2) }],
      add,
      user_id: "ann",
    };
    const answer = await post("/memory/tags", body, { headers: { "x-memoryd-client": "shell" } });
    expect(answer.json()).toMatchObject({
      tagged: 0,
      failed: 2,
      results: [{ status: 404 }, { status: 404 }],
    });
    expect(lastInput("tagMemories")).toEqual({
      memories: [{ id: fakeId(1), ifVersion: 3 }, { id: fakeId(2) }],
      add: ["x"],
      remove: [],
      userId: "ann",
      changedBy: "shell",
    });
  });

  it.each([
    [{ memories }, 400],
    [{ memories, add: [] }, 400],
    [{ memories, add, remove: ["x"] }, 400],
    [{ memories: [...memories, { id: fakeId(1).toUpperCase() }], add }, 400],
    [{ memories: [{ id: fakeId(1), version: 0 }], add }, 400],
    [{ memories: [fakeId(1)], add }, 400],
    [{ memories, add: ["x".repeat(257)] }, 400],
    [{ memories: Array.from({ length: 1_001 }, (_, index) => ({ id: fakeId(index) })), add }, 413],
    [{ memories: Array.from({ length: 1_000 }, (_, index) => ({ id: fakeId(index) })), add }, 200],
    [{ memories: [], add }, 200],
  ])("answers case %# with its status", async (body, status) => {
    expect(await tag(body)).toBe(status);
  });
});

describe("GET /sectors", () => {
  it("lists the sectors with their counts", async () => {
    const { sectors } = (await createTestServer().get("/sectors")).json();
    expect(sectors).toHaveLength(5);
    expect(sectors[0]).toEqual({ name: "semantic", description: "What is semantic.", count: 0 });
  });
});

describe("a user_id in the query of a route that reads it from the body", () => {
  it.each([
    "/memory/add",
    "/memory/add/batch",
    "/memory/query",
    "/api/temporal/fact",
    "/api/temporal/fact/batch",
  ])("is refused, not overlooked: POST %s", async (url) => {
    const server = createTestServer();
    for (const user of ["bob", ""]) {
      const reply = await server.post(`${url}?user_id=${user}`, {
        content: "tea",
        query: "tea",
        memories: [],
        facts: [],
      });
      expect([reply.statusCode, reply.json().errors]).toMatchObject([400, [{ path: "/user_id" }]]);
    }
    expect(server.calls).toEqual([]);
  });
});
