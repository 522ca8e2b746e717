import { describe, expect, it } from "vitest";
import { createFakeBackups } from "../support/fake-operations.ts";
import { createTestServer } from "../support/test-server.ts";

const TOKEN = "t".repeat(43);

describe("/backups", () => {
  it("begins one, without a body too, and lists them", async () => {
    const { app, get, post } = createTestServer();
    const begun = { status: "running", started_at: "1970-01-01T00:00:00.001Z", done: 0, total: 0 };
    const named = await post("/backups", { name: "before-trip" });
    expect([named.statusCode, named.json()]).toEqual([202, { name: "before-trip", ...begun }]);
    const unnamed = await app.inject({ method: "POST", url: "/backups" });
    expect([unnamed.statusCode, unnamed.json()]).toEqual([202, { name: "two", ...begun }]);
    expect((await get("/backups")).json()).toEqual({
      folder: "/backups",
      items: [
        {
          name: "one",
          created_at: "1970-01-01T00:00:00.001Z",
          store_id: "store-1",
          position: "1.1",
          memories: 1,
          bytes: 10,
          added_bytes: 5,
          shares_disk: true,
          verified_at: "1970-01-01T00:00:00.001Z",
        },
      ],
      damaged: [],
      running: null,
      last: null,
    });
  });

  it("lets only a program with the data directory's token choose where it is written", async () => {
    const folders: unknown[] = [];
    const backups = {
      ...createFakeBackups(),
      start: async (options: object) => {
        folders.push(options);
        return { name: "two", startedAt: 1, done: 0, total: 0 };
      },
    };
    const { post } = createTestServer({}, { backups, access: { localToken: TOKEN } });
    const withToken = { headers: { authorization: `Bearer ${TOKEN}` } };
    expect((await post("/backups", { folder: "/tmp/x" })).statusCode).toBe(403);
    expect((await post("/backups", { folder: "x" }, withToken)).statusCode).toBe(400);
    expect((await post("/backups", { folder: "/tmp/x" }, withToken)).statusCode).toBe(202);
    expect(folders).toEqual([{ folder: "/tmp/x" }]);
  });

  it("refuses names that no backup has before anything is looked for", async () => {
    const { app } = createTestServer();
    for (const name of ["..", "%2e%2e%2fx", ".hidden", "a%2fb"]) {
      const reply = await app.inject({ method: "DELETE", url: `/backups/${name}` });
      expect([400, 404]).toContain(reply.statusCode);
    }
    expect((await app.inject({ method: "DELETE", url: "/backups/one" })).json()).toEqual({
      ok: true,
      deleted: 1,
    });
    expect((await app.inject({ method: "POST", url: "/backups/one/verify" })).json()).toMatchObject({
      name: "one",
    });
  });
});
