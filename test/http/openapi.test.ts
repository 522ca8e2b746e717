import { beforeAll, describe, expect, it } from "vitest";
import { Compile } from "typebox/compile";
import type { TSchema } from "typebox";
import {
  CompareFactsReply,
  FactRecord,
  FactStatsReply,
  FactTimelineReply,
  FindFactsReply,
  OneFactReply,
  RecordFactReply,
  RecordFactsReply,
  SearchFactsReply,
  VolatileFactsReply,
} from "../../src/schemas/fact.ts";
import {
  AddMemoriesReply,
  AddMemoryReply,
  DeleteMemoryReply,
  MemoryRecord,
  ReinforceMemoryReply,
  RelatedMemoriesReply,
  TagMemoriesReply,
  SectorsReply,
  UpdateMemoryReply,
  ListMemoriesReply,
} from "../../src/schemas/memory.ts";
import { Problem } from "../../src/schemas/page.ts";
import { QueryMemoryReply } from "../../src/schemas/query-memory.ts";
import { AliveReply, HealthReply, ReadyReply, StatsReply, VersionReply } from "../../src/schemas/system.ts";
import { fakeId } from "../support/fake-operations.ts";
import { createTestServer } from "../support/test-server.ts";

type Operation = {
  operationId: string;
  summary: string;
  "x-scope": string;
  security: object[];
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>;
};
type Description = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>> };
};

let description: Description;
let text: string;
beforeAll(async () => {
  text = (await createTestServer().get("/openapi.json")).body;
  description = JSON.parse(text);
});

