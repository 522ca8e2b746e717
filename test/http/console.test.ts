/** The console's files and its signing in, without a browser; `test/e2e/console.test.ts` has one. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { KeyRing } from "../../src/core/access/key-ring.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

const TOKEN = "the-token-of-the-data-directory";
const PAGE = "<!doctype html><title>memoryd</title>";
const clock = { at: 0, now: () => clock.at };
let folder: string;
let keys: KeyRing;
let server: TestServer;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-console-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "assets/main-1a.js"), "void 0;");
  writeFileSync(join(folder, "assets/main-1a.css"), "p{}");
  writeFileSync(join(folder, "facts.md"), "# Facts");
});
afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  clock.at = Date.UTC(2026, 10, 22);
  keys = createKeyRing(clock);
  server = createTestServer(
    {},
    { consoleFolder: folder, docsFolder: folder, access: { keys, clock, localToken: TOKEN } },
  );
});

const get = (url: string, headers: Record<string, string> = {}) => server.get(url, { headers });
const html = { accept: "text/html,application/xhtml+xml" };

describe("the page", () => {
  it("is for browsers, with a policy that lets nothing foreign in; programs get 404", async () => {
    const page = await get("/", html);
    expect(page.statusCode).toBe(200);
    expect(page.body).toBe(PAGE);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:/);
    expect((await get("/", { accept: "application/json" })).statusCode).toBe(404);
    expect((await get("/docs", html)).headers["location"]).toBe("/#/docs");
  });

  it("needs no key, also from a link on another site; data does", async () => {
    await keys.create({ name: "one", scope: "admin" });
    const linked = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    expect((await get("/", { ...html, ...linked })).statusCode).toBe(200);
    expect((await get("/assets/main-1a.js", linked)).statusCode).toBe(200);
    expect((await get("/session", linked)).statusCode).toBe(403);
    expect((await get("/session")).statusCode).toBe(401);
    expect((await get("/", { ...html, host: "evil.example" })).statusCode).toBe(403);
  });

  it("has the files of the build, for ever, and no others", async () => {
    const script = await get("/assets/main-1a.js");
    expect(script.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    expect((await get("/assets/main-1a.css")).headers["content-type"]).toBe("text/css; charset=utf-8");
    const others = ["..%2Findex.html", "main-1a.js%00", "x.html"];
    const statuses = await Promise.all(others.map(async (name) => (await get(`/assets/${name}`)).statusCode));
    expect(statuses).toEqual(others.map(() => 404));
  });

  it("is that of the start, also when another build has replaced it since", async () => {
    await server.app.ready();
    const moved = `${folder}-before`;
    renameSync(folder, moved);
    try {
      expect((await get("/", html)).body).toBe(PAGE);
      expect((await get("/assets/main-1a.js")).body).toBe("void 0;");
    } finally {
      renameSync(moved, folder);
    }
  });

  it("has the documentation as Markdown, without a key, and no other file", async () => {
    await keys.create({ name: "one", scope: "admin" });
    const facts = await get("/docs/facts.md");
    expect(facts.body).toBe("# Facts");
    expect(facts.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    for (const file of ["none.md", "index.html", "assets%2Fmain-1a.js", "..%2Ffacts.md"])
      expect((await get(`/docs/${file}`)).statusCode).toBe(404);
  });

  it("says what to do in a build without it", async () => {
    server = createTestServer({}, { consoleFolder: join(folder, "missing") });
    const answer = await get("/", html);
    expect(answer.statusCode).toBe(404);
    expect(answer.json<{ detail: string }>().detail).toContain("npm run build");
  });
});

describe("signing in", () => {
  const code = async () =>
    (await server.post("/session/codes", undefined, { headers: { authorization: `Bearer ${TOKEN}` } })).json<{
      code: string;
    }>().code;
  const signIn = (code: string) => server.post("/session", { code });
  const session = (token: string) => get("/session", { authorization: `Bearer ${token}` });

  it("says who calls, and whether a key is needed", async () => {
    expect((await get("/session")).json()).toMatchObject({
      scope: "admin",
      user_id: null,
      key_needed: false,
    });
    const { key } = await keys.create({ name: "ann's", scope: "read", userId: "ann" });
    expect((await session(key)).json()).toMatchObject({
      name: "ann's",
      scope: "read",
      user_id: "ann",
      key_needed: true,
    });
  });

  it("takes a code once, within a minute, and gives a token for twelve hours", async () => {
    await keys.create({ name: "one", scope: "admin" });
    const first = await code();
    const { token } = (await signIn(first)).json<{ token: string }>();
    expect((await signIn(first)).statusCode).toBe(401);
    expect((await session(token)).json()).toMatchObject({ name: "console", scope: "admin" });

    const late = await code();
    clock.at += 61_000;
    expect((await signIn(late)).statusCode).toBe(401);
    clock.at += 12 * 3_600_000;
    expect((await session(token)).json<{ detail: string }>().detail).toContain("expired");
  });

  it("gives codes to the owner of the data directory alone, and ends tokens", async () => {
    const { key } = await keys.create({ name: "one", scope: "admin" });
    const asked = await server.post("/session/codes", undefined, { headers: { "x-api-key": key } });
    expect(asked.statusCode).toBe(403);

    const { token } = (await signIn(await code())).json<{ token: string }>();
    const headers = { authorization: `Bearer ${token}` };
    expect((await server.app.inject({ method: "DELETE", url: "/session", headers })).statusCode).toBe(200);
    expect((await session(token)).statusCode).toBe(401);
  });
});
