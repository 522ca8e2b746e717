import { quoted } from "../core/text/text-size.ts";
import { randomBytes } from "node:crypto";
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { AgentCall } from "../core/agent-call.ts";
import { forbidden, ServiceError, invalidRequest, notFound } from "../core/errors.ts";
import {
  advertisedTool,
  AGENT_INSTRUCTIONS,
  AGENT_TOOLS,
  type AgentToolName,
  chosenTools,
  CONTEXT_RESOURCE,
  PROMPTS,
  RESOURCE_TEMPLATES,
  type ToolChoice,
} from "../schemas/agent-tools.ts";
import { ADDS_PER_HOUR, AddAllowance } from "./add-allowance.ts";
import { type AgentContext, ownerCheck, idOf } from "./agent-context.ts";
import { recall } from "./memory-tools.ts";
import { USERS_OWN_CLIENT, note, notesPreface } from "./notes.ts";
import { failed, messageOf, runTool } from "./run-tool.ts";
import { Buffer } from "node:buffer";
import { ContextBody, DEFAULT_CONTEXT_TOKENS } from "../schemas/query-memory.ts";
import { Value } from "../schemas/typebox.ts";
import { present } from "../schemas/wire.ts";

/**
 * The name of a client that says it only once. It travels in the session id, which such a client repeats with every
 * request: so nothing has to be remembered here, and it holds over restarts.
 */
const PREFIX = "client.";
/** A session id is a header; longer names are cut. */
const MAX_NAME_BYTES = 512;

/** The session id for the client that a message introduces; undefined for any other message. */
function sessionCarrying(body: unknown): string | undefined {
  const message = body as
    | { readonly method?: unknown; readonly params?: { readonly clientInfo?: { readonly name?: unknown } } }
    | undefined;
  const name = message?.method === "initialize" ? message.params?.clientInfo?.name : undefined;
  if (typeof name !== "string" || name === "") return undefined;
  return PREFIX + Buffer.from(name).subarray(0, MAX_NAME_BYTES).toString("base64url");
}

/** The name that a request's session id carries. */
function carriedClient(headers: Headers): string | undefined {
  const id = headers.get("mcp-session-id");
  if (id?.startsWith(PREFIX) !== true) return undefined;
  const name = Buffer.from(id.slice(PREFIX.length), "base64url").toString("utf8");
  return name === "" ? undefined : name;
}

export interface AgentEndpointOptions extends Pick<AgentContext, "clock" | "places" | "timeZone"> {
  readonly version: string;
  /** Notes, facts and documents that a client may add within an hour; `ADDS_PER_HOUR` if absent. */
  readonly addsPerHour?: number;
  readonly report: (error: unknown) => void;
}

const MARK_BYTES = 6;
const MAX_CLIENT_NAME = 256;
/** The writer where a client has no name. */
const UNNAMED = "mcp";

/**
 * MCP over HTTP, stateless: every request is answered by a server of its own, for old clients and new ones alike. What this
 * returns never rejects for what a client did.
 */
export function createAgentEndpoint(options: AgentEndpointOptions) {
  const { version, addsPerHour = ADDS_PER_HOUR, report, ...means } = options;
  const allowance = new AddAllowance(addsPerHour, means.clock);

  function serverFor(call: AgentCall<ToolChoice>): Server {
    const chosen = chosenTools(call.tools);
    const tools = chosen.filter((name) => call.mayWrite || AGENT_TOOLS[name].hints.readOnlyHint);
    const server = new Server(
      { name: "memoryd", version },
      { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: AGENT_INSTRUCTIONS },
    );
    const context = (): AgentContext => {
      const client = clientOf(call, server.getClientVersion()?.name);
      return {
        ...call,
        ...means,
        client,
        adder: call.adder ?? `agent ${client}`,
        allowance,
        newMark: () => randomBytes(MARK_BYTES).toString("hex"),
      };
    };

    server.setRequestHandler("tools/list", () => ({ tools: tools.map(advertisedTool) }));
    server.setRequestHandler("tools/call", async ({ params }) => {
      const name = params.name as AgentToolName;
      if (!tools.includes(name)) return refused(name, chosen.includes(name));
      return runTool(context(), name, params.arguments, report);
    });
    server.setRequestHandler("resources/list", () => ({ resources: [CONTEXT_RESOURCE] }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
      try {
        return { contents: [{ uri, mimeType: "text/plain", text: await readResource(context(), uri) }] };
      } catch (error) {
        if (error instanceof ServiceError && error.code === "NOT_FOUND") throw new ResourceNotFoundError(uri);
        throw protocolError(error, report);
      }
    });
    server.setRequestHandler("prompts/list", () => ({ prompts: PROMPTS }));
    server.setRequestHandler("prompts/get", async ({ params }) => {
      const prompt = PROMPTS.find(({ name }) => name === params.name);
      if (prompt === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There are the prompts recall and context.");
      try {
        const write = prompt.name === "recall" ? recall : tellContext;
        const text = await write(context(), params.arguments ?? {});
        return {
          description: prompt.description,
          messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
        };
      } catch (error) {
        throw protocolError(error, report);
      }
    });
    return server;
  }

  return async (call: AgentCall<ToolChoice>): Promise<Response> => {
    const { request, body } = call;
    if (await isLegacyRequest(request, body)) return answerLegacy(serverFor(call), call);
    return createMcpHandler(() => serverFor(call), { legacy: "reject" }).fetch(request, { parsedBody: body });
  };
}

/** Clients of the protocol before 2026 introduce themselves once; their session id carries the name from then on. */
async function answerLegacy(server: Server, { request, body }: AgentCall<ToolChoice>): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body });
    // Read whole before the server is closed.
    const text = await response.text();
    const headers = new Headers(response.headers);
    const session = sessionCarrying(body);
    if (session !== undefined && response.ok) headers.set("mcp-session-id", session);
    return new Response(text === "" ? null : text, { status: response.status, headers });
  } finally {
    await server.close();
  }
}

