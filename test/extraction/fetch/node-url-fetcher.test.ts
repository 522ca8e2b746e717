import type { RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { checkStep } from "../../../src/extraction/fetch/target.ts";
import { FETCHED_AT, fetchText, localFetcher } from "../../support/fetching.ts";
import { serveBytes, serveHttp, type WebServer } from "../../support/web-server.ts";

const servers: WebServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function web(listener: RequestListener, host?: string): Promise<WebServer> {
  const server = await serveHttp(listener, host);
  servers.push(server);
  return server;
}

async function raw(answer: (socket: Socket) => void): Promise<WebServer> {
  const server = await serveBytes(answer);
  servers.push(server);
  return server;
}

const say = (text: string) => raw((socket) => socket.end(text));
const never: RequestListener = () => {};

describe("createUrlFetcher: pages", () => {
  it("writes the body into the sink and tells what it is", async () => {
    const body = "<title>Tea</title> grüne Blätter";
    const server = await web((_request, answer) => {
      answer.setHeader("content-type", 'Text/HTML; charset="UTF-8"');
      answer.setHeader("content-disposition", 'attachment; filename="tea.html"');
      answer.end(body);
    });
    expect(await fetchText(`${server.url}leaves?kind=green#top`)).toEqual({
      url: `${server.url}leaves?kind=green`,
      contentType: "text/html",
      charset: "utf-8",
      filename: "tea.html",
      fetchedAt: FETCHED_AT,
      text: body,
    });
  });

  it("says honestly who asks, and nothing of the user", async () => {
    const server = await web((request, answer) => answer.end(JSON.stringify(request.headers)));
    const headers = JSON.parse((await fetchText(server.url)).text) as Record<string, string>;
    expect(headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      "user-agent": "memoryd/1.2.3 (+local)",
      "accept-encoding": "gzip, deflate, br",
    });
    expect(Object.keys(headers).toSorted()).toEqual(
      ["accept", "accept-encoding", "accept-language", "connection", "host", "user-agent"].toSorted(),
    );
  });

  it("reports what arrives", async () => {
    const server = await web((_request, answer) => answer.setHeader("content-length", 5).end("leaf!"));
    const seen: unknown[] = [];
    await fetchText(server.url, {}, { onProgress: (progress) => seen.push(progress) });
    expect(seen.at(-1)).toEqual({ done: 5, total: 5 });
  });

  it("fetches over IPv6, and by names", async () => {
    const server = await web((request, answer) => answer.end(request.headers.host), "::1");
    expect((await fetchText(server.url)).text).toBe(`[::1]:${server.port}`);
    const named = await fetchText(`http://tea.example:${server.port}/`, {
      lookup: async () => [{ address: "::1", family: 6 }],
    });
    expect(named.text).toBe(`tea.example:${server.port}`);
  });

  it("tries a name's next address where one does not answer", async () => {
    const server = await web((_request, answer) => answer.end("here"), "::1");
    const lookup = async () => [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ];
    expect((await fetchText(`http://tea.example:${server.port}/`, { lookup })).text).toBe("here");
  });

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["identity", (bytes: Buffer) => bytes],
  ])("unpacks %s (%o)", async (encoding, pack) => {
    const server = await web((_request, answer) => {
      answer.setHeader("content-encoding", encoding).end(pack(Buffer.from("green tea ".repeat(9_000))));
    });
    expect((await fetchText(server.url)).text).toBe("green tea ".repeat(9_000));
  });

  it("takes an empty body for empty, packed or not", async () => {
    const server = await web((_request, answer) =>
      answer.writeHead(204, { "content-encoding": "gzip" }).end(),
    );
    expect(await fetchText(server.url)).toMatchObject({
      text: "",
      contentType: null,
      charset: null,
      filename: null,
    });
  });

  it("passes the sink's errors on as they are", async () => {
    const server = await web((_request, answer) => answer.end("leaf"));
    const full = Object.assign(new Error("disk full"), { code: "ENOSPC" });
    const sink = { write: () => Promise.reject(full) };
    await expect(fetchText(server.url, {}, { sink })).rejects.toBe(full);
  });
});

