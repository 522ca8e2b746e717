import { describe, expect, it } from "vitest";
import { FAKE_NOW, fakeId } from "../support/fake-operations.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

const now = new Date(FAKE_NOW).toISOString();
const HOME = { subject: "Ada", predicate: "lives in" };
const URL = "/api/temporal/fact";

/** Ada, who lived in London from 2019 and lives in Paris from 2021. */
async function movedOnce(more: object = {}): Promise<TestServer> {
  const server = createTestServer();
  await server.post(URL, { ...HOME, object: "London", valid_from: "2019-05-01", ...more });
  await server.post(URL, { ...HOME, object: "Paris", valid_from: "2021-03-01", ...more });
  return server;
}
const get = async ({ get: send }: TestServer, path: string) => {
  const reply = await send(`/api/temporal/${path}`);
  return { status: reply.statusCode, body: reply.json() };
};
const objects = (facts: readonly { object: string }[]) => facts.map(({ object }) => object);
const pathsOf = (body: { errors: { path: string }[] }) => body.errors.map(({ path }) => path);

describe("POST /api/temporal/fact", () => {
  it("answers the whole record, times in RFC 3339", async () => {
    const { post, app } = createTestServer();
    const memory = (await post("/memory/add", { content: "x", user_id: "ada" })).json();
    const reply = await post(URL, {
      ...HOME,
      object: "London\n\tEngland",
      valid_from: "2019-05-01",
      valid_to: Date.UTC(2021, 2, 1),
      confidence: 0.9,
      metadata: { from: ["a letter"] },
      user_id: "ada",
      project: "family",
      source_memory_id: memory.id.toUpperCase(),
      cardinality: "many",
      unknown: true,
    });
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({
      id: fakeId(1),
      subject: "Ada",
      predicate: "lives in",
      object: "London\n\tEngland",
      valid_from: "2019-05-01T00:00:00.000Z",
      valid_to: "2021-03-01T00:00:00.000Z",
      confidence: 0.9,
      metadata: { from: ["a letter"] },
      user_id: "ada",
      project: "family",
      source_memory_id: memory.id,
      recorded_at: now,
      updated_at: now,
      superseded_by: null,
      derived_from: null,
      created_by: null,
      cardinality: "many",
      superseded: [],
      deduplicated: false,
      similar: [],
    });
    await app.close();
  });

  it("is told with facts that may say the same in other words, but in a batch", async () => {
    const { post } = createTestServer();
    await post(URL, { ...HOME, object: "Paris" });
    const other = { ...HOME, predicate: "lives_in", object: "Rome" };
    expect((await post(URL, other)).json()).toMatchObject({
      superseded: [],
      similar: [{ id: fakeId(1), predicate: "lives in", object: "Paris" }],
    });
    const { results } = (await post(`${URL}/batch`, { facts: [other] })).json();
    expect(results).toMatchObject([{ status: 200, deduplicated: true }]);
    expect(results[0]).not.toHaveProperty("similar");
  });

  it("is true from now on, for certain, one at a time, where nothing else is said; null says nothing", async () => {
    const { post } = createTestServer();
    const nothing = {
      valid_from: null,
      valid_to: null,
      confidence: null,
      metadata: null,
      user_id: null,
      project: null,
      source_memory_id: null,
      cardinality: null,
    };
    expect((await post(URL, { ...HOME, object: "London", ...nothing })).json()).toMatchObject({
      valid_from: now,
      valid_to: null,
      confidence: 1,
      metadata: {},
      user_id: null,
      project: null,
      source_memory_id: null,
      cardinality: "one",
    });
  });

  it("closes what was true before, and says what", async () => {
    const server = await movedOnce();
    const { body } = await get(server, "fact");
    expect(body.facts).toMatchObject([
      { id: fakeId(2), object: "Paris", valid_to: null },
      { id: fakeId(1), object: "London", valid_to: "2021-03-01T00:00:00.000Z", superseded_by: fakeId(2) },
    ]);
    const again = await server.post(URL, {
      ...HOME,
      subject: " ADA ",
      object: "Paris",
      valid_from: "2022-01-01",
    });
    expect(again.json()).toMatchObject({ id: fakeId(2), superseded: [], deduplicated: true });
  });

  it("refuses the other cardinality, with what to do", async () => {
    const { post } = await movedOnce();
    const reply = await post(URL, { ...HOME, object: "Oslo", cardinality: "many" });
    expect(reply.statusCode).toBe(409);
    expect(reply.json()).toMatchObject({
      code: "CONFLICT",
      detail: expect.stringMatching(/leave cardinality out/),
    });
  });

  it.each([
    ["no subject", { subject: undefined }, "/subject"],
    ["a blank subject", { subject: " " }, "/subject"],
    ["a long subject", { subject: "s".repeat(1_025) }, "/subject"],
    ["a subject of two lines", { subject: "a\nb" }, "/subject"],
    ["a number as predicate", { predicate: 5 }, "/predicate"],
    ["an empty predicate", { predicate: "" }, "/predicate"],
    ["an object too long", { object: "o".repeat(8_193) }, "/object"],
    ["a bell in the object", { object: "\u0007" }, "/object"],
    ["half a pair in the object", { object: "\ud800" }, "/object"],
    ["an object that is null", { object: null }, "/object"],
    ["a year", { valid_from: "2020" }, "/valid_from"],
    ["a day that does not exist", { valid_to: "2026-02-30" }, "/valid_to"],
    ["an end before the beginning", { valid_from: "2020-02-02", valid_to: "2020-02-01" }, "/valid_to"],
    ["no time at all", { valid_from: "2020-02-02", valid_to: "2020-02-02" }, "/valid_to"],
    ["confidence above 1", { confidence: 1.1 }, "/confidence"],
    ["confidence as text", { confidence: "1" }, "/confidence"],
    ["metadata a list", { metadata: [] }, "/metadata"],
    ["an empty user", { user_id: "" }, "/user_id"],
    ["an empty project", { project: "" }, "/project"],
    ["an unknown cardinality", { cardinality: "two" }, "/cardinality"],
  ])("refuses %s, nothing recorded", async (_name, more, path) => {
    const server = createTestServer();
    const reply = await server.post(URL, { ...HOME, object: "London", ...more });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().code).toBe("INVALID_REQUEST");
    expect(pathsOf(reply.json())).toContain(path);
    expect((await get(server, "fact")).body.total).toBe(0);
  });

  it("says 413 for metadata over its limit", async () => {
    const reply = await createTestServer().post(URL, {
      ...HOME,
      object: "x",
      metadata: { large: "x".repeat(65_536) },
    });
    expect(reply.statusCode).toBe(413);
  });

  it("takes only a memory of the same user for the source", async () => {
    const { post } = createTestServer();
    const { id } = (await post("/memory/add", { content: "x", user_id: "bob" })).json();
    for (const source of [id, fakeId(99), "nothing"]) {
      const reply = await post(URL, { ...HOME, object: "x", user_id: "ada", source_memory_id: source });
      expect(reply.statusCode).toBe(404);
      expect(pathsOf(reply.json())).toEqual(["/source_memory_id"]);
    }
  });

  it("answers a repeated Idempotency-Key with the first fact, of its own user and route only", async () => {
    const server = createTestServer();
    const headers = { "idempotency-key": "k1" };
    const body = { ...HOME, object: "London" };
    const first = (await server.post(URL, body, { headers })).json();
    expect((await server.post(URL, body, { headers })).json()).toEqual(first);
    expect((await server.post(URL, { ...body, object: "Paris" }, { headers })).statusCode).toBe(422);
    expect((await server.post(URL, { ...body, user_id: "ada" }, { headers })).json().id).not.toBe(first.id);
    const batch = await server.post(`${URL}/batch`, { facts: [body] }, { headers });
    expect(batch.statusCode).toBe(200);
    const again = await server.post(`${URL}/batch`, { facts: [body] }, { headers });
    expect(again.json().results[0].id).toBe(first.id);
  });
});

