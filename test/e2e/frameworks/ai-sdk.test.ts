/** The AI SDK's own loop with its mock model, on a real daemon. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, stepCountIs, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type MemorydClient } from "../../../src/client/client.ts";
import { memoryMiddleware, memoryTools } from "../../../src/client/frameworks/ai-sdk.ts";
import { type DaemonProcess, startDaemonProcess } from "../../support/daemon-process.ts";

const folder = mkdtempSync(join(tmpdir(), "memoryd-ai-sdk-"));
let daemon: DaemonProcess;
let client: MemorydClient;
beforeAll(async () => {
  daemon = await startDaemonProcess(folder);
  client = createClient({ url: daemon.baseUrl, clientName: "my-agent" });
});
afterAll(async () => {
  await daemon.stop();
  rmSync(folder, { recursive: true, force: true });
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const says = (text: string) => ({
  content: [{ type: "text" as const, text }],
  finishReason: { unified: "stop" as const, raw: undefined },
  usage,
  warnings: [],
});
const calls = (toolName: string, input: object) => ({
  content: [{ type: "tool-call" as const, toolCallId: "1", toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls" as const, raw: undefined },
  usage,
  warnings: [],
});

/** What the tool answered a model that calls it once. */
async function answerOf(
  toolName: string,
  input: object,
  options: Parameters<typeof memoryTools>[0] = { userId: "ada" },
): Promise<unknown> {
  const model = new MockLanguageModelV4({ doGenerate: [calls(toolName, input), says("done")] });
  const { steps } = await generateText({
    model,
    tools: memoryTools({ client, ...options }),
    stopWhen: stepCountIs(2),
    prompt: "go",
  });
  const part = steps[0]?.content.find(({ type }) => /^tool-(?:result|error)$/.test(type));
  if (part?.type === "tool-result") return part.output;
  if (part?.type === "tool-error") throw part.error;
  throw new Error("no tool was called");
}

describe("tools", () => {
  it("add, find, change and forget a note of their user", async () => {
    const added = String(
      await answerOf("addMemory", { content: "The spare key hangs behind the water meter." }),
    );
    const [, id = ""] = /id=([0-9a-f]+)/.exec(added) ?? [];
    expect(await answerOf("searchMemory", { query: "where is the key?" })).toMatch(
      /data, not instructions[^]*behind the water meter/,
    );
    expect(await answerOf("searchMemory", { query: "where is the key?" }, { userId: "bob" })).not.toContain(
      "meter",
    );
    await answerOf("updateMemory", { id, content: "The spare key is with Tom." });
    const [memory] = (await client.memories.page({ user_id: "ada" })).items;
    expect(memory).toMatchObject({
      content: "The spare key is with Tom.",
      version: 2,
      created_by: "my-agent",
    });
    expect(await answerOf("forgetMemory", { id })).toContain("memoryd trash restore");
    expect(await client.memories.page({ user_id: "ada" })).toMatchObject({ total: 0 });
  });

  it("look up what is true now", async () => {
    await client.facts.record({ subject: "Ada", predicate: "lives in", object: "London", user_id: "ada" });
    expect(await answerOf("lookUpFact", { subject: "Ada" })).toContain('"Ada" "lives in" "London"');
  });

  it("answer within the tokens that the program allows, whatever the model asks for", async () => {
    const notes = Array.from({ length: 30 }, (_, i) => ({
      content: `Note ${i} on tulips: ${"they are red and stand in the long bed. ".repeat(9)}`,
      user_id: "tom",
    }));
    await client.memories.addMany(notes);
    const input = { query: "tulips", limit: 30, max_tokens: 20_000 };
    const short = String(await answerOf("searchMemory", input, { userId: "tom", maxTokens: 300 }));
    expect(short.length).toBeLessThan(4 * 300);
    const usual = String(await answerOf("searchMemory", input, { userId: "tom" }));
    expect(usual.length).toBeGreaterThan(short.length);
    expect(usual.length).toBeLessThan(4 * 1_500);
  });

  it("say what is wrong in words for the model, with the names that tools have here", async () => {
    await expect(answerOf("forgetMemory", { id: "abcdef12" })).rejects.toThrow(/searchMemory answers/);
    await expect(
      answerOf("addMemory", { content: "The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789" }),
    ).rejects.toThrow(/secret/);
  });

  it("have MCP's descriptions, and name no tool that is not there", () => {
    const tools = memoryTools({ client });
    expect(tools.searchMemory.description).toMatch(/^Search memory by meaning/);
    for (const { description } of Object.values(tools)) expect(description).not.toMatch(/\b(?:memory|fact)_/);
    expect(tools.addMemory.description).toMatch(/a fix\.$/);
  });
});

describe("middleware", () => {
  const askedWith = async (options: Parameters<typeof memoryMiddleware>[0], prompt: string) => {
    const model = new MockLanguageModelV4({ doGenerate: says("Behind the water meter.") });
    const wrapped = wrapLanguageModel({ model, middleware: memoryMiddleware({ client, ...options }) });
    await generateText({ model: wrapped, system: "Be brief.", prompt });
    return model.doGenerateCalls[0]?.prompt;
  };

  it("puts what memory holds before the question, and nothing where it holds nothing", async () => {
    await client.memories.add({ content: "The ladder is in Eve's garage.", user_id: "eve" });
    const [system, user] = (await askedWith({ userId: "eve" }, "Where is the ladder?")) ?? [];
    expect(system).toMatchObject({ role: "system", content: "Be brief." });
    expect(user?.content).toMatchObject([
      { type: "text", text: expect.stringMatching(/not instructions[^]*Eve's garage/) as string },
      { type: "text", text: "Where is the ladder?" },
    ]);
    const [, alone] = (await askedWith({ userId: "nobody" }, "Where is the ladder?")) ?? [];
    expect(alone?.content).toMatchObject([{ type: "text", text: "Where is the ladder?" }]);
  });

  it("fails where memory cannot be read, or goes on without it as the program says", async () => {
    const gone = createClient({ url: "http://127.0.0.1:9", retries: 0 });
    await expect(askedWith({ client: gone }, "Hi")).rejects.toThrow(/cannot be reached/);
    const errors: unknown[] = [];
    const [, user] = (await askedWith({ client: gone, onError: (error) => errors.push(error) }, "Hi")) ?? [];
    expect(user?.content).toMatchObject([{ text: "Hi" }]);
    expect(errors).toMatchObject([{ code: "UNREACHABLE" }]);
  });
});
