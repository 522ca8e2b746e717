/** Keys as clients meet them: made, revoked and expired while the server runs; throttled and limited. */
import type { FastifyInstance } from "fastify";
import { beforeEach, describe, expect, it } from "vitest";
import type { CreateKeyInput, KeyRing } from "../../src/core/access/key-ring.ts";
import type { AccessOptions } from "../../src/http/access.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

const TOKEN = "the-token-of-the-data-directory";
const HOUR_MS = 3_600_000;
const clock = { at: 0, now: () => clock.at };
let keys: KeyRing;
let server: TestServer;

function serve(access: Partial<AccessOptions> = {}): FastifyInstance {
  server = createTestServer({}, { access: { keys, clock, localToken: TOKEN, ...access } });
  return server.app;
}

beforeEach(() => {
  clock.at = Date.UTC(2026, 10, 21, 10, 15);
  keys = createKeyRing(clock);
  serve();
});

async function keyFor(input: Partial<CreateKeyInput> = {}): Promise<string> {
  return (await keys.create({ name: `key ${keys.keys.length}`, scope: "admin", ...input })).key;
}

const get = (url: string, key?: string, headers: Record<string, string> = {}) =>
  server.get(url, { headers: { ...headers, ...(key !== undefined && { "x-api-key": key }) } });
const statusOf = async (url: string, key?: string, headers: Record<string, string> = {}) =>
  (await get(url, key, headers)).statusCode;

describe("a key made while the server runs", () => {
  it("is needed from then on, and stays needed when it was revoked", async () => {
    expect(await statusOf("/version")).toBe(200);
    const made = await server.post("/keys", { name: "laptop", scope: "admin" });
    expect(made.statusCode).toBe(200);
    const { key, id, first, ...record } = made.json<{ key: string; id: string; first: boolean }>();
    expect(first).toBe(true);
    expect(record).toEqual({
      name: "laptop",
      prefix: key.slice(0, 11),
      scope: "admin",
      user_id: null,
      state: "active",
      created_at: "2026-11-21T10:15:00.000Z",
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    });
    expect(await statusOf("/version")).toBe(401);
    expect(await statusOf("/version", key)).toBe(200);
    expect((await get("/keys", key)).json()).toMatchObject({
      keys: [{ id, last_used_at: "2026-11-21T10:00:00.000Z" }],
      key_needed: true,
    });
    expect((await get("/keys", key)).body).not.toContain(key);

    const revoked = await server.app.inject({
      method: "DELETE",
      url: `/keys/${id}`,
      headers: { "x-api-key": key },
    });
    expect(revoked.json()).toMatchObject({ id, state: "revoked" });
    const refused = await get("/version", key);
    expect(refused.statusCode).toBe(401);
    expect(refused.json<{ detail: string }>().detail).toMatch(/was revoked/);
    expect(await statusOf("/version")).toBe(401);
    expect(await statusOf("/livez", key)).toBe(200);
    expect((await get("/health", key)).json()).toEqual({ status: "ok", version: "0.1.0" });
  });

  it("ends by the clock", async () => {
    const key = await keyFor({ expiresAt: clock.at + HOUR_MS });
    expect(await statusOf("/version", key)).toBe(200);
    clock.at += HOUR_MS;
    const refused = await get("/version", key);
    expect(refused.statusCode).toBe(401);
    expect(refused.json<{ detail: string }>().detail).toMatch(/has expired/);
  });

  it("lets no proxy pass without it any more, and all with it", async () => {
    expect(await statusOf("/version", undefined, { "x-forwarded-for": "8.8.8.8" })).toBe(403);
    const key = await keyFor();
    expect(await statusOf("/version", key, { "x-forwarded-for": "8.8.8.8" })).toBe(200);
  });

  it("gives its name to what it writes, unless the client gives its own", async () => {
    const key = await keyFor({ name: "kitchen tablet", scope: "write" });
    const add = async (headers = {}) => {
      const reply = await server.post(
        "/memory/add",
        { content: "x" },
        { headers: { "x-api-key": key, ...headers } },
      );
      return reply.json<{ created_by: string }>().created_by;
    };
    expect(await add()).toBe("kitchen tablet");
    expect(await add({ "x-memoryd-client": "notes" })).toBe("notes");
  });

  it("may be of a user, who is then meant", async () => {
    const key = await keyFor({ scope: "write", userId: "ann" });
    await server.post("/memory/add", { content: "x" }, { headers: { "x-api-key": key } });
    expect(server.lastInput("addMemory")).toMatchObject({ userId: "ann" });
    expect(await statusOf("/memory/all?user_id=ben", key)).toBe(403);
    expect((await get("/health", key)).json()).not.toHaveProperty("memory_count");
  });

  it.each(["/stats", "/keys"])("that is no admin's does not see %s", async (url) => {
    expect(await statusOf(url, await keyFor({ scope: "write" }))).toBe(403);
    expect(await statusOf(url, await keyFor({ scope: "write", userId: "ann" }))).toBe(403);
    expect(await statusOf(url, await keyFor())).toBe(200);
  });

  it.each([
    [{}, "/name"],
    [{ name: "" }, "/name"],
    [{ name: "x".repeat(65) }, "/name"],
    [{ name: "a\u0000b" }, "/name"],
    [{ name: "a", scope: "root" }, "/scope"],
    [{ name: "a", user_id: "" }, "/user_id"],
    [{ name: "a", scope: "admin", user_id: "ann" }, "/user_id"],
    [{ name: "a", expires_at: "2020-01-01" }, "/expires_at"],
    [{ name: "a", expires_at: "soon" }, "/expires_at"],
  ])("is not made of %j", async (body, path) => {
    const reply = await server.post("/keys", body);
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({
      errors: expect.arrayContaining([expect.objectContaining({ path })]),
    });
    expect(keys.isLocked).toBe(false);
  });

  it("cannot be revoked twice differently, or when it is unknown", async () => {
    const inject = (id: string) =>
      server.app.inject({ method: "DELETE", url: `/keys/${id}`, headers: { "x-api-key": TOKEN } });
    await keyFor();
    const id = keys.keys[0]?.id ?? "";
    expect((await inject(id)).json()).toEqual((await inject(id)).json());
    expect((await inject("unknown")).statusCode).toBe(404);
    expect((await inject(id.replace(/.$/, "f"))).statusCode).toBe(404);
  });
});

