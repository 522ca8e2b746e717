import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { describe, expect, it, vi } from "vitest";
import pino from "pino";
import { ServiceError, type ErrorCode } from "../../src/core/errors.ts";
import { listen } from "../../src/http/listen.ts";
import { STATUS_BY_CODE } from "../../src/http/problem.ts";
import { createTestServer } from "../support/test-server.ts";

const codes = Object.entries(STATUS_BY_CODE) as [ErrorCode, number][];

describe("a failed operation", () => {
  it.each(codes.filter(([code]) => code !== "INTERNAL"))("%s is answered with %i", async (code, status) => {
    const { post } = createTestServer({
      addMemory: () =>
        Promise.reject(
          new ServiceError(code, "The disk is full. Free some space.", { retryAfterSeconds: 1.2 }),
        ),
    });
    const reply = await post("/memory/add", { content: "x" }, { headers: { "x-request-id": "req-1" } });
    expect(reply.statusCode).toBe(status);
    expect(reply.headers).toMatchObject({ "content-type": "application/problem+json", "retry-after": "2" });
    expect(reply.json()).toEqual({
      type: `urn:memoryd:problem:${code.toLowerCase().replaceAll("_", "-")}`,
      title: expect.stringMatching(/^[A-Z]/),
      status,
      detail: "The disk is full. Free some space.",
      code,
      error: code.toLowerCase(),
      request_id: "req-1",
    });
  });

  it.each(["ENOSPC", "EDQUOT"])(
    "%s of whatever file is a full store, not a fault of the program",
    async (code) => {
      const full = Object.assign(new Error("write failed"), { code, syscall: "write" });
      const { post } = createTestServer({ addMemory: () => Promise.reject(full) });
      const reply = await post("/memory/add", { content: "x" });
      expect(reply.statusCode).toBe(503);
      expect(reply.json()).toMatchObject({
        code: "STORE_FULL",
        detail: expect.stringMatching(/^The disk is full/) as string,
      });
    },
  );

  it("has no Retry-After where waiting does not help", async () => {
    const { post } = createTestServer({
      addMemory: () => Promise.reject(new ServiceError("STORE_FULL", "Full.")),
    });
    expect((await post("/memory/add", { content: "x" })).headers).not.toHaveProperty("retry-after");
  });
});

describe("a bug", () => {
  it.each([new Error("secret path"), new ServiceError("INTERNAL", "secret path"), "secret path"])(
    "thrown as %s is hidden from the answer and logged with the request id",
    async (thrown) => {
      const lines: string[] = [];
      const log = pino({}, { write: (line: string) => void lines.push(line) });
      // eslint-disable-next-line typescript/prefer-promise-reject-errors
      const { post } = createTestServer({ addMemory: () => Promise.reject(thrown) }, { log });
      const reply = await post(
        "/memory/add",
        { content: "the-memory" },
        { headers: { "x-request-id": "req-7" } },
      );
      expect(reply.statusCode).toBe(500);
      expect(reply.json()).toMatchObject({ code: "INTERNAL", error: "internal", request_id: "req-7" });
      expect(reply.body).not.toContain("secret path");

      const failure = lines.map((line) => JSON.parse(line)).find((line) => line.msg === "request failed");
      expect(failure).toMatchObject({ level: 50, request_id: "req-7" });
      expect(JSON.stringify(failure)).toContain("secret path");
      expect(lines.join("")).not.toContain("the-memory");
    },
  );
});

describe("the log", () => {
  function serverThatLogs(level: string, operations: Parameters<typeof createTestServer>[0] = {}) {
    const lines: string[] = [];
    const log = pino({ level }, { write: (line: string) => void lines.push(line) });
    return { ...createTestServer(operations, { log }), lines };
  }

  it("grows with what goes wrong, not with every request", async () => {
    const addMemory = () => Promise.reject(new ServiceError("STORE_FULL", "Full."));
    const { get, post, app, lines } = serverThatLogs("info", { addMemory });
    await get("/memory/all");
    await get("/nothing");
    expect(lines).toEqual([]);
    await post("/memory/add", { content: "the-memory" });
    await app.close();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: "request not served" },
      { level: 40, msg: "request answered", route: "/memory/add", status: 503 },
    ]);
  });

  it("says of each request, where that is wanted, what was asked and how it went, without what was in it", async () => {
    const { get, app, lines } = serverThatLogs("debug");
    await get("/memory/all?tag=a-private-tag&user_id=zoe");
    await get("/a-private-path");
    await app.close();
    expect(lines.map((line) => JSON.parse(line)).find((line) => line.status === 200)).toMatchObject({
      msg: "request answered",
      method: "GET",
      route: "/memory/all",
      status: 200,
      request_id: expect.any(String),
    });
    expect(lines.join("")).not.toMatch(/private|zoe/);
  });
});

