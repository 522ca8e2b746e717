import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../src/core/errors.ts";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { createTestServer } from "../support/test-server.ts";

/** A position of another store, or of before a restart. */
const OTHERS = createPlaces("another store").seal(7, 7);
const TOKEN = "the-token-of-the-data-directory";
let operations: Operations;
let listening: Listening;
let stopping: AbortController;
let keys: ReturnType<typeof createKeyRing>;
const open: AbortController[] = [];

beforeEach(async () => {
  operations = bindOperations(createMemoryWorld().ports);
  stopping = new AbortController();
  keys = createKeyRing({ now: Date.now });
  const { app } = createTestServer(operations, {
    stopping: stopping.signal,
    access: { keys, localToken: TOKEN },
  });
  listening = await listen(app, { host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  for (const stream of open.splice(0)) stream.abort();
  stopping.abort();
  await listening.close(1_000);
});

const get = (path: string, headers: Record<string, string> = {}) => {
  const closed = new AbortController();
  open.push(closed);
  return fetch(`${listening.urls[0]}${path}`, { headers, signal: closed.signal });
};
const add = async (content: string, userId?: string) =>
  (await operations.addMemory({ content, ...(userId !== undefined && { userId }) })).memory.id;

/** Reads until the text holds so many events. */
async function events(response: Response, count: number): Promise<string[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while ((text.match(/^data:/gm) ?? []).length < count) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`the stream ended after ${text}`);
    text += value ?? "";
  }
  return text.split("\n\n").filter((frame) => frame.includes("data:"));
}

describe("GET /changes", () => {
  it("answers pages from the beginning, and refuses what is no position", async () => {
    const ids = [await add("one"), await add("two", "ann")];
    const first = (await (await get("/changes?limit=1")).json()) as Record<string, unknown>;
    expect(first).toEqual({
      items: [
        {
          position: expect.any(String),
          kind: "memory.added",
          id: ids[0],
          user_id: null,
          at: expect.stringMatching(/Z$/),
        },
      ],
      next: expect.any(String),
      reset: false,
    });
    const second = await (await get(`/changes?since=${String(first.next)}`)).json();
    expect(second).toMatchObject({ items: [{ id: ids[1], user_id: "ann" }], reset: false });
    expect(await (await get("/changes?user_id=ann")).json()).toMatchObject({ items: [{ id: ids[1] }] });
    for (const query of ["since=x", "since=", "l=0", "l=1001", "u=1"])
      expect((await get(`/changes?${query}`)).status).toBe(400);
  });
});