describe("POST /api/temporal/fact/batch", () => {
  it("judges items one by one, in order, and answers in their places", async () => {
    const { post } = createTestServer();
    const reply = await post(`${URL}/batch`, {
      facts: [
        { ...HOME, object: "London", valid_from: "2019-05-01" },
        { ...HOME, object: 5 },
        7,
        { ...HOME, object: "x", metadata: { large: "x".repeat(65_536) } },
        { ...HOME, object: "Paris", valid_from: "2021-03-01" },
        { ...HOME, object: "Oslo", valid_from: "2021-03-01", valid_to: "2020-01-01" },
      ],
    });
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toMatchObject({
      results: [
        { status: 200, id: fakeId(1), object: "London", superseded: [], deduplicated: false },
        { status: 400, errors: [{ path: "/facts/1/object" }] },
        { status: 400, errors: [{ path: "/facts/2" }] },
        { status: 413, code: "TOO_LARGE", errors: [{ path: "/facts/3/metadata" }] },
        { status: 200, id: fakeId(2), superseded: [fakeId(1)] },
        { status: 400, errors: [{ path: "/facts/5/valid_to" }] },
      ],
      added: 2,
      failed: 4,
    });
  });

  it("may be empty, and hold 1 000 but not 1 001", async () => {
    const { post } = createTestServer();
    const send = (length: number) =>
      post(`${URL}/batch`, {
        facts: Array.from({ length }, (_, i) => ({ ...HOME, object: `o${i}`, valid_from: i + 1 })),
      });
    expect((await send(0)).json()).toEqual({ results: [], added: 0, failed: 0 });
    expect((await send(1_000)).json()).toMatchObject({ added: 1_000, failed: 0 });
    expect((await send(1_001)).statusCode).toBe(413);
    expect((await post(`${URL}/batch`, { facts: {} })).statusCode).toBe(400);
  });
});

