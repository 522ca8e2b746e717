/** Memory for the AI SDK, `memoryd/ai-sdk`: tools for a model, and a middleware that tells it what is known. */
import type { LanguageModelMiddleware, Tool } from "ai";
import {
  advertisedTool,
  type AgentToolInput,
  type AgentToolName,
  DEFAULT_ANSWER_TOKENS,
} from "../../schemas/agent-tools.ts";
import { createClient } from "../client.ts";
import { framework, type MemoryOwner } from "./framework.ts";

const { jsonSchema } = await framework(import("ai"), "ai", "memoryd/ai-sdk");

export interface MemoryToolsOptions extends Partial<MemoryOwner> {
  /** Of a search's answer, at most, whatever the model asks for; 1 500 if left out. Other answers have at most 1 500. */
  readonly maxTokens?: number;
}

export type MemoryTool<Name extends AgentToolName> = Tool<AgentToolInput<Name>, string>;

/** The tools by the name that a model calls them by, and MCP's tools that they are. */
const TOOLS = {
  searchMemory: "memory_search",
  addMemory: "memory_add",
  updateMemory: "memory_update",
  forgetMemory: "memory_delete",
  lookUpFact: "fact_lookup",
} as const satisfies Readonly<Record<string, AgentToolName>>;

export type MemoryTools = { readonly [Name in keyof typeof TOOLS]: MemoryTool<(typeof TOOLS)[Name]> };

/**
 * Tools with which a model searches and keeps memory: MCP's, with the same inputs and answers. With a project they read
 * that and what has none, and write to it; without a user they read all that the client's key may read.
 */
export function memoryTools(options: MemoryToolsOptions = {}): MemoryTools {
  const { client = createClient({ clientName: "ai-sdk" }), userId, project } = options;
  const { maxTokens = DEFAULT_ANSWER_TOKENS } = options;

  async function run(name: AgentToolName, input: object, signal: AbortSignal | undefined): Promise<string> {
    const asked = input as { readonly max_tokens?: number };
    const bounded =
      name === "memory_search"
        ? { ...input, max_tokens: Math.min(asked.max_tokens ?? maxTokens, maxTokens) }
        : input;
    const { error, result } = await client.call<ToolReply>({
      method: "POST",
      path: "/mcp",
      query: { user_id: userId, project },
      headers: { accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: bounded } },
      options: { signal },
    });
    const text = result?.content.map((part) => part.text).join("\n") ?? error?.message ?? "";
    // Notes begin on later lines, and stay as they are.
    const [first = "", ...rest] = text.split("\n");
    const answer = [renamed(first), ...rest].join("\n");
    if (error !== undefined || result?.isError === true) throw new Error(answer);
    return answer;
  }

  function toolFor<Name extends AgentToolName>(name: Name): MemoryTool<Name> {
    const { description, inputSchema } = advertisedTool(name);
    return {
      description: renamed(description),
      inputSchema: jsonSchema<AgentToolInput<Name>>(inputSchema),
      execute: (input: AgentToolInput<Name>, { abortSignal }: { readonly abortSignal?: AbortSignal }) =>
        run(name, input, abortSignal),
    };
  }

  return Object.fromEntries(
    Object.entries(TOOLS).map(([ours, name]) => [ours, toolFor(name)]),
  ) as unknown as MemoryTools;
}

interface ToolReply {
  readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError?: true };
  readonly error?: { readonly message: string };
}

const NAMES = new Map<string, string>(Object.entries(TOOLS).map(([ours, name]) => [name, ours]));
const TOOL_NAME = /\b(?:memory|fact)_[a-z]+\b/g;

/** The same text with the names that tools have here, without sentences on tools that are not here. */
function renamed(text: string): string {
  const sentences = text.split(/(?<=\. )/);
  const known = sentences.filter((sentence) =>
    (sentence.match(TOOL_NAME) ?? []).every((name) => NAMES.has(name)),
  );
  return known
    .join("")
    .replace(TOOL_NAME, (name) => NAMES.get(name) ?? name)
    .trimEnd();
}

export interface MemoryMiddlewareOptions extends Partial<MemoryOwner> {
  /** Of what is told, at most, from 100 to 20 000; the daemon's own limit if left out. */
  readonly maxTokens?: number;
  /** Called where memory cannot be read; the prompt then goes without it. If left out, the model's call fails. */
  readonly onError?: (error: unknown) => void;
}

/** A question's limit. */
const MAX_QUESTION_CHARS = 8_192;

/**
 * Puts what memory holds on a prompt before its last message of the user: `wrapLanguageModel({ model, middleware:
 * memoryMiddleware({ userId }) })`. The messages before it stay as they were, so that a provider's cache holds them.
 */
export function memoryMiddleware(options: MemoryMiddlewareOptions = {}): LanguageModelMiddleware {
  const { client = createClient({ clientName: "ai-sdk" }), userId, project, maxTokens, onError } = options;
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const { prompt } = params;
      const last = prompt.findLastIndex(({ role }) => role === "user");
      const message = prompt[last];
      if (message?.role !== "user") return params;
      const question = message.content
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("\n")
        .trim();
      const request = {
        ...(question !== "" && { query: Array.from(question).slice(0, MAX_QUESTION_CHARS).join("") }),
        ...(userId !== undefined && { user_id: userId }),
        ...(project !== undefined && { project }),
        ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      };
      const options = params.abortSignal && { signal: params.abortSignal };
      try {
        const { text } = await client.context(request, options);
        if (text === "") return params;
        const told = { ...message, content: [{ type: "text" as const, text }, ...message.content] };
        return { ...params, prompt: prompt.with(last, told) };
      } catch (error) {
        if (onError === undefined || params.abortSignal?.aborted === true) throw error;
        onError(error);
        return params;
      }
    },
  };
}
