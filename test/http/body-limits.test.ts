import { describe, expect, it } from "vitest";
import { createTestServer } from "../support/test-server.ts";

const zeros = (count: number) => `[${"0,".repeat(count - 1)}0]`;
const id = "019aa5a0-6c1e-7c3a-9d0f-000000000001";

describe("a body", () => {
  it.each([
    ["a question", "/memory/query", 129 * 1024],
    ["an add", "/memory/add", 4 * 1024 ** 2 + 1],
    ["a fact", "/api/temporal/fact", 4 * 1024 ** 2 + 1],
    ["a message", "/mcp", 4 * 1024 ** 2 + 1],
    ["a batch", "/memory/add/batch", 32 * 1024 ** 2 + 1],
  ])("of %s has a limit of bytes of its own, which the refusal names", async (_name, url, bytes) => {
    const { post, calls } = createTestServer();
    const reply = await post(url, `{"content":"${"x".repeat(bytes)}"}`);
    expect(reply.statusCode).toBe(413);
    expect(reply.json().detail).toMatch(/larger than \d+ bytes/);
    expect(calls).toEqual([]);
  });

  it("of an add may hold the longest content with every character escaped", async () => {
    const reply = await createTestServer().post(
      "/memory/add",
      `{"content":"${String.raw`\ud83d\ude00`.repeat(200_000)}"}`,
    );
    expect(reply.statusCode).toBe(200);
  });

  it.each([
    ["filters", "/memory/query", `{"query":"x","filters":{"sectors":${zeros(3_000)}}}`],
    ["an unknown field", "/memory/query", `{"query":"x","zzz":${zeros(3_000)}}`],
    ["metadata", "/memory/add", `{"content":"x","metadata":{"a":${zeros(50_000)}}}`],
    ["tags", "/memory/add", `{"content":"x","tags":${zeros(1_000_000)}}`],
    ["a change", `/memory/${id}`, `{"tags":${zeros(1_000_000)}}`, "PATCH"],
    ["an item of a batch", "/memory/add/batch", `{"memories":[{"content":"x","tags":${zeros(50_000)}}]}`],
    ["a batch", "/memory/add/batch", `{"memories":${zeros(300_000)}}`],
    ["a batch of facts", "/api/temporal/fact/batch", `{"facts":${zeros(300_000)}}`],
    ["a message", "/mcp", zeros(50_000)],
    ["a body that is optional", `/memory/${id}`, `{"user_id":"a","zzz":${zeros(50_000)}}`, "DELETE"],
    ["nested lists", "/memory/query", "[".repeat(60_000)],
  ] as [string, string, string, ("POST" | "PATCH" | "DELETE")?][])(
    "with too many elements in %s is 413, and nothing of it is built",
    async (_name, url, body, method: "POST" | "PATCH" | "DELETE" = "POST") => {
      const { app, calls } = createTestServer();
      const parse = JSON.parse;
      let parsed = 0;
      JSON.parse = (text, ...rest) => {
        parsed += text.length > 1_000 ? 1 : 0;
        return parse(text, ...rest) as unknown;
      };
      try {
        const headers = { "content-type": "application/json" };
        const reply = await app.inject({ method, url, headers, payload: body });
        expect(parsed).toBe(0);
        expect(reply.statusCode).toBe(413);
        expect(reply.json().detail).toMatch(/elements|nested/);
        expect(calls).toEqual([]);
      } finally {
        JSON.parse = parse;
      }
    },
  );

  it("with too many items says so", async () => {
    const { post } = createTestServer();
    const tags = await post("/memory/add", { content: "x", tags: Array.from({ length: 9_000 }, () => "a") });
    expect(tags.statusCode).toBe(400);
    expect(tags.json().errors.length).toBeLessThanOrEqual(20);
    expect(tags.json().errors).toContainEqual({ path: "/tags", message: expect.stringContaining("64") });
    const batch = await post("/memory/add/batch", { memories: Array.from({ length: 1_001 }, () => 0) });
    expect(batch.statusCode).toBe(413);
  });

  it("with many unknown filters is told of the first of them", async () => {
    const filters = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`k${i}`, 0]));
    const reply = await createTestServer().post("/memory/query", { query: "x", filters });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().errors.length).toBeLessThanOrEqual(20);
    expect(reply.json().errors[0].path).toBe("/filters/k0");
  });

  it("with an item larger than an add may be is 413", async () => {
    const items = [{ content: "x" }, { content: "x", metadata: { a: "y".repeat(4 * 1024 ** 2) } }];
    for (const memories of [items, items.toReversed()]) {
      const reply = await createTestServer().post("/memory/add/batch", { memories });
      expect(reply.statusCode).toBe(413);
      expect(reply.json().detail).toContain("an item larger than 4194304 bytes");
    }
  });

  it("of a batch of megabytes is answered in order", async () => {
    const memories = Array.from({ length: 900 }, (_, i) => ({ content: `${i} ${"漢".repeat(4_000)}` }));
    const body = `${JSON.stringify({ memories }).slice(0, -1)},"more":[1,[2]],"memory":[]}`;
    const { results, added, failed } = (await createTestServer().post("/memory/add/batch", body)).json();
    expect([added, failed]).toEqual([900, 0]);
    expect(results.map((each: { content: string }) => each.content)).toEqual(
      memories.map(({ content }) => content),
    );
  });

  it("of an import has a limit of keys per line", async () => {
    const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":0`).join();
    const lines = (...counts: number[]) =>
      ['{"format":"memoryd-export","version":1}', ...counts.map((count) => `{${keys(count)}}`)].join("\n");
    const send = (text: string) =>
      createTestServer().post("/import", text, { headers: { "content-type": "application/x-ndjson" } });
    expect((await send(lines(9_000, 9_000))).statusCode).toBe(200);
    expect((await send(lines(1, 11_000))).statusCode).toBe(413);
  });

  it("of an import has a limit of elements", async () => {
    const lines = `{"format":"memoryd-export","version":1}\n${zeros(700_000)}`;
    const reply = await createTestServer().post("/import", lines, {
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(reply.statusCode).toBe(413);
  });
});

