/** Over real sockets: what is left of a refused upload must not stand in the way of the next request. */
import { Agent, request as httpRequest } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { IncomingFile } from "../../src/core/documents/document-ports.ts";
import { ServiceError } from "../../src/core/errors.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { createDocumentWorld } from "../support/document-world.ts";
import { fakeId } from "../support/fake-operations.ts";
import { createTestServer } from "../support/test-server.ts";

const MEGABYTE = "x".repeat(1_000_000);

const isFull = () => Promise.reject(new ServiceError("STORE_FULL", "The disk is full."));
const incoming: IncomingFile = { write: async () => {}, keep: isFull, discard: async () => {} };
const refusesToGoOn = async () => ({ ...incoming, write: isFull });

let receiveFile: () => Promise<IncomingFile>;
let listening: Listening;
let agent: Agent;
beforeEach(async () => {
  receiveFile = async () => incoming;
  const documents = { ...createDocumentWorld().operations, receiveFile: () => receiveFile() };
  const { app } = createTestServer(
    {},
    { documents, limits: { maxUploadBytes: 2_000_000, maxJsonBytes: 2_000_000 } },
  );
  listening = await listen(app, { host: "127.0.0.1", port: 0 });
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  await listening.close(0);
});

function send(method: "POST" | "PUT", path: string, type: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = listening;
    const headers = { "content-type": type, "content-length": body.length };
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    request.on("error", reject).end(body);
  });
}

const field = (name: string, value: string, filename?: string, type?: string) =>
  `--B\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n` +
  `${type === undefined ? "" : `Content-Type: ${type}\r\n`}\r\n${value}\r\n`;
const json = (name: string, value: string) => field(name, value, undefined, "application/json");
const upload = (parts: string) =>
  send("POST", "/ingest", "multipart/form-data; boundary=B", `${parts}--B--\r\n`);
const file = field("file", MEGABYTE, "a.txt");
const restore = (body: string) =>
  send("PUT", `/documents/${fakeId(1)}/file`, "application/octet-stream", body);
it.each<[string, number, (() => Promise<IncomingFile>) | undefined, () => Promise<number>]>([
  ["before it is received", 503, isFull, () => upload(file)],
  ["on its way to the disk", 503, refusesToGoOn, () => upload(file)],
  ["for its name", 400, undefined, () => upload(field("file", MEGABYTE, `${"a".repeat(300)}.txt`))],
  ["for a field before it", 400, undefined, () => upload(field("tags", "[") + file)],
  [
    "for parts of JSON before it",
    413,
    undefined,
    () => upload(`${json("a", `"${MEGABYTE}"`).repeat(1)}${json("b", `"${MEGABYTE}"`)}${file}`),
  ],
  [
    "for JSON with too many elements",
    413,
    undefined,
    () => upload(json("metadata", `{"a":[${"0,".repeat(50_000)}0]}`) + file),
  ],
  ["for a part of JSON that is none", 400, undefined, () => upload(json("metadata", "{") + file)],
  ["for a part of another name", 400, undefined, () => upload(field("other", MEGABYTE, "a.txt") + file)],
  ["for its size", 413, undefined, () => upload(field("file", MEGABYTE.repeat(5), "a.txt"))],
  ["before it is received, an original", 503, isFull, () => restore(MEGABYTE)],
  ["on its way to the disk, an original", 503, refusesToGoOn, () => restore(MEGABYTE)],
  ["for its size, an original", 413, undefined, () => restore(MEGABYTE.repeat(5))],
])(
  "an upload that is refused %s leaves the connection to the next",
  async (_how, status, receives, sends) => {
    if (receives !== undefined) receiveFile = receives;
    for (let i = 0; i < 4; i += 1) expect(await sends()).toBe(status);
  },
);