describe("GET /api/temporal/fact", () => {
  it("answers past facts too, and with `at` those valid then", async () => {
    const server = await movedOnce();
    const all = (await get(server, "fact")).body;
    expect(all).toMatchObject({ count: 2, total: 2, next_cursor: null, query: { l: 100, u: 0 } });
    const then = (await get(server, "fact?at=2020-01-01&subject=ada")).body;
    expect(objects(then.facts)).toEqual(["London"]);
    expect(then.query).toEqual({ subject: "ada", at: "2020-01-01T00:00:00.000Z", l: 100, u: 0 });
    expect(objects((await get(server, `fact?at=${Date.UTC(2021, 2, 1)}`)).body.facts)).toEqual(["Paris"]);
    expect((await get(server, "fact?at=2019-04-30")).body.facts).toEqual([]);
  });

  it("answers what was known by a moment", async () => {
    const server = await movedOnce();
    expect((await get(server, `fact?known_at=${FAKE_NOW}`)).body).toMatchObject({
      facts: [{ object: "London", valid_to: null, superseded_by: null }],
    });
    expect((await get(server, "fact?known_at=2000-01-01")).body.total).toBe(0);
  });

  it("filters by user, project, object and confidence", async () => {
    const server = createTestServer();
    const put = (object: string, more: object) =>
      server.post(URL, { subject: object, predicate: "p", object, ...more });
    await put("a", { user_id: "ada" });
    await put("b", { user_id: "bob", project: "x" });
    await put("c", { confidence: 0.5 });
    const found = async (query: string) =>
      objects((await get(server, `fact?${query}`)).body.facts).toSorted();
    expect(await found("")).toEqual(["a", "b", "c"]);
    expect(await found("user_id=ada")).toEqual(["a"]);
    expect(await found("user_id=eve")).toEqual([]);
    expect(await found("project=x")).toEqual(["b"]);
    expect(await found("project=")).toEqual(["a", "c"]);
    expect(await found("object=c")).toEqual(["c"]);
    expect(await found("min_confidence=0.6")).toEqual(["a", "b"]);
  });

  it("pages by offset or cursor", async () => {
    const server = createTestServer();
    const facts = Array.from({ length: 7 }, (_, i) => ({
      ...HOME,
      object: `o${i}`,
      valid_from: 1_000 * i + 1_000,
    }));
    await server.post(`${URL}/batch`, { facts });
    expect(objects((await get(server, "fact?l=3&u=1")).body.facts)).toEqual(["o5", "o4", "o3"]);
    const seen: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await get(server, `fact?l=3${cursor}`);
      expect(body.total).toBe(7);
      expect(body.count).toBe(body.facts.length);
      seen.push(...objects(body.facts));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(["o6", "o5", "o4", "o3", "o2", "o1", "o0"]);
  });

  it.each([
    "at=yesterday",
    "at=2020",
    "known_at=1",
    "known_at=2026-02-30",
    "min_confidence=2",
    "l=0",
    "l=10001",
    "u=-1",
    "cursor=x",
    "user_id=",
    "user_id=a&user_id=b",
    "subject=",
    "u=1&cursor=Mi4x",
  ])("refuses ?%s", async (query) => {
    expect((await get(createTestServer(), `fact?${query}`)).status).toBe(400);
  });
});

