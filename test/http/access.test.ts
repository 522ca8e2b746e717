import { describe, expect, it } from "vitest";
import { isLoopback, resolveAccess } from "../../src/http/access.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

const KEY = "a-key-of-16-chars-or-more";
const TOKEN = "the-token-in-the-data-directory";
type Headers = Record<string, string>;

const statusOf = async ({ get }: TestServer, headers: Headers, url = "/version") =>
  (await get(url, { headers })).statusCode;

describe("settings of access", () => {
  it.each([
    { host: "0.0.0.0" },
    { host: "192.168.1.5" },
    { host: "::" },
    { allowedHosts: ["notes.example"] },
    { allowedHosts: ["localhost", "192.168.1.5:80"] },
    { allowedOrigins: ["notes.example"] },
    { allowedOrigins: ["null"] },
    { allowedOrigins: ["*"] },
  ])("%j are refused", (options) => {
    expect(() => resolveAccess({ keys: createKeyRing({ now: Date.now }), ...options })).toThrow(
      expect.objectContaining({ code: "INVALID_REQUEST" }),
    );
  });

  it.each([
    {},
    { host: "::1" },
    { host: "::1", allowedHosts: ["notes.localhost", "notes.localhost:9000"] },
    { host: "127.0.0.2", allowedHosts: ["localhost:9000"] },
    { apiKey: KEY, host: "0.0.0.0", allowedHosts: ["notes.example"] },
    { allowedOrigins: ["http://localhost:3000", "https://notes.example/"] },
  ])("%j are accepted", (options) => {
    expect(() => resolveAccess({ keys: createKeyRing({ now: Date.now }), ...options })).not.toThrow();
  });
});