describe("createUrlFetcher: redirects", () => {
  /** `/4` redirects to `/3` and so on. */
  const countDown: RequestListener = (request, answer) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) answer.end("arrived");
    else answer.writeHead(302, { location: `/${left - 1}` }).end("ignored");
  };

  it("follows five", async () => {
    const server = await web(countDown);
    expect(await fetchText(`${server.url}5`)).toMatchObject({ url: `${server.url}0`, text: "arrived" });
  });

  it("reads a location as the UTF-8 that it is", async () => {
    const followed = await web((request, answer) => {
      if (request.url === "/")
        answer.writeHead(302, { location: Buffer.from("/grün").toString("latin1") }).end();
      else answer.end();
    });
    expect(await fetchText(followed.url)).toMatchObject({
      url: `${followed.url}gr%C3%BCn`,
      filename: "grün",
    });
  });

  it("does not follow a sixth", async () => {
    const server = await web(countDown);
    await expect(fetchText(`${server.url}6`)).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: "127.0.0.1 redirects more than 5 times.",
    });
  });

  it.each([
    ["http://169.254.169.254/latest/meta-data", "FORBIDDEN"],
    ["http://[::ffff:169.254.169.254]/", "FORBIDDEN"],
    ["http://metadata.google.internal/", "FORBIDDEN"],
    ["//2852039166/", "FORBIDDEN"],
    ["http://127.0.0.1:25/", "FORBIDDEN"],
    ["file:///etc/passwd", "FETCH_FAILED"],
    ["http://name:secret@127.0.0.1/", "FETCH_FAILED"],
    ["http://[", "FETCH_FAILED"],
  ])("refuses one to %s", async (location, code) => {
    const server = await web((_request, answer) => answer.writeHead(301, { location }).end());
    await expect(fetchText(server.url)).rejects.toMatchObject({ code });
  });

  it("refuses one from the public internet into a private network, which the user did not ask for", () => {
    const target = (host: string, exposure: "public" | "private") => ({
      url: new URL(`http://${host}/`),
      addresses: [],
      exposure,
    });
    expect(() => checkStep(target("a.example", "public"), target("nas.local", "private"))).toThrow(
      /private address/,
    );
    expect(() => checkStep(target("nas.local", "private"), target("a.example", "public"))).not.toThrow();
    expect(() => checkStep(undefined, target("nas.local", "private"))).not.toThrow();
  });
});