describe("GET /api/temporal/fact/current and /:id", () => {
  it("answers what is true now, and 404 where nothing is", async () => {
    const server = await movedOnce({ user_id: "ada" });
    const current = (query: string) => get(server, `fact/current?${query}`);
    expect((await current("subject=ADA&predicate=Lives%20In")).body.fact.object).toBe("Paris");
    expect((await current("subject=Ada&predicate=lives+in&at=2020-01-01")).body.fact.object).toBe("London");
    expect((await current("subject=Ada&predicate=lives+in&user_id=bob")).status).toBe(404);
    expect((await current("subject=Ada&predicate=owns")).status).toBe(404);
    expect(pathsOf((await current("subject=Ada")).body)).toEqual(["/predicate"]);
    await server.post(URL, {
      subject: "Ada",
      predicate: "will own",
      object: "a boat",
      valid_from: "2100-01-01",
    });
    expect((await current("subject=Ada&predicate=will+own")).status).toBe(404);
  });

  it("reads one by id, as known, of the user named", async () => {
    const server = await movedOnce({ user_id: "ada" });
    expect((await get(server, `fact/${fakeId(1).toUpperCase()}`)).body.fact.object).toBe("London");
    expect((await get(server, `fact/${fakeId(1)}?user_id=ada`)).status).toBe(200);
    expect((await get(server, `fact/${fakeId(1)}?user_id=bob`)).status).toBe(404);
    expect((await get(server, `fact/${fakeId(1)}?known_at=${FAKE_NOW}`)).body.fact.valid_to).toBeNull();
    expect((await get(server, `fact/${fakeId(1)}?known_at=2000-01-01`)).status).toBe(404);
    for (const id of [fakeId(9), "nothing", "batch"])
      expect((await get(server, `fact/${id}`)).status).toBe(404);
    const head = await server.app.inject({ method: "HEAD", url: `${URL}/${fakeId(1)}` });
    expect([head.statusCode, head.body]).toEqual([200, ""]);
  });
});

describe("PATCH /api/temporal/fact/:id", () => {
  const patch = async ({ app }: TestServer, id: string, payload: object, query = "") => {
    const reply = await app.inject({ method: "PATCH", url: `${URL}/${id}${query}`, payload });
    return { status: reply.statusCode, body: reply.json() };
  };

  it("records another confidence or metadata, and leaves what is null or the same", async () => {
    const server = await movedOnce();
    const before = (await get(server, `fact/${fakeId(2)}`)).body.fact;
    expect((await patch(server, fakeId(2), {})).body).toEqual(before);
    expect((await patch(server, fakeId(2), { confidence: null, metadata: null })).body).toEqual(before);
    const { body } = await patch(server, fakeId(2), { confidence: 0.4, metadata: { a: 1 } });
    expect(body).toMatchObject({ id: fakeId(2), object: "Paris", confidence: 0.4, metadata: { a: 1 } });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(body.recorded_at));
    const known = await get(server, `fact/${fakeId(2)}?known_at=${before.updated_at}`);
    expect(known.body.fact.confidence).toBe(1);
  });

  it("refuses strangers, unknown ids and wrong values; nothing changed", async () => {
    const server = await movedOnce({ user_id: "ada" });
    const change = { confidence: 0.4 };
    expect((await patch(server, fakeId(2), { ...change, user_id: "bob" })).status).toBe(403);
    expect((await patch(server, fakeId(2), change, "?user_id=bob")).status).toBe(403);
    expect((await patch(server, fakeId(2), { ...change, user_id: "ada" }, "?user_id=bob")).status).toBe(400);
    expect((await patch(server, fakeId(9), change)).status).toBe(404);
    expect((await patch(server, "current", change)).status).toBe(404);
    expect((await patch(server, fakeId(2), { confidence: -1 })).status).toBe(400);
    expect((await get(server, `fact/${fakeId(2)}`)).body.fact.confidence).toBe(1);
    expect((await patch(server, fakeId(2), { ...change, user_id: "ada" }, "?user_id=ada")).status).toBe(200);
  });
});

