import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTestServer } from "../support/test-server.ts";
import { times } from "../support/stress.ts";

const id = "019aa5a0-6c1e-7c3a-9d0f-000000000001";

describe("bodies", () => {
  it.each([
    ["content a number", { content: 5 }, "/content"],
    ["content missing", {}, "/content"],
    ["content null", { content: null }, "/content"],
    ["content empty", { content: "" }, "/content"],
    ["content blank", { content: " \n\t\u3000" }, "/content"],
    ["content that shows nothing", { content: "\u200b\u2800\u3164\u00ad\ufeff" }, "/content"],
    ["content with half a pair", '{"content":"a\\ud800b"}', "/content"],
    ["tags a string", { content: "x", tags: "a" }, "/tags"],
    ["a tag too long", { content: "x", tags: ["a".repeat(257)] }, "/tags/0"],
    ["a tag with a control character", { content: "x", tags: ["a\u0007"] }, "/tags/0"],
    ["65 tags", { content: "x", tags: Array.from({ length: 65 }, String) }, "/tags"],
    ["metadata a list", { content: "x", metadata: [] }, "/metadata"],
    ["metadata a string", { content: "x", metadata: "{}" }, "/metadata"],
    ["metadata with __proto__", '{"content":"x","metadata":{"a":[{"__proto__":1}]}}', "/metadata"],
    ["metadata beyond a double", '{"content":"x","metadata":{"a":1e400}}', "/metadata"],
    ["an empty user", { content: "x", user_id: "" }, "/user_id"],
    ["user ..", { content: "x", user_id: ".." }, "/user_id"],
    ["a user's newline", { content: "x", user_id: "a\nb" }, "/user_id"],
    ["an empty project", { content: "x", project: "" }, "/project"],
    ["a long session", { content: "x", session_id: "s".repeat(257) }, "/session_id"],
    ["a day that does not exist", { content: "x", occurred_at: "2026-02-30" }, "/occurred_at"],
    ["a year as text", { content: "x", occurred_at: "2020" }, "/occurred_at"],
    ["half a millisecond", { content: "x", occurred_at: 0.5 }, "/occurred_at"],
    ["an unknown sector", { content: "x", sector: "emotions" }, "/sector"],
    ["a list", [], ""],
    ["null", "null", ""],
  ])("with %s are refused, nothing stored", async (_name, body, path) => {
    const { post, calls } = createTestServer();
    const reply = await post("/memory/add", body);
    expect(reply.statusCode).toBe(400);
    expect(reply.json().code).toBe("INVALID_REQUEST");
    expect(reply.json().errors.map((error: { path: string }) => error.path)).toContain(path);
    expect(calls).toEqual([]);
  });

  it.each([
    ["malformed JSON", '{"content": "x"'],
    ["nothing", ""],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ])("of %s are 400 and not quoted back", async (_name, body) => {
    const reply = await createTestServer().post("/memory/add", body);
    expect(reply.statusCode).toBe(400);
    expect(reply.json().detail).not.toContain("content");
  });

  it.each([
    ["POST /context", { user: "ann" }, "/user", "Did you mean user_id?"],
    ["POST /memory/query", { query: "x", filters: { tag: ["a"] } }, "/filters/tag", "Did you mean tags?"],
    ["POST /context", { zzz: 1 }, "/zzz", "Known are user_id, project,"],
    ["POST /undo", { usr_id: "ann" }, "/usr_id", "Did you mean user_id?"],
  ])(
    "of %s with an unknown field, which would widen it, are refused: %j",
    async (route, body, path, said) => {
      const { app, calls } = createTestServer();
      const [method, url] = route.split(" ") as ["POST" | "DELETE", string];
      const reply = await app.inject({ method, url, payload: body });
      expect([reply.statusCode, reply.json().code]).toEqual([400, "INVALID_REQUEST"]);
      expect(reply.json().errors).toEqual([{ path, message: "is not known here" }]);
      expect(reply.json().detail).toContain(said);
      expect(calls).toEqual([]);
    },
  );

  it("name every wrong field", async () => {
    const reply = await createTestServer().post("/memory/add", { content: 1, tags: [2], sector: "no" });
    expect(reply.json().errors).toEqual([
      { path: "/content", message: "must be a string" },
      { path: "/tags/0", message: "must be a string" },
      { path: "/sector", message: "must be one of semantic, episodic, procedural, emotional, reflective" },
    ]);
  });

  it.each([
    ["content", { content: "x".repeat(200_001) }],
    ["metadata", { content: "x", metadata: { a: "x".repeat(65_536) } }],
    ["both", { content: "x".repeat(200_001), metadata: { a: "x".repeat(65_536) } }],
  ])("with %s over its limit are 413", async (_name, body) => {
    const reply = await createTestServer().post("/memory/add", body);
    expect(reply.statusCode).toBe(413);
    expect(reply.json()).toMatchObject({ code: "TOO_LARGE", status: 413 });
  });

  it("that are wrong and too large are 400, as smaller ones would still be wrong", async () => {
    const reply = await createTestServer().post("/memory/add", { content: "x".repeat(200_001), tags: 1 });
    expect(reply.statusCode).toBe(400);
  });

  it("over the limit of bytes are 413", async () => {
    const { post } = createTestServer({}, { limits: { maxJsonBytes: 100 } });
    const reply = await post("/memory/add", { content: "x".repeat(100) });
    expect(reply.statusCode).toBe(413);
    expect(reply.json().code).toBe("TOO_LARGE");
  });

  it("may have exactly the longest content, counted in characters", async () => {
    const { post } = createTestServer();
    expect((await post("/memory/add", { content: "😀".repeat(200_000) })).statusCode).toBe(200);
    expect((await post("/memory/add", { content: "😀".repeat(200_001) })).statusCode).toBe(413);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
    "garbage",
  ])("of type %j are 415", async (type) => {
    const { post, calls } = createTestServer();
    const reply = await post("/memory/add", '{"content":"x"}', { headers: { "content-type": type } });
    expect(reply.statusCode).toBe(415);
    expect(reply.json().code).toBe("UNSUPPORTED_MEDIA_TYPE");
    expect(calls).toEqual([]);
  });

  it("may name UTF-8 as their charset, and nothing else", async () => {
    const { post } = createTestServer();
    const send = (type: string) =>
      post("/memory/add", { content: "x" }, { headers: { "content-type": type } });
    expect((await send("application/json; charset=UTF-8")).statusCode).toBe(200);
    expect((await send("application/json; charset=latin1")).statusCode).toBe(415);
  });

  it("are not compressed", async () => {
    const { post } = createTestServer();
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const reply = await post("/memory/add", { content: "x" }, { headers });
    expect([reply.statusCode, reply.json().detail]).toEqual([
      415,
      "JSON is read as it is, not as gzip; send it without Content-Encoding.",
    ]);
  });

  it("may have unknown fields, and null for what is left out", async () => {
    const { post, lastInput } = createTestServer();
    const reply = await post("/memory/add", {
      content: "x",
      tags: null,
      metadata: null,
      user_id: null,
      project: null,
      session_id: null,
      occurred_at: null,
      sector: null,
      decay_lambda: 0.2,
    });
    expect(reply.statusCode).toBe(200);
    expect(lastInput("addMemory")).toEqual({ content: "x" });
  });

  it("keep prototype keys from reaching any prototype", async () => {
    const { post, lastInput } = createTestServer();
    const reply = await post(
      "/memory/add",
      '{"__proto__":{"content":"evil"},"constructor":{"prototype":{"polluted":1}},"content":"x","metadata":{"constructor":{"prototype":{"polluted":1}},"toString":"y"}}',
    );
    expect(reply.statusCode).toBe(200);
    expect(lastInput("addMemory").content).toBe("x");
    expect(reply.json().metadata).toEqual({ constructor: { prototype: { polluted: 1 } }, toString: "y" });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("keep a NUL and every other character of content", async () => {
    const { post } = createTestServer();
    const content = "a\u0000b\r\n\t\u2028\ufeff😀\u0301";
    expect((await post("/memory/add", { content })).json().content).toBe(content);
  });

  it("bring metadata back exactly as sent", async () => {
    const { post } = createTestServer();
    const metadata = fc.dictionary(
      fc.string({ unit: "grapheme", maxLength: 8 }),
      fc.jsonValue({ maxDepth: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(metadata, async (metadata) => {
        const sent = JSON.stringify({ content: "x", metadata });
        fc.pre(!sent.includes("__proto__"));
        const reply = await post("/memory/add", sent);
        expect(reply.json().metadata).toEqual(JSON.parse(sent).metadata);
      }),
      { numRuns: times(40) },
    );
  });
});

describe("any JSON at all", () => {
  const fields = [
    "content",
    "tags",
    "metadata",
    "user_id",
    "occurred_at",
    "query",
    "k",
    "filters",
    "id",
    "boost",
    "memories",
  ];
  const body = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom(...fields),
      fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom("x", id, 1, null)),
    ),
  );
  const routes = ["/memory/add", "/memory/add/batch", "/memory/query", "/memory/reinforce"].map(
    (url) => ["POST", url] as const,
  );

  it("never makes a 500", async () => {
    const { app } = createTestServer();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes, ["PATCH", `/memory/${id}`] as const, ["DELETE", `/memory/${id}`] as const),
        body,
        async ([method, url], body) => {
          const headers = { "content-type": "application/json" };
          const reply = await app.inject({ method, url, headers, payload: JSON.stringify(body) });
          expect(reply.statusCode).toBeLessThan(500);
          if (reply.statusCode >= 400) expect(reply.headers["content-type"]).toBe("application/problem+json");
        },
      ),
      { numRuns: times(100) },
    );
  });

  it("never makes a 500 as a query string", async () => {
    const { get } = createTestServer();
    const name = fc.constantFrom(
      "l",
      "u",
      "cursor",
      "sector",
      "user_id",
      "project",
      "from",
      "to",
      "__proto__",
      "x",
    );
    const value = fc.oneof(
      fc.string({ unit: "binary" }).map(escape),
      fc.constantFrom("%", "%FF", "1", "-1", "1e9", ""),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value)), async (pairs) => {
        const reply = await get(`/memory/all?${pairs.map((pair) => pair.join("=")).join("&")}`);
        expect([200, 400]).toContain(reply.statusCode);
      }),
      { numRuns: times(30) },
    );
  });

  function escape(text: string): string {
    return Array.from(
      text,
      (char) => `%${(char.codePointAt(0) ?? 0).toString(16).slice(-2).padStart(2, "0")}`,
    ).join("");
  }
});