describe("createUrlFetcher: targets", () => {
  it.each([
    ["", "INVALID_REQUEST"],
    ["tea", "INVALID_REQUEST"],
    ["ftp://example.com/", "INVALID_REQUEST"],
    ["file:///etc/passwd", "INVALID_REQUEST"],
    ["data:text/plain,tea", "INVALID_REQUEST"],
    ["http://name@example.com/", "INVALID_REQUEST"],
    ["http://:secret@example.com/", "INVALID_REQUEST"],
    [`http://example.com/${"a".repeat(8_192)}`, "INVALID_REQUEST"],
    [`http://example.com/${"é".repeat(4_000)}`, "INVALID_REQUEST"],
    ["http://1.2.3.4.5/", "INVALID_REQUEST"],
    ["http://[fe80::1%25eth0]/", "INVALID_REQUEST"],
    ["http://example.com:22/", "FORBIDDEN"],
    ["http://example.com:0/", "FORBIDDEN"],
    ["http://169.254.169.254/", "FORBIDDEN"],
    ["http://0251.0376.0251.0376/", "FORBIDDEN"],
    ["http://[64:ff9b::a9fe:a9fe]/", "FORBIDDEN"],
    ["http://METADATA.google.internal./", "FORBIDDEN"],
  ])("refuses %s without the network", async (url, code) => {
    expect(() => localFetcher().check(url)).toThrow(expect.objectContaining({ code }));
    await expect(fetchText(url)).rejects.toMatchObject({ code });
  });

  it("refuses private addresses where they are denied, however they are reached", async () => {
    const server = await web((_request, answer) => answer.end("secret"));
    const deny = { privateTargets: () => "deny" as const };
    const byName = { ...deny, lookup: async () => [{ address: "127.0.0.1", family: 4 }] };
    for (const url of [server.url, `http://0:${server.port}/`, `http://[::ffff:127.0.0.1]:${server.port}/`]) {
      expect(() => localFetcher(deny).check(url)).toThrow(/MEMORYD_INGEST_PRIVATE=allow/);
    }
    await expect(fetchText(`http://tea.example:${server.port}/`, byName)).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });

  it("refuses a name of which any address is refused, without trying the others", async () => {
    let requests = 0;
    const server = await web((_request, answer) => answer.end(`${(requests += 1)}`));
    const lookup = async () => [
      { address: "127.0.0.1", family: 4 },
      { address: "::ffff:a9fe:a9fe", family: 6 },
    ];
    await expect(fetchText(`http://tea.example:${server.port}/`, { lookup })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    expect(requests).toBe(0);
  });

  it("refuses the daemon itself, at whatever address of this machine", async () => {
    const server = await web((_request, answer) => answer.end("itself"));
    const options = {
      ownPort: () => server.port,
      machineAddresses: () => ["192.168.1.7"],
      lookup: async () => [{ address: "192.168.1.7", family: 4 }],
    };
    for (const host of [
      "127.0.0.1",
      "127.1.2.3",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "192.168.1.7",
      "[::ffff:c0a8:107]",
    ]) {
      expect(() => localFetcher(options).check(`http://${host}:${server.port}/`)).toThrow(/memoryd itself/);
    }
    await expect(fetchText(`http://me.example:${server.port}/`, options)).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    expect(() => localFetcher(options).check(`http://127.0.0.1:${server.port + 1}/`)).not.toThrow();
  });

  it("connects to the address that was judged, though the name has another one by then", async () => {
    const server = await web((_request, answer) => answer.end("judged"));
    const answers = ["127.0.0.1", "169.254.169.254"];
    const lookup = async () => [{ address: answers.shift() ?? "none", family: 4 }];
    expect((await fetchText(`http://tea.example:${server.port}/`, { lookup })).text).toBe("judged");
    expect(answers).toEqual(["169.254.169.254"]);
  });

  it("judges a name again at a redirect to itself", async () => {
    const server = await web((_request, answer) => answer.writeHead(302, { location: "/next" }).end());
    const answers = ["127.0.0.1", "169.254.169.254"];
    const lookup = async () => [{ address: answers.shift() ?? "none", family: 4 }];
    await expect(fetchText(`http://tea.example:${server.port}/`, { lookup })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });
});

/** Until the connection is closed, which Node 24 notices between two turns of its loop alone. */
function writeForEver(answer: ServerResponse, bytes: Buffer): void {
  answer.write(bytes, () => void (!answer.destroyed && setImmediate(writeForEver, answer, bytes)));
}

describe("createUrlFetcher: servers that behave badly", () => {
  it.each([404, 401, 500, 304, 206, 302])("names status %i, and nothing of the page", async (status) => {
    const server = await web((_request, answer) => answer.writeHead(status).end("INNER TEXT"));
    const failure = fetchText(server.url);
    await expect(failure).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: expect.stringContaining(`${status}`),
    });
    await expect(failure).rejects.not.toThrow(/INNER/);
  });

  it.each([
    ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\nContent-"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    ["a head without end", `HTTP/1.1 200 OK\r\nA: ${"a".repeat(70_000)}`],
    ["less than it promised", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello"],
    ["garbage for a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"],
    ["chunks without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\n"],
    ["what is not gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nhello"],
    ["an unknown encoding", "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\nhello"],
    ["several encodings", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\nhello"],
  ])("says so when one sends %s", async (_what, text) => {
    const server = await say(text);
    await expect(fetchText(server.url)).rejects.toMatchObject({ code: "FETCH_FAILED" });
  });

  it("reads no further than the promised length", async () => {
    const server = await say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more");
    expect((await fetchText(server.url)).text).toBe("hello");
  });

  it("finds a packed body that ends early", async () => {
    const packed = gzipSync("green tea ".repeat(900));
    const server = await web((_request, answer) => {
      answer.setHeader("content-encoding", "gzip").end(packed.subarray(0, packed.length - 12));
    });
    await expect(fetchText(server.url)).rejects.toMatchObject({ code: "FETCH_FAILED" });
  });

  it("says so when the connection breaks in the middle, though the body had no length", async () => {
    let breakOff = () => {};
    const server = await raw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhel");
      breakOff = () => socket.resetAndDestroy();
    });
    const sink = { write: async () => breakOff() };
    await expect(fetchText(server.url, {}, { sink })).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: "127.0.0.1 broke the connection before all was sent.",
    });
  });

  it("gives up on one that never answers, sends half a head, or stops in the middle", async () => {
    // Of each only the time that must run out is short: a busy machine takes longer for what comes before.
    const answer = { answerMs: 30 };
    const silent = await web(never);
    const slowHead = await raw((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-"));
    const slowBody = await web((_request, answer) => answer.write("hel"));
    for (const [{ url }, timeouts, message] of [
      [silent, answer, /did not answer within 0.03 s/],
      [slowHead, answer, /did not answer within 0.03 s/],
      [slowBody, { idleMs: 30 }, /stopped sending for 0.03 s/],
    ] as const) {
      const failure = fetchText(url, { timeouts });
      await expect(failure).rejects.toMatchObject({ code: "FETCH_TIMEOUT" });
      await expect(failure).rejects.toThrow(message);
    }
  });

  it("gives up on one that drips for ever", async () => {
    const drips: NodeJS.Timeout[] = [];
    const server = await web((_request, answer) => drips.push(setInterval(() => answer.write("."), 5)));
    await expect(fetchText(server.url, { timeouts: { totalMs: 60 } })).rejects.toMatchObject({
      code: "FETCH_TIMEOUT",
    });
    drips.forEach(clearInterval);
  });

  it("does not count the time the sink takes as the server's", async () => {
    const server = await web((_request, answer) => answer.end("leaf"));
    let bytes = 0;
    const sink = {
      write: async (chunk: Uint8Array) => {
        await new Promise((resolve) => void setTimeout(resolve, 60));
        bytes += chunk.length;
      },
    };
    await fetchText(server.url, { timeouts: { idleMs: 30 } }, { sink });
    expect(bytes).toBe(4);
  });

  it("stops an endless body at the limit", async () => {
    const server = await web((_request, answer) => {
      writeForEver(answer, Buffer.alloc(16_384));
    });
    await expect(fetchText(server.url, { maxBytes: 100_000 })).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: "The page is larger than the limit of 0.1 MB (--max-upload-bytes).",
    });
  });

  it("stops an endless body that unpacks to nothing", async () => {
    const nothing = Buffer.concat(Array.from({ length: 500 }, () => gzipSync("")));
    const server = await web((_request, answer) => {
      answer.setHeader("content-encoding", "gzip");
      writeForEver(answer, nothing);
    });
    await expect(fetchText(server.url, { maxBytes: 100_000 })).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  it("does not begin what is too large by its own word", async () => {
    const server = await web((_request, answer) => answer.setHeader("content-length", 1_000_001).write("a"));
    await expect(fetchText(server.url)).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  it.each([
    ["gzip", gzipSync],
    ["br", (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ])("unpacks no more of a bomb of %s than the limit", async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(30_000_000));
    const server = await web((_request, answer) => answer.setHeader("content-encoding", encoding).end(bomb));
    let written = 0;
    const sink = { write: async ({ length }: Uint8Array) => void (written += length) };
    await expect(fetchText(server.url, { maxBytes: 100_000 }, { sink })).rejects.toMatchObject({
      code: "TOO_LARGE",
    });
    expect(written).toBeLessThanOrEqual(100_000);
  });
});

describe("createUrlFetcher: what cannot be reached", () => {
  it("says that a name was not found", async () => {
    await expect(fetchText("http://tea.example/")).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: expect.stringContaining("tea.example was not found"),
    });
  });

  it("says that nobody listens", async () => {
    const server = await web(never);
    await server.close();
    await expect(fetchText(server.url)).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: "127.0.0.1 refuses connections: nothing listens there.",
    });
  });

  it("does not wait for a name server that does not answer", async () => {
    const lookup = () => new Promise<never>(() => {});
    await expect(
      fetchText("http://tea.example/", { lookup, timeouts: { reachMs: 30 } }),
    ).rejects.toMatchObject({
      code: "FETCH_FAILED",
      message: "tea.example could not be reached within 0.03 s. Is this machine online?",
    });
  });
});

