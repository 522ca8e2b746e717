/** Over real sockets: what `inject` cannot show. */
import { describe, afterEach, expect, it, beforeEach, vi } from "vitest";
import { once } from "node:events";
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { listen, type Listening, exitWhenIdle } from "../../src/http/listen.ts";
import type { Operations } from "../../src/core/operations.ts";
import { createFakeOperations } from "../support/fake-operations.ts";
import { createTestServer, type TestServerOptions } from "../support/test-server.ts";

describe("listen", () => {
  const open: { close: () => Promise<unknown> }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
  });

  async function start(
    overrides: Partial<Operations> = {},
    options: TestServerOptions = {},
    address: { host?: string; port?: number } = {},
  ): Promise<Listening> {
    const { app } = createTestServer(overrides, options);
    const listening = await listen(app, { host: "127.0.0.1", port: 0, ...address });
    open.push({ close: () => listening.close(0) });
    return listening;
  }

  const MEMORY = "/memory/019aa5a0-6c1e-7c3a-9d0f-000000000001";

  /** A plain server that answers every connection with one text. */
  async function startOther(text: string, host = "127.0.0.1"): Promise<number> {
    const server: Server = createServer((socket) => socket.on("error", () => {}).end(text));
    server.listen(0, host);
    await once(server, "listening");
    open.push({ close: async () => void server.close() });
    return (server.address() as AddressInfo).port;
  }

  interface Reply {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }

  function send(
    port: number,
    options: { host?: string; path?: string; headers?: Record<string, string> } = {},
  ): Promise<Reply> {
    const { host = "127.0.0.1", path = "/version", headers = {} } = options;
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host, port, path, headers, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      request.on("error", reject).end();
    });
  }

  /** Everything that comes back on a connection until it ends. */
  function sendBytes(port: number, bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      socket.on("close", () => resolve(text)).on("error", reject);
    });
  }

  describe("listen", () => {
    it("answers at both loopback addresses, with limits and guards alike", async () => {
      const { port, urls } = await start();
      expect(urls).toEqual([`http://127.0.0.1:${port}`, `http://[::1]:${port}`]);
      for (const host of ["127.0.0.1", "::1", "localhost"])
        expect((await send(port, { host })).status).toBe(200);
      expect((await send(port, { host: "::1", headers: { host: "evil.example" } })).status).toBe(403);
    });

    it("takes the port's own names as Host only", async () => {
      const { port } = await start();
      const status = async (host: string) => (await send(port, { headers: { host } })).status;
      expect(await status(`localhost:${port}`)).toBe(200);
      expect(await status(`[::1]:${port}`)).toBe(200);
      expect(await status(`localhost:${port + 1}`)).toBe(403);
      expect(await status("localhost")).toBe(403);
    });

    it("is closed to pages of other local servers, open to its own", async () => {
      const { port } = await start();
      const status = async (origin: string) => (await send(port, { headers: { origin } })).status;
      expect(await status(`http://localhost:${port}`)).toBe(200);
      expect(await status("http://localhost:3000")).toBe(403);
      expect(await status("http://localhost")).toBe(403);
    });

    it("takes the address that a connection came in on as its name", async () => {
      const access = { apiKey: "a-key-of-16-chars-or-more", host: "0.0.0.0" };
      const { port } = await start({}, { access }, { host: "0.0.0.0" });
      const headers = { "x-api-key": access.apiKey };
      expect((await send(port, { host: "127.0.0.2", headers })).status).toBe(200);
      expect(
        (await send(port, { host: "127.0.0.2", headers: { ...headers, host: `127.0.0.3:${port}` } })).status,
      ).toBe(403);
    });

    it("says that a memoryd has the port", async () => {
      const { port } = await start();
      await expect(start({}, {}, { port })).rejects.toMatchObject({
        code: "CONFLICT",
        message: expect.stringContaining(
          `127.0.0.1:${port} is already in use by another memoryd. Stop it, or choose`,
        ) as string,
      });
    });

    it.each([
      ["not HTTP", "hello\r\n"],
      ["another service", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
    ])("says that another program has the port: %s", async (_name, text) => {
      const port = await startOther(text);
      await expect(start({}, {}, { port })).rejects.toThrow("already in use by another program");
    });

    it("does not share a port with another program at the other loopback address", async () => {
      const port = await startOther("", "::1");
      await expect(start({}, {}, { port })).rejects.toThrow(`[::1]:${port} is already in use`);
      // And it let go of the address that it had got.
      const server = createServer().listen(port, "127.0.0.1");
      await once(server, "listening");
      server.close();
    });

    it("refuses an address that this machine does not have", async () => {
      const access = { apiKey: "a-key-of-16-chars-or-more" };
      await expect(start({}, { access }, { host: "192.0.2.1" })).rejects.toMatchObject({
        code: "INVALID_REQUEST",
      });
    });
  });

  describe("a connection", () => {
    it.each([
      ["that is not HTTP", "hello\r\n\r\n"],
      ["with a broken header", "GET / HTTP/1.1\r\nhost localhost\r\n\r\n"],
      ["with headers too large", `GET / HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
      [
        "with two lengths",
        "POST /memory/add HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
      ],
    ])("%s gets a problem and is closed", async (_name, bytes) => {
      const { port } = await start();
      const reply = await sendBytes(port, bytes);
      expect(reply).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
      expect(reply).toContain("content-type: application/problem+json\r\n");
      expect(reply).toContain("x-content-type-options: nosniff\r\n");
      expect(JSON.parse(reply.split("\r\n\r\n")[1] ?? "")).toMatchObject({
        status: 400,
        code: "INVALID_REQUEST",
      });
    });

    it.each([
      ["no Host", "GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n"],
      ["no Host, HTTP/1.0", "GET /livez HTTP/1.0\r\n\r\n"],
      ["two Hosts", "GET /livez HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\nconnection: close\r\n\r\n"],
    ])("with %s gets a problem", async (_name, bytes) => {
      const { port } = await start();
      expect(await sendBytes(port, bytes)).toContain('"code":"INVALID_REQUEST"');
    });

    it.each([
      ["headers", "POST /memory/add HTTP/1.1\r\nhost: local"],
      [
        "a body",
        "POST /memory/add HTTP/1.1\r\nhost: PORT\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
      ],
    ])("that never ends %s is told so and closed", async (_name, bytes) => {
      const { port } = await start({}, { limits: { requestTimeoutMs: 50, headersTimeoutMs: 50 } });
      const reply = await sendBytes(port, bytes.replace("PORT", `localhost:${port}`));
      expect(reply).toMatch(/^HTTP\/1.1 400 /);
      expect(reply).toContain("did not arrive in time");
    });

    it.each([
      ["a length", true],
      ["chunks", false],
    ])("that sends too large a body by %s still hears why", async (_name, withLength) => {
      const { port } = await start({}, { limits: { maxJsonBytes: 1_000 } });
      const body = "x".repeat(8 * 1024 ** 2);
      const request = httpRequest({
        host: "127.0.0.1",
        port,
        path: "/memory/add",
        method: "POST",
        headers: { "content-type": "application/json", ...(withLength && { "content-length": body.length }) },
        agent: false,
      });
      const answered = once(request, "response");
      request.end(body);
      const [response] = (await answered) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(413);
    });

    it("that goes bad while a request is answered is closed without another's answer", async () => {
      const begun = deferred();
      const { port } = await start({
        getMemory: () => {
          begun.resolve();
          return new Promise<never>(() => {});
        },
      });
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket
        .setEncoding("utf8")
        .on("data", (chunk: string) => (text += chunk))
        .on("error", () => {});
      socket.write(`GET ${MEMORY} HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
      await begun.promise;
      socket.write("not HTTP\r\n\r\n");
      await once(socket, "close");
      expect(text).toBe("");
    });

    it("that does not read its answer is closed", async () => {
      const { operations } = createFakeOperations();
      const { memory } = await operations.addMemory({ content: "x".repeat(32 * 1024 ** 2) });
      const limits = { stalledAnswerTimeoutMs: 50 };
      const { app } = createTestServer({ getMemory: async () => memory }, { limits });
      const listening = await listen(app, { host: "127.0.0.1", port: 0 });
      open.push({ close: () => listening.close(0) });
      const accepted = once(app.server, "connection");
      // Paused from the start, so that the answer fills the buffers between the two and stands still.
      const client = connect(listening.port, "127.0.0.1").pause();
      client.write(`GET ${MEMORY} HTTP/1.1\r\nhost: localhost:${listening.port}\r\n\r\n`);
      const [socket] = (await accepted) as [Socket];
      await once(socket, "close");
      client.destroy();
    });

    it("that asks for a WebSocket from another page is refused", async () => {
      const { port } = await start();
      const reply = await sendBytes(
        port,
        `GET /version HTTP/1.1\r\nhost: localhost:${port}\r\norigin: https://evil.example\r\nconnection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      expect(reply).toMatch(/^HTTP\/1.1 403 /);
    });
  });

  describe("close", () => {
    /** Starts with a request that, once it has begun, waits until it may run on. */
    const startWaiting = async () => {
      const [begun, running] = [deferred(), deferred()];
      const getMemory = async () => {
        begun.resolve();
        await running.promise;
        throw new Error("done");
      };
      return { ...(await start({ getMemory })), begun, running };
    };

    it("finishes the request that runs, and tells its client that the connection ends", async () => {
      const { port, close, begun, running } = await startWaiting();
      const reply = send(port, {
        path: MEMORY,
        headers: { connection: "keep-alive" },
      });
      await begun.promise;
      const closed = close(60_000);
      await expect(send(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
      running.resolve();
      expect((await reply).headers.connection).toBe("close");
      expect(await closed).toBe(0);
    });

    it("answers once more over a connection that was kept open, while another's request runs", async () => {
      const { port, close, begun, running } = await startWaiting();
      const kept = connect(port, "127.0.0.1");
      const asks = async () => {
        kept.write(`GET /livez HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
        return String((await once(kept, "data"))[0]);
      };
      expect(await asks()).toMatch(/^HTTP\/1.1 200 .*connection: keep-alive/is);
      const reply = send(port, { path: MEMORY });
      await begun.promise;
      const closed = close(60_000);
      await expect(send(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
      expect(await asks()).toMatch(/^HTTP\/1.1 200 .*connection: close/is);
      running.resolve();
      await reply;
      expect(await closed).toBe(0);
    });

    it("cuts what runs past the deadline, a body that never ends too", async () => {
      const { port, close } = await start();
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(
        `POST /memory/add HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n{`,
      );
      await once(socket, "data");
      const closed = once(socket, "close");
      expect(await close(1)).toBe(1);
      await closed;
    });

    it("does not wait for connections that ask nothing", async () => {
      const { port, close } = await start();
      const silent = connect(port, "::1");
      await once(silent, "connect");
      expect((await send(port)).status).toBe(200);
      const closed = once(silent, "close");
      expect(await close(60_000)).toBe(0);
      await closed;
      expect(await close(60_000)).toBe(0);
    });
  });

  function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
    let resolve = () => {};
    const promise = new Promise<void>((done) => (resolve = done));
    return { promise, resolve };
  }
});

describe("idle exit", () => {
  const HOUR_MS = 3_600_000;

  const underWay = { answers: new Set<ServerResponse>(), begun: 0 };
  let isBusy = false;
  const onIdle = vi.fn();
  let stop: () => void;
  beforeEach(() => {
    vi.useFakeTimers();
    onIdle.mockReset();
    isBusy = false;
    underWay.answers.clear();
    stop = exitWhenIdle(underWay, { afterMs: HOUR_MS, isBusy: () => isBusy, onIdle });
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  /** @returns ends it. */
  function request(): () => void {
    const answer = {} as ServerResponse;
    underWay.answers.add(answer);
    underWay.begun += 1;
    return () => underWay.answers.delete(answer);
  }

  it("ends once nothing has happened for so long, and says so once", () => {
    vi.advanceTimersByTime(HOUR_MS);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10 * HOUR_MS);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it("begins anew with each request, and waits for one that is under way", () => {
    vi.advanceTimersByTime(HOUR_MS);
    const end = request();
    vi.advanceTimersByTime(5 * HOUR_MS);
    end();
    vi.advanceTimersByTime(HOUR_MS / 2);
    request()();
    vi.advanceTimersByTime(HOUR_MS);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(HOUR_MS);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it("waits while something goes on that nobody waits for, and not after it was stopped", () => {
    isBusy = true;
    vi.advanceTimersByTime(5 * HOUR_MS);
    expect(onIdle).not.toHaveBeenCalled();
    isBusy = false;
    stop();
    vi.advanceTimersByTime(5 * HOUR_MS);
    expect(onIdle).not.toHaveBeenCalled();
  });
});