describe("an address", () => {
  it("with thousands of parameters is refused without a list of them", async () => {
    const { get } = createTestServer();
    for (const text of ["&a", "&a=b", "&%ff", "&"].map((each) => each.repeat(5_000))) {
      const reply = await get(`/livez?a${text}`);
      expect(reply.statusCode).toBe(400);
      expect(reply.json().detail).toContain("more than 64 parameters");
    }
  });

  it.each([
    ["GET", "/memory/all?colour=red", "/colour"],
    ["GET", "/memory/all?L=1", "/L"],
    ["GET", "/version?x=1", "/x"],
    ["GET", "/stats?users=1", "/users"],
    ["POST", "/memory/add?project=a", "/project"],
    ["POST", "/memory/query?k=1", "/k"],
    ["DELETE", `/memory/${id}?force=true`, "/force"],
    ["PATCH", `/memory/${id}?version=1`, "/version"],
    ["GET", "/api/temporal/fact?who=ada", "/who"],
  ] as const)("of %s %s has a parameter that is not known: 400", async (method, url, path) => {
    const { app, calls } = createTestServer();
    const body = method === "POST" || method === "PATCH" ? { content: "x", query: "x" } : undefined;
    const reply = await app.inject({ method, url, ...(body && { payload: body }) });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().errors).toEqual([{ path, message: expect.any(String) }]);
    expect(calls).toEqual([]);
  });

  it.each(["/livez?probe=1", "/readyz?x", "/health?from=balancer"])("%s takes any parameter", async (url) => {
    expect((await createTestServer().get(url)).statusCode).toBe(200);
  });

  it("may say limit and offset", async () => {
    const { get, lastInput } = createTestServer();
    expect((await get("/memory/all?limit=1&offset=3")).statusCode).toBe(200);
    expect(lastInput("listMemories")).toMatchObject({ limit: 1, offset: 3 });
    expect((await get("/memory/all?limit=1&l=2")).statusCode).toBe(400);
    expect((await get("/memory/all?limit=0")).json().errors[0].path).toBe("/l");
  });
});