it("is no failure when a client goes away while it sends a file", async () => {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const { app } = createTestServer({}, { log });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  const headers = { "content-type": "multipart/form-data; boundary=B", "content-length": 1_000 };
  const incoming = once(app.server, "request") as Promise<[IncomingMessage]>;
  const { port } = listening;
  const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/ingest", headers });
  request.on("error", () => {});
  request.write("--B\r\n");
  const [received] = await incoming;
  await vi.waitFor(() => expect(received.listenerCount("data")).toBeGreaterThan(0), { timeout: 30_000 });
  request.destroy();
  const said = () => lines.map((line) => JSON.parse(line) as { msg: string; level: number });
  await vi.waitFor(() => expect(said().map(({ msg }) => msg)).toContain("client went away"), {
    timeout: 30_000,
  });
  await listening.close(0);
  expect(said().filter(({ level }) => level > 30)).toEqual([]);
});

describe("what no route answers", () => {
  it("is 404, with the methods that the address does answer", async () => {
    const { app, get } = createTestServer();
    expect((await get("/nothing")).json().code).toBe("NOT_FOUND");
    expect((await get("/nothing")).headers).not.toHaveProperty("allow");

    const reply = await app.inject({ method: "PUT", url: "/memory/all?x=1", payload: { not: "read" } });
    expect(reply.statusCode).toBe(404);
    expect(reply.headers.allow).toBe("GET, HEAD");
    expect(reply.json().detail).toContain("GET, HEAD");
    expect((await app.inject({ method: "POST", url: "/memory/an-id" })).headers.allow).toBe(
      "PATCH, DELETE, GET, HEAD",
    );
  });

  it.each([
    ["GET", "/memory/add", "POST"],
    ["HEAD", "/memory/query?k=1", "POST"],
    ["PATCH", "/memory/all", "GET, HEAD"],
    ["GET", "/api/temporal/fact/batch", "POST"],
    ["DELETE", "/api/temporal/fact/current", "GET, HEAD"],
  ] as const)("%s %s is no id: %s only", async (method, url, allowed) => {
    const { app, calls } = createTestServer();
    const reply = await app.inject({ method, url });
    expect([reply.statusCode, reply.headers.allow]).toEqual([404, allowed]);
    expect(calls).toEqual([]);
  });

  it("is 404 before its body is read", async () => {
    const { post } = createTestServer({}, { limits: { maxJsonBytes: 10 } });
    expect((await post("/nothing", "{".repeat(100))).statusCode).toBe(404);
  });

  it("is 400 for an address that cannot be decoded", async () => {
    const reply = await createTestServer().get("/memory/%zz");
    expect(reply.statusCode).toBe(400);
    expect(reply.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "content-type": "application/problem+json",
    });
    expect(reply.json()).toMatchObject({
      code: "INVALID_REQUEST",
      request_id: reply.headers["x-request-id"],
    });
  });
});

describe("every answer", () => {
  it("carries the guarding headers and an id for the log", async () => {
    const { get } = createTestServer();
    for (const url of ["/livez", "/nothing", "/memory/all?l=x"]) {
      const { headers } = await get(url);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
      expect(headers["x-request-id"]).toMatch(/^[\w.-]{1,64}$/);
    }
  });

  it("echoes a harmless request id and replaces any other", async () => {
    const { get } = createTestServer();
    const idOf = async (id: string) =>
      (await get("/livez", { headers: { "x-request-id": id } })).headers["x-request-id"];
    expect(await idOf("a.B-9_z")).toBe("a.B-9_z");
    expect(await idOf("a".repeat(64))).toBe("a".repeat(64));
    for (const id of ["", "a b", "a".repeat(65), "a\u00e4"]) expect(await idOf(id)).not.toBe(id);
  });
});
