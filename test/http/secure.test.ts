/** HTTPS by the daemon itself, with a certificate that the test makes. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, type Server } from "node:net";
import { request } from "node:https";
import { request as plainRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fetchPinned } from "../../src/cli/connect.ts";
import { notFound } from "../../src/core/errors.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { createTestServer } from "../support/test-server.ts";
import { selfSignedCertificate } from "../support/self-signed-certificate.ts";

const KEY = "a-key-of-16-chars-or-more";
const tls = selfSignedCertificate();
const { fingerprint256: fingerprint } = new X509Certificate(tls.cert);

let listening: Listening;
let url: string;
beforeEach(async () => {
  const { app } = createTestServer(
    {},
    { tls, access: { apiKey: KEY, allowedHosts: ["notes.example", "box.example:443"] } },
  );
  listening = await listen(app, { host: "localhost", port: 0 });
  url = `https://localhost:${listening.port}`;
});
afterEach(() => listening.close(0));

function statusWith(headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(
      `${url}/version`,
      { ca: tls.cert, servername: "localhost", headers: { "x-api-key": KEY, ...headers } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    )
      .once("error", reject)
      .end();
  });
}

const openSockets = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });

describe("a server with a certificate", () => {
  it("says where it is, and answers there at every loopback address", async () => {
    expect(listening.urls.every((each) => each.startsWith("https://"))).toBe(true);
    for (const each of listening.urls) {
      const health = await fetchPinned(new Request(`${each}/health`), fingerprint);
      expect(health.status).toBe(200);
    }
    expect(await statusWith({})).toBe(200);
  });

  it("takes a host without a port for its own only at port 443", async () => {
    expect(await statusWith({ host: "localhost" })).toBe(403);
    expect(await statusWith({ host: "localhost:80" })).toBe(403);
    expect(await statusWith({ host: "notes.example" })).toBe(200);
    expect(await statusWith({ host: "box.example" })).toBe(200);
    expect(await statusWith({ host: "box.example:80" })).toBe(403);
  });

  it("takes pages of its own origin, and none that came without encryption", async () => {
    const host = `localhost:${listening.port}`;
    expect(await statusWith({ host, origin: `https://${host}` })).toBe(200);
    expect(await statusWith({ host, origin: `http://${host}` })).toBe(403);
    expect(await statusWith({ host: "notes.example", origin: "https://notes.example" })).toBe(200);
    expect(await statusWith({ host: "notes.example", origin: "http://notes.example" })).toBe(403);
  });

  it("closes a connection that begins no encryption in time", async () => {
    const { app } = createTestServer({}, { tls, access: { apiKey: KEY }, limits: { headersTimeoutMs: 50 } });
    const short = await listen(app, { host: "localhost", port: 0 });
    const silent = connect(short.port, "127.0.0.1");
    await once(silent, "end");
    // Half of it may be left at the server's end, which counts it as open.
    await expect.poll(() => openSockets(app.server)).toBe(0);
    await short.close(0);
  });

  it("does not speak plain HTTP, and goes on after somebody tried", async () => {
    const tried = new Promise((resolve, reject) => {
      plainRequest({ host: "127.0.0.1", port: listening.port, path: "/health" }, resolve)
        .once("error", reject)
        .end();
    });
    await expect(tried).rejects.toThrow();
    expect(await statusWith({})).toBe(200);
  });
});

it("finishes what its second address was asked when it stops", async () => {
  let [begin, finish] = [() => {}, () => {}];
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const getMemory = async () => {
    begin();
    await finished;
    throw notFound("There is no such memory.");
  };
  const { app } = createTestServer({ getMemory }, { tls });
  const { close, urls } = await listen(app, { host: "localhost", port: 0 });
  const status = new Promise<number | undefined>((resolve, reject) => {
    const path = "/memory/019aa5a0-6c1e-7c3a-9d0f-000000000001";
    request(`${urls.at(-1)}${path}`, { servername: "localhost", ca: tls.cert }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .once("error", reject)
      .end();
  });
  await begun;
  const closed = close(60_000);
  finish();
  expect([await status, await closed]).toEqual([404, 0]);
});

describe("fetchPinned", () => {
  it("sends body and headers, and gives back what came", async () => {
    const answer = await fetchPinned(
      new Request(`${url}/memory/add`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ content: "ä 😀" }),
      }),
      fingerprint,
    );
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ content: "ä 😀" });
  });

  it("sends a form with a file", async () => {
    const form = new FormData();
    form.set("file", new Blob(["# Notes\n\nTea is hot."]), "notes.md");
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = await fetchPinned(
      new Request(`${url}/ingest`, { method: "POST", headers, body: form }),
      fingerprint,
    );
    expect(await answer.json()).toMatchObject({ document: { filename: "notes.md" } });
  });

  it("sends nothing to whoever shows another certificate, however good that is", async () => {
    const other = new X509Certificate(selfSignedCertificate().cert).fingerprint256;
    await expect(fetchPinned(new Request(`${url}/health`), other)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/another certificate/) as string },
    });
  });

  it("gives up when it is told to", async () => {
    const signal = AbortSignal.abort(new DOMException("late", "TimeoutError"));
    await expect(fetchPinned(new Request(`${url}/health`, { signal }), fingerprint)).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });
});