describe("query strings", () => {
  it.each([
    ["l=2&l=3", "/l"],
    ["nobody-reads-this=1&nobody-reads-this=2", "/nobody-reads-this"],
    ["l=ten", "/l"],
    ["l=", "/l"],
    ["l=0", "/l"],
    ["l=10001", "/l"],
    ["l=1.5", "/l"],
    ["u=-1", "/u"],
    ["user_id=", "/user_id"],
    ["user_id=..", "/user_id"],
    ["user_id=%FF", "/user_id"],
    ["user_id=a%00b", "/user_id"],
    ["tag=", "/tag"],
    ["from=2020", "/from"],
    ["from=2026-02-30", "/from"],
    ["to=", "/to"],
    ["sector=none", "/sector"],
    ["cursor=", "/cursor"],
    ["cursor=abc", "/cursor"],
    ["cursor=MS4yLjE&u=5", "/u"],
  ])("%s is refused", async (query, path) => {
    const { get, calls } = createTestServer();
    const reply = await get(`/memory/all?${query}`);
    expect(reply.statusCode).toBe(400);
    expect(reply.json().errors[0].path).toBe(path);
    expect(calls).toEqual([]);
  });

  it("are converted", async () => {
    const { get, lastInput } = createTestServer();
    const reply = await get(
      "/memory/all?l=5&u=10&user_id=12&project=&tag=a+b&from=1763720100000&to=2026-11-21T10:15:00%2B02:00&sector=episodic",
    );
    expect(reply.statusCode).toBe(200);
    expect(lastInput("listMemories")).toMatchObject({
      limit: 5,
      offset: 10,
      filter: {
        userId: "12",
        projects: [null],
        tags: ["a b"],
        sectors: ["episodic"],
        from: 1_763_720_100_000,
        to: Date.UTC(2026, 10, 21, 8, 15),
      },
    });
  });
});