describe("DELETE /api/temporal/fact/:id", () => {
  const remove = async ({ app }: TestServer, id: string, query = "", payload?: object) => {
    const reply = await app.inject({
      method: "DELETE",
      url: `${URL}/${id}${query}`,
      ...(payload && { payload }),
    });
    return { status: reply.statusCode, body: reply.json() };
  };

  it("ends a fact now or at a time, said in the query or the body", async () => {
    const server = await movedOnce();
    expect((await remove(server, fakeId(2))).body).toMatchObject({ id: fakeId(2), object: "Paris" });
    expect((await get(server, "fact?at=2100-01-01")).body.total).toBe(0);
    const earlier = await remove(server, fakeId(2), "", { valid_to: "2022-01-01" });
    expect(earlier.body.valid_to).toBe("2022-01-01T00:00:00.000Z");
    const same = await remove(server, fakeId(2), "?valid_to=2022-01-01", {
      valid_to: "2022-01-01T00:00:00Z",
    });
    expect(same.body).toEqual(earlier.body);
    expect((await remove(server, fakeId(2), "?valid_to=2030-01-01")).body).toEqual(earlier.body);
  });

  it("closes one that has not begun where it would have begun", async () => {
    const server = createTestServer();
    await server.post(URL, { ...HOME, object: "Mars", valid_from: "2100-01-01" });
    const { body } = await remove(server, fakeId(1));
    expect([body.valid_from, body.valid_to]).toEqual([
      "2100-01-01T00:00:00.000Z",
      "2100-01-01T00:00:00.000Z",
    ]);
    expect((await get(server, "fact")).body.total).toBe(0);
  });

  it("refuses strangers, unknown ids, two answers and an end before the beginning", async () => {
    const server = await movedOnce({ user_id: "ada" });
    expect((await remove(server, fakeId(2), "?user_id=bob")).status).toBe(403);
    expect((await remove(server, fakeId(2), "", { user_id: "bob" })).status).toBe(403);
    expect((await remove(server, fakeId(2), "?user_id=bob&erase=true")).status).toBe(403);
    expect((await remove(server, fakeId(2), "?user_id=ada", { user_id: "bob" })).status).toBe(400);
    expect((await remove(server, fakeId(9))).status).toBe(404);
    expect((await remove(server, fakeId(2), "?valid_to=2000-01-01")).status).toBe(400);
    expect((await remove(server, fakeId(2), "?valid_to=soon")).status).toBe(400);
    expect((await remove(server, fakeId(2), "?valid_to=2022-01-01", { valid_to: "2023-01-01" })).status).toBe(
      400,
    );
    expect((await remove(server, fakeId(2), "?erase=true", { erase: false })).status).toBe(400);
    expect((await remove(server, fakeId(2), "?erase=true&valid_to=2022-01-01")).status).toBe(400);
    expect((await get(server, `fact/${fakeId(2)}`)).body.fact.valid_to).toBeNull();
  });

  it.each(["?erase=true", ""])("erases a fact with its past (%j)", async (query) => {
    const server = await movedOnce();
    const payload = query === "" ? { erase: true } : undefined;
    expect((await remove(server, fakeId(1), query, payload)).body.object).toBe("London");
    for (const path of [`fact/${fakeId(1)}`, `fact/${fakeId(1)}?known_at=${FAKE_NOW}`]) {
      expect((await get(server, path)).status).toBe(404);
    }
    expect(objects((await get(server, "fact")).body.facts)).toEqual(["Paris"]);
  });
});