describe("isLoopback", () => {
  it.each(["localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])(
    "knows %s",
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );
  it.each([
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "localhost.example",
    "127.0.0.1.example",
    "127.0.0.256",
    "1270.0.0.1",
  ])("refuses %s", (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

describe("without a key", () => {
  it("everybody on this machine is served", async () => {
    expect(await statusOf(createTestServer(), {})).toBe(200);
    expect(await statusOf(createTestServer(), { authorization: "Bearer whatever" })).toBe(200);
  });

  it.each(["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-anything"])(
    "a request with %s is 403, on open routes too",
    async (name) => {
      expect(await statusOf(createTestServer(), { [name]: "for=1.2.3.4" })).toBe(403);
      expect(await statusOf(createTestServer(), { [name]: "" }, "/livez")).toBe(403);
    },
  );
});

describe("with a key", () => {
  const server = createTestServer({}, { access: { apiKey: KEY, localToken: TOKEN } });

  it.each<[string, Headers, number]>([
    ["nothing", {}, 401],
    ["the key as bearer", { authorization: `Bearer ${KEY}` }, 200],
    ["the key as bearer, in any case", { authorization: `bearer ${KEY}` }, 200],
    ["the key as x-api-key", { "x-api-key": KEY }, 200],
    ["both, equal", { authorization: `Bearer ${KEY}`, "x-api-key": KEY }, 200],
    ["both, the second wrong", { authorization: `Bearer ${KEY}`, "x-api-key": "wrong" }, 401],
    ["both, the first wrong", { authorization: "Bearer wrong", "x-api-key": KEY }, 401],
    ["both, different and valid", { authorization: `Bearer ${KEY}`, "x-api-key": TOKEN }, 401],
    ["a wrong key", { "x-api-key": `${KEY}x` }, 401],
    ["an empty key", { "x-api-key": "" }, 401],
    ["another scheme", { authorization: `Basic ${KEY}` }, 401],
    ["the local token", { authorization: `Bearer ${TOKEN}` }, 200],
    ["the key through a proxy", { "x-api-key": KEY, "x-forwarded-for": "1.2.3.4" }, 200],
  ])("%s", async (_name, headers, status) => {
    expect(await statusOf(server, headers)).toBe(status);
  });

  it("says how to authenticate, and does not read the body first", async () => {
    const reply = await server.post("/memory/add", "not json");
    expect(reply.statusCode).toBe(401);
    expect(reply.headers["www-authenticate"]).toBe('Bearer realm="memoryd"');
    expect(reply.json().code).toBe("UNAUTHORIZED");
  });

  it.each([
    ["GET", "/.well-known/oauth-protected-resource"],
    ["GET", "/.well-known/oauth-protected-resource/mcp"],
    ["GET", "/.well-known/oauth-authorization-server"],
    ["GET", "/mcp/.well-known/openid-configuration"],
    ["POST", "/register"],
    ["GET", "/authorize?client_id=x"],
    ["POST", "/token"],
  ] as const)("has no sign-in, and says so to %s %s", async (method, url) => {
    const reply = await (method === "GET" ? server.get(url) : server.post(url, "{}"));
    expect(reply.statusCode).toBe(404);
    expect(reply.headers["www-authenticate"]).toBeUndefined();
    expect(reply.json().error_description).toMatch(/no sign-in.*Authorization: Bearer KEY/);
  });

  it("hides which routes there are", async () => {
    expect(await statusOf(server, {}, "/nothing")).toBe(401);
    expect(await statusOf(server, { "x-api-key": KEY }, "/nothing")).toBe(404);
  });

  it("leaves /livez, /readyz and a short /health open", async () => {
    expect((await server.get("/livez")).json()).toEqual({ ok: true });
    expect((await server.get("/readyz")).json()).toEqual({ ok: true });
    expect((await server.get("/health")).json()).toEqual({ status: "ok", version: "0.1.0" });
    expect((await server.get("/health", { headers: { "x-api-key": "wrong" } })).json()).toEqual({
      status: "ok",
      version: "0.1.0",
    });
    expect((await server.get("/health", { headers: { "x-api-key": KEY } })).json()).toMatchObject({
      memory_count: 3,
    });
  });

  it("tells callers apart in idempotency keys", async () => {
    const keyOf = async (key: string) => {
      await server.post(
        "/memory/add",
        { content: "x" },
        { headers: { "x-api-key": key, "idempotency-key": "k" } },
      );
      return server.lastInput("addMemory").idempotency?.key;
    };
    expect(await keyOf(KEY)).not.toBe(await keyOf(TOKEN));
    expect(await keyOf(KEY)).toBe(await keyOf(KEY));
  });
});

describe("Host", () => {
  // Without a socket the port is unknown; test/http/listen.test.ts has the real one.
  it.each(["localhost", "localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"])(
    "%s is ours",
    async (host) => {
      expect(await statusOf(createTestServer(), { host })).toBe(200);
    },
  );

  it.each([
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "localhost.",
    "localhost:8080@evil.example",
    "localhost:port",
    "127.1",
    "[::1",
    "0.0.0.0:8080",
    "192.168.1.5:8080",
  ])("%s is 403, whatever the route", async (host) => {
    for (const url of ["/version", "/livez", "/nothing"])
      expect(await statusOf(createTestServer(), { host }, url)).toBe(403);
  });

  it("may be one that was allowed, with any port or with the one named", async () => {
    const server = createTestServer(
      {},
      { access: { apiKey: KEY, allowedHosts: ["Notes.example", "other.example:444"] } },
    );
    const hostStatus = (host: string) => statusOf(server, { host, "x-api-key": KEY });
    expect(await hostStatus("notes.example")).toBe(200);
    expect(await hostStatus("NOTES.example:443")).toBe(200);
    expect(await hostStatus("other.example:444")).toBe(200);
    expect(await hostStatus("other.example")).toBe(403);
    expect(await hostStatus("x.notes.example")).toBe(403);
  });
});

describe("a web page", () => {
  const allowed = "https://notes.example";
  const server = createTestServer({}, { access: { allowedOrigins: [allowed] } });
  const host = "localhost:8080";

  it.each([
    "https://evil.example",
    "http://evil.example:8080",
    "null",
    "",
    "file://",
    "https://localhost:8080",
    "https://notes.example.evil.example",
  ])("of the origin %j is 403 and gets no CORS headers", async (origin) => {
    const reply = await server.get("/version", { headers: { host, origin } });
    // Any loopback name and port counts as ours only where the port is unknown, as here.
    expect(reply.statusCode).toBe(403);
    expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
  });

  it.each(["cross-site", "same-site"])(
    "that sends Sec-Fetch-Site: %s without an origin is 403",
    async (site) => {
      const statusFor = (headers: Headers) => statusOf(server, { host, "sec-fetch-site": site, ...headers });
      expect(await statusFor({})).toBe(403);
      expect(await statusFor({ "sec-fetch-mode": "navigate" })).toBe(403);
      expect(await statusFor({ origin: "https://evil.example" })).toBe(403);
      expect(await statusFor({ origin: allowed })).toBe(200);
    },
  );

  it.each(["same-origin", "none"])("of our own (Sec-Fetch-Site: %s) is served", async (site) => {
    expect(await statusOf(server, { host, "sec-fetch-site": site })).toBe(200);
    expect(await statusOf(server, { host, "sec-fetch-site": site, origin: "http://localhost:8080" })).toBe(
      200,
    );
  });

  it("that was allowed may read the answer, it alone", async () => {
    const reply = await server.get("/version", { headers: { host, origin: allowed } });
    expect(reply.headers["access-control-allow-origin"]).toBe(allowed);
    expect(reply.headers.vary).toBe("origin");
    expect(reply.headers).not.toHaveProperty("access-control-allow-credentials");
    expect((await server.get("/version", { headers: { host } })).headers).not.toHaveProperty(
      "access-control-allow-origin",
    );
    const problem = await server.get("/nothing", { headers: { host, origin: allowed } });
    expect(problem.headers["access-control-allow-origin"]).toBe(allowed);
  });

  it("that was allowed gets its preflight answered, without a key", async () => {
    const locked = createTestServer({}, { access: { apiKey: KEY, allowedOrigins: [allowed] } });
    const headers = {
      host,
      origin: allowed,
      "access-control-request-method": "POST",
      "access-control-request-private-network": "true",
    };
    const reply = await locked.app.inject({ method: "OPTIONS", url: "/memory/add", headers });
    expect(reply.statusCode).toBe(204);
    expect(reply.headers["access-control-allow-origin"]).toBe(allowed);
    expect(reply.headers["access-control-allow-headers"]).toContain("x-api-key");
    expect(reply.headers["access-control-allow-private-network"]).toBe("true");

    const foreign = await locked.app.inject({
      method: "OPTIONS",
      url: "/memory/add",
      headers: { ...headers, origin: "https://evil.example" },
    });
    expect(foreign.statusCode).toBe(403);
  });

  it("cannot post a form", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
    ]) {
      const reply = await server.post("/memory/add", '{"content":"x"}', {
        headers: { host, "content-type": type },
      });
      expect(reply.statusCode).toBe(415);
    }
  });

  it("cannot open a WebSocket", async () => {
    const headers = { host, origin: "https://evil.example", connection: "upgrade", upgrade: "websocket" };
    expect(await statusOf(server, headers)).toBe(403);
  });

  it("changes nothing by GET", async () => {
    const { app, calls, get } = createTestServer();
    for (const url of ["/memory/all", "/sectors", "/stats", "/openapi.json", "/health"]) await get(url);
    await app.inject({ method: "HEAD", url: "/memory/all" });
    expect(new Set(calls.map(({ name }) => name))).toEqual(
      new Set(["listMemories", "listSectors", "listSuperseded"]),
    );
  });

  it("behind a proxy with TLS is ours when its name was allowed", async () => {
    const proxied = createTestServer({}, { access: { apiKey: KEY, allowedHosts: ["notes.example"] } });
    const headers = { host: "notes.example", "x-api-key": KEY };
    expect(await statusOf(proxied, { ...headers, origin: "https://notes.example" })).toBe(200);
    expect(await statusOf(proxied, { ...headers, origin: "https://evil.example" })).toBe(403);
  });
});
