import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createMemoryWorld, type MemoryWorld } from "../support/memory-world.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

let world: MemoryWorld;
let server: TestServer;
let operations: Operations;
beforeEach(() => {
  world = createMemoryWorld();
  operations = bindOperations(world.ports);
  server = createTestServer(operations);
});
afterEach(() => server.app.close());

const add = (content: string, user_id: string) => server.post("/memory/add", { content, user_id });
const erase = (path: string, payload?: object) =>
  server.app.inject({ method: "DELETE", url: path, ...(payload && { payload }) });

describe("GET /users", () => {
  it("counts what each has, and goes on with its cursor", async () => {
    await add("one", "ann");
    await add("two", "böb?");
    const first = await server.get("/users?l=1");
    expect(first.json()).toMatchObject({
      items: [
        {
          user_id: "ann",
          memory_count: 1,
          fact_count: 0,
          document_count: 0,
          first_memory_at: "2026-01-01T00:00:00.000Z",
          last_memory_at: "2026-01-01T00:00:00.000Z",
        },
      ],
      total: 2,
      limit: 1,
      offset: 0,
    });
    const second = await server.get(`/users?l=1&cursor=${first.json().next_cursor}`);
    expect(second.json()).toMatchObject({ items: [{ user_id: "böb?" }], offset: 1, next_cursor: null });
  });

  it.each(["cursor=xyz", "l=0", "l=10001", "u=-1"])("refuses %s", async (query) => {
    expect((await server.get(`/users?${query}`)).statusCode).toBe(400);
  });
});

describe("GET /users/:user_id/memories", () => {
  it("is the list of that user", async () => {
    await add("one", "a/b c");
    await add("two", "other");
    const own = await server.get(`/users/${encodeURIComponent("a/b c")}/memories`);
    expect(own.json()).toEqual((await server.get("/memory/all?user_id=a%2Fb%20c")).json());
    expect(own.json().total).toBe(1);
  });

  it("refuses another user in the query, and a user who cannot be", async () => {
    expect((await server.get("/users/a/memories?user_id=b")).statusCode).toBe(400);
    expect((await server.get("/users/a/memories?user_id=a")).statusCode).toBe(200);
    expect((await server.get("/users/a%00/memories")).statusCode).toBe(400);
  });
});

describe("DELETE /users/:user_id/memories", () => {
  it("says what went, and has nothing to do the second time", async () => {
    await add("one", "a");
    await add("two", "b");
    const backups = { made: null, removed: 0, remaining: 1 };
    const answers = [await erase("/users/a/memories"), await erase("/users/a/memories")];
    expect(answers.map((answer) => answer.json())).toEqual([
      { ok: true, deleted: 1, deleted_documents: 0, deleted_facts: 0, backups },
      { ok: true, deleted: 0, deleted_documents: 0, deleted_facts: 0, backups },
    ]);
    expect((await server.get("/memory/all")).json().total).toBe(1);
  });

  it("replaces backups for admins alone", async () => {
    const keys = createKeyRing({ now: Date.now });
    const { app } = createTestServer(operations, { access: { keys } });
    await add("one", "a");
    const eraseAs = async (scope: "write" | "admin") => {
      const headers = { authorization: `Bearer ${(await keys.create({ name: scope, scope })).key}` };
      return app.inject({ method: "DELETE", url: "/users/a/memories?backups=true", headers });
    };
    expect((await eraseAs("write")).statusCode).toBe(403);
    expect((await server.get("/memory/all")).json().total).toBe(1);
    expect((await eraseAs("admin")).json()).toMatchObject({
      deleted: 1,
      backups: { made: "two", removed: 1, remaining: 0 },
    });
    await app.close();
  });

  it.each([
    ["/users/a/memories?keep=documents&include=facts", undefined],
    ["/users/a/memories", { keep: "documents", include: "facts" }],
  ])("reads what to keep and include: %s %o", async (path, payload) => {
    await erase(path, payload);
    expect(server.lastInput("deleteUserMemories")).toEqual({
      userId: "a",
      keepsDocuments: true,
      includesFacts: true,
    });
  });

  it("refuses what it does not know, before anything goes", async () => {
    await add("one", "a");
    for (const query of ["keep=facts", "include=documents", "user_id=b"]) {
      expect((await erase(`/users/a/memories?${query}`)).statusCode).toBe(400);
    }
    expect((await server.get("/memory/all")).json().total).toBe(1);
  });
});