it("tells a user's key nothing of what others do: the same answers, to the letter, whatever they write", async () => {
  const { key } = await keys.create({ name: "ann", scope: "read", userId: "ann" });
  const read = async (path: string) => (await get(path, { "x-api-key": key })).text();
  const stream = (await get("/events", { "x-api-key": key })).body?.pipeThrough(new TextDecoderStream());
  const reader = stream?.getReader();
  const begin = await reader?.read();
  await add("the first", "ann");
  await add("the second", "ann");
  const { next } = JSON.parse(await read("/changes?l=1")) as { next: string };
  const all = async () => [
    await read("/changes"),
    await read("/changes?l=1"),
    await read(`/changes?since=${next}`),
    await read(`/changes?since=${OTHERS}`),
    await read("/memory/all?l=1"),
  ];
  const before = await all();
  for (let n = 0; n < 30; n += 1) await add(`ben writes ${n}`, n % 2 === 0 ? "ben" : undefined);
  expect(await all()).toEqual(before);
  await add("the third", "ann");
  const told: string[] = [begin?.value ?? ""];
  while (!told.join("").includes("the third") && (told.join("").match(/memory\.added/g)?.length ?? 0) < 6)
    told.push((await reader?.read())?.value ?? "");
  for (const text of [...before, told.join("")])
    for (const [, sealed = ""] of text.matchAll(/(?:id: |position":"|next":"|next_cursor":")([^"\n]+)/g))
      expect(Buffer.from(sealed, "base64url").toString("base64url")).toMatch(/^[\w-]{22}$/);
});

describe("GET /events", () => {
  it("sends changes as they happen, each with its position", async () => {
    await add("before");
    const response = await get("/events");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reading = events(response, 2);
    const one = await add("one");
    await operations.deleteMemory({ id: one });
    const [added = "", deleted = ""] = await reading;
    const [, position] = /^id: (.+)\nevent: memory.added\ndata: (.+)$/m.exec(added) ?? [];
    expect(added).toContain(`"id":"${one}"`);
    expect(deleted).toContain("event: memory.deleted");
    expect(added).not.toContain('one"');

    const [again = ""] = await events(await get("/events", { "last-event-id": position ?? "" }), 1);
    expect(again).toContain("event: memory.deleted");
    expect(await events(await get("/events?since=0"), 3)).toHaveLength(3);
  });

  it("tells a reader that changes are missing", async () => {
    const [reset = ""] = await events(await get("/events", { "last-event-id": OTHERS }), 1);
    expect(reset).toMatch(/^event: reset\ndata: \{"position":".+"\}$/m);
    expect(await (await get(`/changes?since=${OTHERS}`)).json()).toMatchObject({ items: [], reset: true });
    expect((await get("/events", { "last-event-id": "x y" })).status).toBe(400);
  });

  it("sends a user's key only that user's changes, and nothing once it was revoked", async () => {
    const { key, kept } = await keys.create({ name: "ann", scope: "read", userId: "ann" });
    const response = await get("/events", { "x-api-key": key });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    await add("ben's", "ben");
    const id = await add("ann's", "ann");
    const { value } = (await reader?.read()) ?? {};
    expect(value).toContain(id);
    expect(value).not.toContain('"ben"');
    expect((await get("/events?user_id=ben", { "x-api-key": key })).status).toBe(403);
    await keys.revoke(kept.id);
    await add("another of ann's", "ann");
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  it("counts no stream whose client has gone while it was looked up who calls", async () => {
    const { port, hostname } = new URL(listening.urls[0] ?? "");
    for (let gone = 0; gone < 40; gone += 1) {
      const socket = connect(Number(port), hostname);
      await new Promise((done) => socket.once("connect", done));
      socket.write(`GET /events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`, () =>
        socket.resetAndDestroy(),
      );
      await new Promise((done) => socket.once("close", done));
    }
    const status = async () => (await get("/events")).status;
    await expect.poll(status).toBe(200);
    const streams = await Promise.all(Array.from({ length: 20 }, status));
    expect(streams).toEqual(Array(20).fill(200));
  });

  it("serves a browser that memoryd open signed in, until it signs out", async () => {
    await keys.create({ name: "one", scope: "admin" });
    const as = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });
    const post = async (path: string, headers: Record<string, string>, body?: object) =>
      (await (
        await fetch(`${listening.urls[0]}${path}`, {
          method: "POST",
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
      ).json()) as Record<string, string>;
    const { authorization } = as(TOKEN);
    const { code = "" } = await post("/session/codes", { authorization });
    const { token = "" } = await post("/session", { "content-type": "application/json" }, { code });
    const stream = await get("/events?since=0", { authorization: as(token).authorization });
    const id = await add("while the tab is open");
    expect((await events(stream, 1)).join("")).toContain(id);

    const after = await get("/events", { authorization: as(token).authorization });
    const signedOut = await fetch(`${listening.urls[0]}/session`, {
      method: "DELETE",
      headers: { authorization: as(token).authorization },
    });
    expect(signedOut.status).toBe(200);
    await add("after it was closed");
    expect(await after.text()).not.toContain("memory.added");
  });

  it("opens 32 streams and no more, until one is closed", async () => {
    const streams = await Promise.all(Array.from({ length: 32 }, () => get("/events")));
    expect(streams.map(({ status }) => status)).toEqual(Array(32).fill(200));
    const refused = await get("/events");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    open[0]?.abort();
    await expect.poll(async () => (await get("/events")).status, { timeout: 5_000 }).toBe(200);
  });

  it("counts a stream while the store of its user is looked for, and none that was refused", async () => {
    const { app } = createTestServer({
      followChanges: async ({ userId }) => {
        await sleep(300);
        if (userId === "away") throw new ServiceError("NOT_READY", "the database is away");
        return (async function* () {})();
      },
    });
    const ask = async (user: string) => (await app.inject(`/events?user_id=${user}`)).statusCode;
    const first = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n % 2 === 0 ? "away" : "ann")));
    const count = (all: readonly number[], wanted: number) => all.filter((code) => code === wanted).length;
    expect([200, 503, 429].map((code) => count(first, code))).toEqual([16, 16, 8]);
    expect(await Promise.all(Array.from({ length: 32 }, () => ask("ann")))).toEqual(Array(32).fill(200));
  });

  it("ends when the daemon stops, which does not wait for it", async () => {
    const response = await get("/events");
    const reader = response.body?.getReader();
    await reader?.read();
    stopping.abort();
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(await listening.close(60_000)).toBe(0);
  });

  it("asks the feed for no more than a slow reader takes", async () => {
    let pages = 0;
    const items = Array.from({ length: 100 }, (_, n) => ({
      position: n,
      kind: "memory.added" as const,
      id: `m${n}`,
      userId: "u".repeat(200),
      at: 0,
    }));
    const { app } = createTestServer({
      followChanges: async () =>
        (async function* () {
          for (; pages < 100_000; pages += 1) yield { items, next: 9, reset: false };
        })(),
    });
    const other = await listen(app, { host: "127.0.0.1", port: 0 });
    const socket = connect(other.port, "127.0.0.1");
    try {
      socket.pause();
      socket.write(`GET /events HTTP/1.1\r\nhost: 127.0.0.1:${other.port}\r\n\r\n`);
      let before = 0;
      const stands = () => {
        const isStill = pages > 0 && pages === before;
        before = pages;
        return isStill;
      };
      await expect.poll(stands, { interval: 300, timeout: 20_000 }).toBe(true);
      expect(pages).toBeLessThan(10_000);
    } finally {
      socket.destroy();
      await other.close(0);
    }
  });
});