describe("/openapi.json", () => {
  it("describes every route, and HEAD nowhere", () => {
    const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(description.openapi).toBe("3.1.0");
    expect(operations.toSorted()).toEqual([
      "delete /api/temporal/fact/{id}",
      "delete /backups/{name}",
      "delete /documents/{id}",
      "delete /jobs/{id}",
      "delete /keys",
      "delete /keys/{id}",
      "delete /memory/{id}",
      "delete /memory/{id}/history",
      "delete /session",
      "delete /trash",
      "delete /trash/{id}",
      "delete /users/{user_id}/memories",
      "get /api/temporal/compare",
      "get /api/temporal/fact",
      "get /api/temporal/fact/current",
      "get /api/temporal/fact/{id}",
      "get /api/temporal/search",
      "get /api/temporal/stats",
      "get /api/temporal/subjects",
      "get /api/temporal/timeline",
      "get /api/temporal/volatile",
      "get /backups",
      "get /changes",
      "get /compact",
      "get /documents",
      "get /documents/{id}",
      "get /documents/{id}/file",
      "get /events",
      "get /export",
      "get /health",
      "get /jobs",
      "get /jobs/{id}",
      "get /keys",
      "get /livez",
      "get /logs",
      "get /memory/all",
      "get /memory/coming",
      "get /memory/counts",
      "get /memory/superseded",
      "get /memory/{id}",
      "get /memory/{id}/history",
      "get /memory/{id}/related",
      "get /metrics",
      "get /models",
      "get /openapi.json",
      "get /readyz",
      "get /sectors",
      "get /session",
      "get /settings",
      "get /stats",
      "get /trash",
      "get /users",
      "get /users/{user_id}/memories",
      "get /users/{user_id}/summary",
      "get /version",
      "patch /api/temporal/fact/{id}",
      "patch /memory/{id}",
      "post /api/temporal/fact",
      "post /api/temporal/fact/batch",
      "post /backups",
      "post /backups/{name}/verify",
      "post /compact",
      "post /context",
      "post /import",
      "post /ingest",
      "post /keys",
      "post /mcp",
      "post /memory/add",
      "post /memory/add/batch",
      "post /memory/ingest",
      "post /memory/ingest/url",
      "post /memory/query",
      "post /memory/reinforce",
      "post /memory/tags",
      "post /memory/{id}/restore",
      "post /models/use",
      "post /session",
      "post /session/codes",
      "post /shutdown",
      "post /trash/{id}/restore",
      "post /undo",
      "post /users/{user_id}/summary/regenerate",
      "put /documents/{id}/file",
    ]);
  });

  it("resolves every reference, and gives operations unlike ids", () => {
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(description.components.schemas).toHaveProperty(name ?? "");
    }
    const ids = Object.values(description.paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("names each type of a field once", () => {
    for (const [types] of text.matchAll(/"type":\[[^\]]*\]/g)) {
      const { type } = JSON.parse(`{${types}}`) as { type: string[] };
      expect(new Set(type).size).toBe(type.length);
    }
  });

  it("holds nothing that only we understand", () => {
    for (const ours of ['"~', '"$id"', "x-too-large"]) expect(text).not.toContain(ours);
  });

  it("shows each route's scope", () => {
    const scopeOf = (path: string, method: string) => description.paths[path]?.[method]?.["x-scope"];
    expect(scopeOf("/memory/add", "post")).toBe("write");
    expect(scopeOf("/memory/query", "post")).toBe("read");
    expect(scopeOf("/memory/{id}", "delete")).toBe("write");
    expect(scopeOf("/stats", "get")).toBe("admin");
    expect(scopeOf("/api/temporal/fact", "post")).toBe("write");
    expect(scopeOf("/api/temporal/stats", "get")).toBe("read");
    expect(scopeOf("/livez", "get")).toBe("open");
    expect(description.paths["/livez"]?.get?.security).toEqual([]);
  });

  it("says what may go wrong, as problems", () => {
    const add = description.paths["/memory/add"]?.post;
    expect(Object.keys(add?.responses ?? {})).toEqual([
      "200",
      "400",
      "401",
      "403",
      "409",
      "410",
      "413",
      "415",
      "422",
      "429",
      "500",
      "503",
    ]);
    expect(add?.responses["400"]?.content).toEqual({
      "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
    });
    expect(Object.keys(description.paths["/memory/{id}"]?.patch?.responses ?? {})).toEqual(
      expect.arrayContaining(["404", "412"]),
    );
  });

  it("says of every operation how it answers when all is well", () => {
    for (const [path, methods] of Object.entries(description.paths))
      for (const [method, { responses }] of Object.entries(methods))
        expect(
          Object.keys(responses).filter((status) => status.startsWith("2")),
          `${method} ${path}`,
        ).not.toEqual([]);
  });

  it("names what only some routes refuse with", () => {
    const statuses = (path: string, method: string) =>
      Object.keys(description.paths[path]?.[method]?.responses ?? {});
    expect(statuses("/session", "post")).toContain("401");
    expect(statuses("/backups", "post")).toContain("409");
    expect(description.paths["/context"]?.post?.responses["503"]?.description).toContain("MODEL_UNAVAILABLE");
  });

  it("validates with the limits that it shows", () => {
    expect(description.components.schemas.AddMemory).toMatchObject({
      required: ["content"],
      properties: {
        content: { type: "string", minLength: 1, maxLength: 200_000 },
        user_id: { type: ["string", "null"], maxLength: 256 },
      },
    });
    expect(description.paths["/memory/all"]?.get?.parameters.find(({ name }) => name === "l")).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 10_000, default: 100 },
    });
    expect(description.paths["/memory/{id}"]?.delete?.requestBody?.required).toBe(false);
  });
});

