import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { SummaryWriter } from "../../src/core/users/user-summaries.ts";
import { createChatSummaryWriter } from "../../src/models/chat-completions.ts";
import { factRow } from "../support/fact-row.ts";

const MATERIAL: Parameters<SummaryWriter["write"]>[0] = {
  highlights: [{ memoryId: "id-of-memory", version: 1, text: "Planted garlic." }],
  phrases: [{ memoryId: "id-of-memory", version: 1, text: "garlic" }],
  facts: [
    factRow({
      id: "id-of-fact",
      subject: "Ann",
      predicate: "lives in",
      object: "Leeds",
      userId: "id-of-user",
    }),
  ],
};

let server: Server | undefined;
let reasons: string[];
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function writerOver(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  timeoutMs = 10_000,
): Promise<SummaryWriter> {
  reasons = [];
  const listening = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk))).on("end", () => answer(request, response, body));
  });
  server = listening;
  await new Promise<void>((done) => listening.listen(0, "127.0.0.1", done));
  const { port } = listening.address() as AddressInfo;
  return createChatSummaryWriter({
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    model: "small-model",
    key: "a-key-for-the-model",
    report: (reason) => reasons.push(reason),
    timeoutMs,
  });
}

const completion = (content: unknown) =>
  JSON.stringify({ choices: [{ message: { role: "assistant", content } }] });

describe("the writer over chat completions", () => {
  it("sends the material, and nothing that says whose it is", async () => {
    let sent = "";
    let authorization: string | undefined;
    const writer = await writerOver((request, response, body) => {
      [sent, authorization] = [body, request.headers.authorization];
      response.end(completion(" Ann gardens. "));
    });
    expect(await writer.write(MATERIAL)).toBe("Ann gardens.");
    expect(authorization).toBe("Bearer a-key-for-the-model");
    const { model, messages } = JSON.parse(sent);
    expect(model).toBe("small-model");
    expect(JSON.parse(messages[1].content)).toEqual({
      notes: ["Planted garlic."],
      key_phrases: ["garlic"],
      facts: ["Ann lives in Leeds"],
    });
    expect(sent).not.toMatch(/id-of-/);
    expect(reasons).toEqual([]);
  });

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ["an error", (response) => response.writeHead(500).end("Planted garlic."), /status 500/],
    ["no JSON", (response) => response.end("Planted garlic."), /something else than JSON/],
    ["no choice", (response) => response.end("{}"), /without a text/],
    ["null", (response) => response.end("null"), /without a text/],
    ["no text", (response) => response.end(completion(null)), /without a text/],
    ["too long a text", (response) => response.end(completion("x".repeat(5_000))), /without a text/],
    ["too much", (response) => response.end("x".repeat(300_000)), /more than/],
    ["nothing in time", () => {}, /within 300 ms/],
    [
      "a redirect",
      (response) => response.writeHead(307, { location: "/elsewhere" }).end(),
      /could not be reached/,
    ],
  ])("has no text after %s, and says why without any", async (what, answer, reason) => {
    const writer = await writerOver(
      (_request, response) => answer(response),
      what === "nothing in time" ? 300 : 10_000,
    );
    expect(await writer.write(MATERIAL)).toBeUndefined();
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatch(reason);
    expect(reasons[0]).not.toMatch(/garlic/i);
  });

  it("has no text where nobody listens, and asks nobody without material", async () => {
    const writer = await writerOver(() => {});
    server?.close();
    expect(await writer.write({ ...MATERIAL, highlights: [] })).toBeUndefined();
    expect(reasons).toEqual([]);
    expect(await writer.write(MATERIAL)).toBeUndefined();
    expect(reasons).toHaveLength(1);
  });
});