describe("removing all keys", () => {
  const remove = (key: string) =>
    server.app.inject({ method: "DELETE", url: "/keys", headers: { "x-api-key": key } });

  it("is for the token of the data directory alone", async () => {
    const key = await keyFor();
    expect((await remove(key)).statusCode).toBe(403);
    expect((await remove(TOKEN)).json()).toEqual({ ok: true, deleted: 1, key_needed: false });
    expect(await statusOf("/version")).toBe(200);
  });

  it("is refused where others could then come in", async () => {
    await keyFor();
    for (const access of [{ host: "0.0.0.0" }, { allowedHosts: ["notes.example"] }]) {
      serve(access);
      expect((await remove(TOKEN)).statusCode).toBe(409);
      expect(keys.isLocked).toBe(true);
    }
  });

  it("leaves the configured key needed", async () => {
    await keyFor();
    serve({ apiKey: "a-key-of-16-chars-or-more", host: "0.0.0.0" });
    expect((await remove(TOKEN)).json()).toMatchObject({ key_needed: true });
    expect(await statusOf("/version")).toBe(401);
  });
});

describe("wrong keys", () => {
  async function tryWrong(times: number, address = "10.0.0.1", headers: Record<string, string> = {}) {
    let reply;
    for (let i = 0; i < times; i += 1) {
      reply = await server.get("/version", {
        headers: { "x-api-key": `wrong ${i}`, ...headers },
        remoteAddress: address,
      });
    }
    return reply;
  }

  it("are 401 ten times, then 429 with the time to wait, address by address", async () => {
    await keyFor();
    expect((await tryWrong(10))?.statusCode).toBe(401);
    const refused = await tryWrong(1);
    expect(refused?.statusCode).toBe(429);
    expect(refused?.headers).toMatchObject({ "retry-after": "6", connection: "close" });
    expect((await tryWrong(1, "10.0.0.2"))?.statusCode).toBe(401);
    clock.at += 6_000;
    expect((await tryWrong(1))?.statusCode).toBe(401);
    expect((await tryWrong(1))?.statusCode).toBe(429);
  });

  it("of others do not slow a good one, nor those who have none", async () => {
    const key = await keyFor();
    await tryWrong(30, "127.0.0.1");
    expect(await statusOf("/version", key)).toBe(200);
    expect(await statusOf("/version")).toBe(401);
    expect(await statusOf("/livez", "wrong")).toBe(200);
  });

  it("count for the client behind a proxy that is trusted, and for any other proxy itself", async () => {
    await keyFor();
    serve({ trustedProxies: ["10.0.0.1"] });
    const behind = (client: string) => ({ "x-forwarded-for": client });
    expect((await tryWrong(11, "10.0.0.1", behind("8.8.8.8")))?.statusCode).toBe(429);
    expect((await tryWrong(1, "10.0.0.1", behind("8.8.4.4")))?.statusCode).toBe(401);
    await tryWrong(10, "10.0.0.9", behind("8.8.8.1"));
    expect((await tryWrong(1, "10.0.0.9", behind("8.8.8.2")))?.statusCode).toBe(429);
  });

  it("do no harm where no key is needed", async () => {
    expect((await tryWrong(30))?.statusCode).toBe(200);
  });
});

describe("a limit of requests", () => {
  it("holds for each key alone, and not for the daemon's own command line", async () => {
    const [one, other] = [await keyFor(), await keyFor()];
    serve({ requestsPerMinute: 3 });
    const statuses = async (key: string, times: number) => {
      const all: number[] = [];
      for (let i = 0; i < times; i += 1) all.push(await statusOf("/version", key));
      return all;
    };
    expect(await statuses(one, 4)).toEqual([200, 200, 200, 429]);
    expect((await get("/version", one)).headers["retry-after"]).toBe("20");
    expect((await get("/version", one)).json<{ detail: string }>().detail).toContain(
      "more than 3 requests a minute",
    );
    expect(await statuses(other, 1)).toEqual([200]);
    expect(await statuses(TOKEN, 5)).toEqual([200, 200, 200, 200, 200]);
    expect(await statusOf("/livez", one)).toBe(200);
    clock.at += 20_000;
    expect(await statuses(one, 2)).toEqual([200, 429]);
  });

  it("holds for the configured key, and there is none without a setting", async () => {
    const apiKey = "a-key-of-16-chars-or-more";
    serve({ apiKey, requestsPerMinute: 1 });
    expect([await statusOf("/version", apiKey), await statusOf("/version", apiKey)]).toEqual([200, 429]);
    serve({ apiKey });
    for (let i = 0; i < 20; i += 1) expect(await statusOf("/version", apiKey)).toBe(200);
  });
});
