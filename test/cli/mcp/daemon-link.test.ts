import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import type { Daemon } from "../../../src/cli/connect.ts";
import { forward, type ForwardedCall, type ReachDaemon } from "../../../src/cli/mcp/daemon-link.ts";

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A daemon that deals with its requests in turn, as it is told to; the last way holds for all that follow. */
async function daemonThat(...ways: ((request: IncomingMessage, answer: ServerResponse) => void)[]) {
  let requests = 0;
  const seen: IncomingMessage["headers"][] = [];
  const server = createServer((request, answer) => {
    seen.push(request.headers);
    ways[Math.min(requests, ways.length - 1)]?.(request, answer);
    requests += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const api = createClient({ url: `http://127.0.0.1:${port}`, apiKey: "t0ken" });
  return { client: { api } as Daemon, seen, count: () => requests };
}

const linkTo = (...clients: readonly Daemon[]): ReachDaemon => {
  let next = 0;
  return async () => {
    const client = clients[Math.min(next, clients.length - 1)];
    next += 1;
    if (client === undefined) throw new Error("no daemon");
    return client;
  };
};

const call = (more: Partial<ForwardedCall> = {}): ForwardedCall => ({
  method: "tools/call",
  params: { name: "memory_search", arguments: {} },
  query: { project: "a b" },
  client: "claude-code",
  mayRepeat: true,
  signal: new AbortController().signal,
  ...more,
});

const reset = (request: IncomingMessage): void => void request.socket.destroy();
const say =
  (body: unknown, status = 200) =>
  (_request: IncomingMessage, answer: ServerResponse): void =>
    void answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const done = say({ jsonrpc: "2.0", id: 1, result: { content: [] } });

describe("forward", () => {
  it("sends a call on in the client's name, and answers what the daemon answers", async () => {
    const daemon = await daemonThat(
      done,
      say({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "No." } }),
    );
    const link = linkTo(daemon.client);
    expect(await forward(link, call({ client: "Zoë" }))).toMatchObject({ result: { content: [] } });
    expect(daemon.seen[0]).toMatchObject({ authorization: "Bearer t0ken" });
    expect(Buffer.from(String(daemon.seen[0]?.["x-memoryd-client"]), "latin1").toString("utf8")).toBe("Zoë");
    expect(await forward(link, call())).toMatchObject({ error: { code: -32602, message: "No." } });
  });

  it("looks for the daemon anew when the connection broke, and sends once more what is harmless", async () => {
    const [old, fresh] = [await daemonThat(reset), await daemonThat(done)];
    expect(await forward(linkTo(old.client, fresh.client), call())).toMatchObject({
      result: { content: [] },
    });
    expect([old.count(), fresh.count()]).toEqual([1, 1]);
  });

  it("does not send twice what may have been done", async () => {
    const [old, fresh] = [await daemonThat(reset), await daemonThat(done)];
    await expect(forward(linkTo(old.client, fresh.client), call({ mayRepeat: false }))).rejects.toThrow(
      /may have been done/,
    );
    expect(fresh.count()).toBe(0);
  });

  it("does send again what no daemon took", async () => {
    const nobody = await daemonThat(done);
    closing.splice(0).forEach((close) => close());
    const fresh = await daemonThat(done);
    expect(await forward(linkTo(nobody.client, fresh.client), call({ mayRepeat: false }))).toMatchObject({
      result: { content: [] },
    });
  });

  it("says in words what the daemon refuses, and that it cannot be reached", async () => {
    const problem = { code: "NOT_READY", detail: "The store is read-only." };
    const refusing = await daemonThat(say(problem, 503));
    await expect(forward(linkTo(refusing.client), call())).rejects.toThrow(
      "NOT_READY: The store is read-only.",
    );
    const odd = await daemonThat(say({}, 200));
    await expect(forward(linkTo(odd.client), call())).rejects.toThrow(/no answer of MCP/);
    const broken = await daemonThat(reset);
    await expect(forward(linkTo(broken.client), call())).rejects.toThrow(/memoryd status/);
    expect(broken.count()).toBe(2);
  });

  it("stops when the agent gives up", async () => {
    const silent = await daemonThat(() => {});
    const gone = new AbortController();
    const answer = forward(linkTo(silent.client), call({ signal: gone.signal }));
    setImmediate(() => gone.abort());
    await expect(answer).rejects.toThrow(/abort/i);
  });
});