describe("DELETE", () => {
  it.each([
    ["no body", {}],
    ["an empty body of some type", { headers: { "content-type": "text/plain" }, payload: "" }],
    ["an empty body with a broken type", { headers: { "content-type": "///" }, payload: "" }],
    ["JSON of some type", { headers: { "content-type": "text/plain" }, payload: "{}" }],
    ["JSON without a type", { payload: Buffer.from("{}") }],
    ["null", { headers: { "content-type": "application/json" }, payload: "null" }],
  ])("takes %s", async (_name, options) => {
    const { app, post } = createTestServer();
    await post("/memory/add", { content: "x" });
    const reply = await app.inject({ method: "DELETE", url: `/memory/${id}`, ...options });
    expect(reply.json()).toEqual({ ok: true, id, deleted: 1 });
  });

  it("takes the user from query or body, but not two of them", async () => {
    const { app, lastInput, post } = createTestServer();
    const send = (query: string, body: object) =>
      app.inject({ method: "DELETE", url: `/memory/${id}${query}`, payload: JSON.stringify(body) });
    await post("/memory/add", { content: "x", user_id: "ada" });
    expect((await send("?user_id=ada", { user_id: "bob" })).statusCode).toBe(400);
    expect((await send("?user_id=", {})).statusCode).toBe(400);
    expect((await send("", { user_id: "" })).statusCode).toBe(400);
    expect((await send("?user_id=bob", {})).statusCode).toBe(403);
    expect((await send("", { user_id: "bob" })).statusCode).toBe(403);
    expect((await send("?user_id=ada", { user_id: "ada" })).statusCode).toBe(200);
    expect(lastInput("deleteMemory")).toEqual({ id, userId: "ada" });
  });
});