describe("createUrlFetcher: being cancelled", () => {
  const reason = new Error("cancelled");

  it("does nothing when it was before", async () => {
    const lookup = () => Promise.reject(new Error("must not run"));
    const signal = AbortSignal.abort(reason);
    await expect(fetchText("http://tea.example/", { lookup }, { signal })).rejects.toBe(reason);
  });

  it("ends at once while it looks up a name", async () => {
    const controller = new AbortController();
    const lookup = () => {
      controller.abort(reason);
      return new Promise<never>(() => {});
    };
    await expect(fetchText("http://tea.example/", { lookup }, { signal: controller.signal })).rejects.toBe(
      reason,
    );
  });

  it("ends at once while it waits for an answer, and hangs up", async () => {
    const controller = new AbortController();
    let hangUp = () => {};
    const hungUp = new Promise<void>((resolve) => (hangUp = resolve));
    const server = await web((request) => {
      request.socket.once("close", hangUp);
      controller.abort(reason);
    });
    await expect(fetchText(server.url, {}, { signal: controller.signal })).rejects.toBe(reason);
    await hungUp;
  });

  it.each(["identity", "gzip"])("ends at once in the middle of a body (%s)", async (encoding) => {
    const controller = new AbortController();
    const server = await web((_request, answer) => {
      const packed = gzipSync(
        Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7919) % 251)),
      );
      answer.setHeader("content-encoding", encoding).write(packed.subarray(0, packed.length - 20));
    });
    const sink = { write: async () => controller.abort(reason) };
    await expect(fetchText(server.url, {}, { sink, signal: controller.signal })).rejects.toBe(reason);
  });
});

describe("createUrlFetcher: for an agent", () => {
  it("fetches nothing private, whatever is allowed to others", async () => {
    const server = await web((_request, answer) => answer.end("tea"));
    expect((await fetchText(server.url)).text).toBe("tea");
    await expect(fetchText(server.url, {}, { publicOnly: true })).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringMatching(/not fetched for an agent\.$/),
    });
    expect(() => localFetcher().check(server.url, { publicOnly: true })).toThrow(/for an agent/);
    const named = { lookup: async () => [{ address: "127.0.0.1", family: 4 }] };
    await expect(
      fetchText(`http://tea.example:${server.port}/`, named, { publicOnly: true }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});