describe("answers", () => {
  it.each<[string, TSchema, "GET" | "POST" | "PATCH" | "DELETE", string, object | undefined]>([
    ["add", AddMemoryReply, "POST", "/memory/add", { content: "x" }],
    ["batch", AddMemoriesReply, "POST", "/memory/add/batch", { memories: [{ content: "x" }, {}] }],
    ["query", QueryMemoryReply, "POST", "/memory/query", { query: "x", snippet: 9, explain: true }],
    ["update", UpdateMemoryReply, "PATCH", `/memory/${fakeId(1)}`, { content: "y" }],
    ["delete", DeleteMemoryReply, "DELETE", `/memory/${fakeId(1)}`, undefined],
    ["list", ListMemoriesReply, "GET", "/memory/all", undefined],
    ["get", MemoryRecord, "GET", `/memory/${fakeId(1)}`, undefined],
    ["reinforce", ReinforceMemoryReply, "POST", "/memory/reinforce", { id: fakeId(1) }],
    [
      "tags",
      TagMemoriesReply,
      "POST",
      "/memory/tags",
      { memories: [{ id: fakeId(1) }, { id: "x" }], add: ["y"] },
    ],
    ["related", RelatedMemoriesReply, "GET", `/memory/${fakeId(1)}/related`, undefined],
    ["sectors", SectorsReply, "GET", "/sectors", undefined],
    ["livez", AliveReply, "GET", "/livez", undefined],
    ["readyz", ReadyReply, "GET", "/readyz", undefined],
    ["health", HealthReply, "GET", "/health", undefined],
    ["version", VersionReply, "GET", "/version", undefined],
    ["stats", StatsReply, "GET", "/stats", undefined],
    ["a problem", Problem, "GET", "/nothing", undefined],
  ])("of %s are what the description says", async (_name, schema, method, url, payload) => {
    const { app, post } = createTestServer();
    await post("/memory/add", { content: "first", metadata: { a: [1, null] }, user_id: null });
    const reply = await app.inject({ method, url, ...(payload && { payload }) });
    expect(Compile(schema).Errors(reply.json())).toEqual([]);
  });
});

describe("answers about facts", () => {
  const fact = { subject: "Ada", predicate: "lives in", object: "London" };
  const range = "time1=2020-01-01&time2=2100-01-01";
  it.each<[string, TSchema, "GET" | "POST" | "PATCH" | "DELETE", string, object | undefined]>([
    ["record", RecordFactReply, "POST", "/api/temporal/fact", { ...fact, object: "Paris" }],
    ["batch", RecordFactsReply, "POST", "/api/temporal/fact/batch", { facts: [fact, {}] }],
    ["update", FactRecord, "PATCH", `/api/temporal/fact/${fakeId(1)}`, { confidence: 0.5 }],
    ["delete", FactRecord, "DELETE", `/api/temporal/fact/${fakeId(1)}`, undefined],
    ["list", FindFactsReply, "GET", "/api/temporal/fact?at=2100-01-01&l=1", undefined],
    ["current", OneFactReply, "GET", "/api/temporal/fact/current?subject=ada&predicate=lives+in", undefined],
    ["get", OneFactReply, "GET", `/api/temporal/fact/${fakeId(1)}`, undefined],
    ["timeline", FactTimelineReply, "GET", "/api/temporal/timeline?subject=ada&l=1", undefined],
    ["search", SearchFactsReply, "GET", "/api/temporal/search?pattern=a", undefined],
    ["compare", CompareFactsReply, "GET", `/api/temporal/compare?${range}`, undefined],
    ["stats", FactStatsReply, "GET", "/api/temporal/stats", undefined],
    ["volatile", VolatileFactsReply, "GET", "/api/temporal/volatile", undefined],
    ["query", QueryMemoryReply, "POST", "/memory/query", { query: "ada", include_facts: true }],
  ])("of %s are what the description says", async (_name, schema, method, url, payload) => {
    const { app, post } = createTestServer();
    await post("/api/temporal/fact", { ...fact, valid_from: "2020-01-01" });
    await post("/api/temporal/fact", { ...fact, object: "Oslo", valid_from: "2021-01-01" });
    const reply = await app.inject({ method, url, ...(payload && { payload }) });
    expect(reply.statusCode).toBe(200);
    expect(Compile(schema).Errors(reply.json())).toEqual([]);
  });
});