describe("half of a surrogate pair", () => {
  interface Schema {
    readonly $ref?: string;
    readonly type?: unknown;
    readonly enum?: unknown;
    readonly format?: string;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly anyOf?: readonly Schema[];
  }
  type Api = {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
    readonly paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>
    >;
  };

  /** What names something that is there is looked up: the half finds nothing. */
  const LOOKED_UP = new Set(["id", "time_zone", "code"]);

  it("is refused in every text of every body", async () => {
    const server = createTestServer();
    const { paths, components } = (await server.get("/openapi.json")).json<Api>();
    const bodyOf = (schema: Schema): Schema => {
      const [, name] = /\/([^/]+)$/.exec(schema.$ref ?? "") ?? [];
      if (name !== undefined) return bodyOf(components.schemas[name] ?? {});
      const one = schema.anyOf?.find((each) => each.type !== "null");
      return one === undefined ? schema : bodyOf(one);
    };
    let count = 0;
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { requestBody }] of Object.entries(methods)) {
        if (path === "/models/use") continue;
        const schema = requestBody?.content["application/json"]?.schema;
        for (const [name, field] of Object.entries(
          schema === undefined ? {} : (bodyOf(schema).properties ?? {}),
        )) {
          const types = new Set([field.type].flat());
          const isText =
            types.has("string") && !types.has("array") && !LOOKED_UP.has(name) && field.enum === undefined;
          if (!isText || field.format !== undefined) continue;
          const { statusCode, body } = await server.app.inject({
            method: method.toUpperCase() as "POST",
            url: path.replace(/\{\w+\}/g, "019aa5a0-0000-7000-8000-000000000001"),
            headers: { "content-type": "application/json" },
            payload: `{"${name}":"a\\ud83d"}`,
          });
          count += 1;
          expect([method, path, name, statusCode, body]).toEqual([
            method,
            path,
            name,
            400,
            expect.stringMatching(new RegExp(`"/${name}"`)),
          ]);
        }
      }
    expect(count).toBeGreaterThan(30);
    const query = { query: "x", filters: { metadata: { bed: "\ud83d" } } };
    expect((await server.post("/memory/query", query)).statusCode).toBe(400);
  });
});
