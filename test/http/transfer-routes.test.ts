import { describe, expect, it } from "vitest";
import { fakeId } from "../support/fake-operations.ts";
import { createTestServer } from "../support/test-server.ts";

const header = { format: "memoryd-export", version: 1 };
const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const ndjson = { headers: { "content-type": "application/x-ndjson" } };

async function exported(server: ReturnType<typeof createTestServer>): Promise<Record<string, unknown>[]> {
  const { body } = await server.get("/export");
  return body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("GET /export", () => {
  it("answers lines: a header, what there is, and how much that was", async () => {
    const server = createTestServer();
    await server.post("/memory/add", { content: "garlic", occurred_at: "2026-01-02" });
    await server.post("/memory/add", { content: "leeks" });
    const reply = await server.get("/export");
    expect(reply.headers["content-type"]).toBe("application/x-ndjson");
    const [first, garlic, leeks, end] = await exported(server);
    expect(first).toMatchObject({ ...header, memoryd: "0.1.0" });
    expect(garlic).toMatchObject({
      type: "memory",
      content: "garlic",
      occurred_at: "2026-01-02T00:00:00.000Z",
    });
    expect(leeks).toMatchObject({ content: "leeks", occurred_at: null });
    expect(end).toEqual({ type: "end", memories: 2, documents: 0, waypoints: 0, facts: 0 });
  });

  it("asks for what the query says", async () => {
    const server = createTestServer();
    await server.get("/export?user_id=ada&project=&waypoints=false");
    expect(server.lastInput("exportRecords")).toEqual({ userId: "ada", projects: [null], waypoints: false });
  });
});

describe("POST /import", () => {
  it("takes back what an export gave", async () => {
    const from = createTestServer();
    await from.post("/memory/add", { content: "garlic", metadata: { bed: 3 }, user_id: "ada" });
    const file = (await from.get("/export")).body;
    const to = createTestServer();
    const reply = await to.post("/import", file, ndjson);
    expect(reply.json()).toEqual({
      results: [{ status: 200, id: fakeId(1), outcome: "added" }],
      added: 1,
      known: 0,
      failed: 0,
    });
    expect((await exported(to)).slice(1)).toEqual((await exported(from)).slice(1));
    expect((await to.post("/import", file, ndjson)).json()).toMatchObject({ added: 0, known: 1 });
  });

  it("refuses a whole number that would be rounded", async () => {
    const server = createTestServer();
    const line = '{"type":"memory","content":"garlic","metadata":{"id":1152921504606846977}}';
    const reply = await server.post("/import", `${lines(header)}${line}\n`, ndjson);
    expect(reply.json()).toMatchObject({
      failed: 1,
      results: [
        { detail: "The line has the number 1152921504606846977, which would be rounded. Send it as text." },
      ],
    });
  });

  it("judges lines one by one", async () => {
    const server = createTestServer();
    await server.post("/memory/add", { content: "garlic" });
    const [, memory = {}] = await exported(server);
    const without = Object.fromEntries(Object.entries(memory).filter(([name]) => name !== "tags"));
    const body =
      lines(
        header,
        { ...memory, id: fakeId(2) },
        without,
        { ...memory, id: "../../etc" },
        { ...memory, user_id: ".." },
      ) +
      lines({ ...memory, duplicate_hash: "ab" }, { type: "secret" }, 5) +
      "{ not json\n";
    const { results, added, failed } = (await server.post("/import", body, ndjson)).json();
    expect({ added, failed }).toEqual({ added: 1, failed: 7 });
    expect(results.slice(1).map((result: { detail: string }) => result.detail)).toEqual([
      "The line is not valid: /lines/2/tags is missing.",
      "The line is not valid: /lines/3/id must be a UUID of version 7 in lower case.",
      'The line is not valid: /lines/4/user_id must not be "." or ".." and must not contain control characters.',
      expect.stringMatching(
        /^The line is not valid: \/lines\/5\/duplicate_hash is not known here\. Known are type, id, .*\.$/,
      ),
      "The request is not valid: /lines/6/type must be one of memory, document, fact, waypoint.",
      "The line is not a JSON object.",
      "The line is not a JSON object.",
    ]);
  });

  it.each([
    ["no header", lines({ type: "memory" }), 400],
    ["a later version", lines({ ...header, version: 2 }), 400],
    ["nothing", "", 400],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe]), 400],
    ["more lines than it takes", lines(header, ...Array.from({ length: 1_001 }, () => ({}))), 413],
  ])("refuses %s", async (_name, body, status) => {
    expect((await createTestServer().post("/import", body, ndjson)).statusCode).toBe(status);
  });

  it("refuses JSON, and says what it takes", async () => {
    const reply = await createTestServer().post("/import", {});
    expect(reply.json()).toMatchObject({
      status: 415,
      detail: expect.stringContaining("application/x-ndjson"),
    });
  });
});