describe("the other reads of facts", () => {
  it("tell a subject's timeline, ascending", async () => {
    const server = await movedOnce();
    const { body } = await get(server, "timeline?subject=ada");
    expect(body).toMatchObject({ subject: "ada", count: 3, total: 3, next_cursor: null });
    expect(
      body.timeline.map((event: { timestamp: string; change_type: string; fact: { object: string } }) => [
        event.timestamp.slice(0, 10),
        event.change_type,
        event.fact.object,
      ]),
    ).toEqual([
      ["2019-05-01", "created", "London"],
      ["2021-03-01", "superseded", "London"],
      ["2021-03-01", "created", "Paris"],
    ]);
    expect((await get(server, "timeline?subject=ada&from=2020-01-01&to=2021-03-01")).body.total).toBe(0);
    expect((await get(server, "timeline?subject=ada&predicate=owns")).body.total).toBe(0);
    expect((await get(server, "timeline?subject=ada&user_id=bob")).body.total).toBe(0);
    const page = (await get(server, "timeline?subject=ada&l=2&u=1")).body;
    expect(page).toMatchObject({ count: 2, total: 3, next_cursor: null });
    expect(pathsOf((await get(server, "timeline")).body)).toEqual(["/subject"]);
  });

  it("search by wildcards or a part, in any case", async () => {
    const server = await movedOnce();
    const search = async (query: string) => (await get(server, `search?${query}`)).body;
    expect(await search("pattern=LOND*")).toMatchObject({
      pattern: "LOND*",
      field: "any",
      count: 1,
      total: 1,
    });
    expect(objects((await search("pattern=ari")).facts)).toEqual(["Paris"]);
    expect(objects((await search("pattern=P%3Fris&field=object")).facts)).toEqual(["Paris"]);
    expect((await search("pattern=P%3Fris&field=subject")).total).toBe(0);
    expect((await search("pattern=ada&at=2020-01-01")).facts).toMatchObject([{ object: "London" }]);
    expect((await search("pattern=ada&user_id=bob")).total).toBe(0);
    for (const query of ["", "pattern=", `pattern=${"a".repeat(257)}`, "pattern=a&field=all"]) {
      expect((await get(server, `search?${query}`)).status).toBe(400);
    }
  });

  it("compare two moments, under both names of them", async () => {
    const server = await movedOnce();
    const { body } = await get(server, "compare?time1=2020-01-01&time2=2022-01-01&subject=Ada");
    expect(body).toMatchObject({
      time1: "2020-01-01T00:00:00.000Z",
      time2: "2022-01-01T00:00:00.000Z",
      added: [],
      removed: [],
      changed: [{ before: { object: "London" }, after: { object: "Paris" } }],
      unchanged: [],
      summary: { added: 0, removed: 0, changed: 1, unchanged: 0 },
      next_cursor: null,
    });
    const aliased = await get(server, "compare?from=2020-01-01&to=2022-01-01&subject=Ada");
    expect(aliased.body).toEqual(body);
    expect((await get(server, "compare?time1=2018-01-01&time2=2020-01-01")).body.summary.added).toBe(1);
    expect(pathsOf((await get(server, "compare?time1=2020-01-01")).body)).toEqual(["/time2"]);
    expect(pathsOf((await get(server, "compare?to=2020-01-01")).body)).toEqual(["/time1"]);
    const two = await get(server, "compare?time1=2020-01-01&from=2021-01-01&to=2022-01-01");
    expect(two.status).toBe(400);
  });

  it("count facts, and name what changes most", async () => {
    const server = await movedOnce({ user_id: "ada" });
    expect((await get(server, "stats")).body).toEqual({
      total_facts: 2,
      active_facts: 1,
      historical_facts: 1,
      future_facts: 0,
      subjects: 1,
      predicates: 1,
      objects: 2,
      average_confidence: 1,
      earliest: "2019-05-01T00:00:00.000Z",
      latest: "2021-03-01T00:00:00.000Z",
      top_predicates: [{ predicate: "lives in", count: 2 }],
    });
    expect((await get(server, "stats?user_id=bob")).body).toMatchObject({
      total_facts: 0,
      average_confidence: null,
      earliest: null,
      latest: null,
    });
    expect((await get(server, "volatile")).body).toEqual({
      volatile_facts: [
        {
          subject: "Ada",
          predicate: "lives in",
          user_id: "ada",
          project: null,
          change_count: 2,
          average_confidence: 1,
          average_duration_days: expect.any(Number),
          last_changed_at: "2021-03-01T00:00:00.000Z",
          current_object: "Paris",
        },
      ],
      count: 1,
    });
    expect((await get(server, "volatile?user_id=bob")).body).toEqual({ volatile_facts: [], count: 0 });
    for (const query of [
      "volatile?limit=0",
      "volatile?from=1",
      "stats?at=x",
      "compare?time1=1&time2=2020-01-01",
    ]) {
      expect((await get(server, query)).status).toBe(400);
    }
  });

  it("come with a query, unless it wants none", async () => {
    const server = await movedOnce();
    const ask = (more: object) => server.post("/memory/query", { query: "where does Ada live?", ...more });
    for (const asked of [{}, { include_facts: true }, { include_facts: null }]) {
      expect((await ask(asked)).json().facts).toMatchObject([
        { id: fakeId(2), valid_from: "2021-03-01T00:00:00.000Z", score: 0.5 },
        { id: fakeId(1) },
      ]);
    }
    expect((await ask({ include_facts: false })).json()).not.toHaveProperty("facts");
    expect((await ask({ include_facts: "yes" })).statusCode).toBe(400);
  });

  it("answer HEAD, and name the methods that other paths take", async () => {
    const { app } = await movedOnce();
    for (const path of ["fact", "timeline?subject=ada", "search?pattern=a", "stats", "volatile"]) {
      const reply = await app.inject({ method: "HEAD", url: `/api/temporal/${path}` });
      expect([reply.statusCode, reply.body]).toEqual([200, ""]);
    }
    const reply = await app.inject({ method: "POST", url: "/api/temporal/stats", payload: {} });
    expect([reply.statusCode, reply.headers.allow]).toEqual([404, "GET, HEAD"]);
  });
});