/** Never empty, and never the name of the user's own programs: only agents call this endpoint. */
function clientOf(call: AgentCall<ToolChoice>, introduced: string | undefined): string {
  const name = call.clientHeader ?? introduced ?? carriedClient(call.request.headers) ?? call.keyName ?? "";
  const plain = name.replace(/\p{Cc}+/gu, " ").trim();
  if (plain === "") return UNNAMED;
  const own = USERS_OWN_CLIENT.test(plain) ? `${UNNAMED} ${plain}` : plain;
  return Array.from(own).slice(0, MAX_CLIENT_NAME).join("");
}

/** A tool that is there and not offered is refused as an answer, which an agent reads; an unknown one is a slip of the client. */
function refused(name: AgentToolName, isReadOnlyKey: boolean) {
  if (!Object.hasOwn(AGENT_TOOLS, name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no tool of this name.");
  return failed(
    forbidden(
      isReadOnlyKey
        ? "This key may only read."
        : `${name} is not offered on this connection; it may be read-only, or the tool has to be named in --tools.`,
    ),
  );
}

function protocolError(error: unknown, report: (error: unknown) => void): ProtocolError {
  if (!(error instanceof ServiceError)) report(error);
  const { code, message } = messageOf(error);
  const isInvalid = code === "INVALID_REQUEST" || code === "NOT_FOUND";
  return new ProtocolError(
    isInvalid ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
    `${code}: ${message}`,
  );
}

/** Maximum length of a document's text in one resource, characters; as long as the longest memory. */
const MAX_DOCUMENT_CHARS = 200_000;
const MAX_CHUNKS = 1_000;

/** The text behind `memory://{id}` and `document://{id}`, between marks. @throws {ServiceError} NOT_FOUND. */
export async function readResource(context: AgentContext, uri: string): Promise<string> {
  const match = /^(memory|document):\/\/([^/?#]+)\/?$/i.exec(uri);
  if (match?.[1] === undefined || match[2] === undefined)
    throw notFound("There are resources memory://{id} and document://{id} only.");
  if (/^memory:\/\/context\/?$/i.test(uri)) return tellContext(context, {});
  const id = await idOf(context, match[2]);
  return match[1].toLowerCase() === "memory" ? readMemory(context, id) : readDocument(context, id);
}

/**
 * The context of the connection's project and user, as the prompt `context` and the resource have it.
 * @throws {ServiceError} INVALID_REQUEST.
 */
export async function tellContext(
  { operations, project, userId }: AgentContext,
  input: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { query = "", max_tokens: tokens = String(DEFAULT_CONTEXT_TOKENS), scope } = input;
  const body = { query: query === "" ? null : query, max_tokens: Number(tokens) };
  if (!Value.Check(ContextBody, body))
    throw invalidRequest("query has at most 8192 characters, max_tokens is a number from 100 to 20000.");
  const { text } = await operations.composeContext({
    maxTokens: body.max_tokens,
    ...present({ query: body.query, userId, project: scope === "all" ? null : project }),
  });
  return text === "" ? "Memory holds nothing to tell at the start." : text;
}

async function readMemory(context: AgentContext, id: string): Promise<string> {
  const memory = await context.operations.getMemory({ id, ...ownerCheck(context) });
  const mark = context.newMark();
  return `${notesPreface(mark)}\n${note(mark, memory, memory.content, { now: context.clock.now(), timeZone: context.timeZone })}`;
}

async function readDocument({ documents, newMark, ...scope }: AgentContext, id: string): Promise<string> {
  const input = { id, ...ownerCheck(scope), limit: MAX_CHUNKS, offset: 0 };
  const { document, chunks, total } = await documents.getDocument(input);
  const mark = newMark();
  const from = document.url === null ? "file" : `web ${quoted(document.url)}`;
  const name = document.filename === null ? "" : ` name=${quoted(document.filename)}`;
  const parts = [
    notesPreface(mark),
    `[document ${mark} id=${id}${name} type=${document.mediaType} from=${from}]`,
  ];
  let [shown, chars] = [0, 0];
  for (const { content } of chunks) {
    chars += content.length;
    if (chars > MAX_DOCUMENT_CHARS) break;
    parts.push(content);
    shown += 1;
  }
  parts.push(`[end ${mark}]`);
  if (shown < total) parts.push("The document goes on; memory_search finds its other parts.");
  return parts.join("\n");
}
