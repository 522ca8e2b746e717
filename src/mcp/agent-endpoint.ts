import { randomBytes } from "node:crypto";
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Server } from "@modelcontextprotocol/server";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import type { Operations } from "../core/operations.ts";
import type { Clock } from "../core/ports.ts";
import { chosenTools, type ToolChoice } from "../schemas/agent-tools.ts";
import { ADDS_PER_HOUR, AddAllowance } from "./add-allowance.ts";
import type { AgentScope } from "./agent-context.ts";
import { buildAgentServer } from "./agent-server.ts";
import { USERS_OWN_CLIENT } from "./notes.ts";
import { Buffer } from "node:buffer";

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

/** One request to `/mcp`, past every guard. */
export interface AgentRequest extends AgentScope {
  /** Method, address and headers; the body is in `body`. */
  readonly request: Request;
  readonly body: unknown;
  /** Limited to the caller's rights. */
  readonly operations: Operations;
  readonly documents: DocumentOperations;
  /** The id that adds are counted by. */
  readonly adder: string;
  readonly mayWrite: boolean;
  /** The client's name in a header, and the name of its key. */
  readonly clientHeader: string | undefined;
  readonly keyName: string | undefined;
  readonly tools: ToolChoice;
}

export interface AgentEndpointOptions {
  readonly version: string;
  readonly clock: Clock;
  /** In which agents mean "last week". */
  readonly timeZone: string;
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
  const allowance = new AddAllowance(options.addsPerHour ?? ADDS_PER_HOUR, options.clock);

  const serverFor = (call: AgentRequest): Server =>
    buildAgentServer({
      version: options.version,
      tools: chosenTools(call.tools),
      mayWrite: call.mayWrite,
      report: options.report,
      contextOf: (introduced) => ({
        ...call,
        client: clientOf(call, introduced),
        allowance,
        clock: options.clock,
        timeZone: options.timeZone,
        newMark: () => randomBytes(MARK_BYTES).toString("hex"),
      }),
    });

  return async (call: AgentRequest): Promise<Response> => {
    const { request, body } = call;
    if (await isLegacyRequest(request, body)) return answerLegacy(serverFor(call), call);
    return createMcpHandler(() => serverFor(call), { legacy: "reject" }).fetch(request, { parsedBody: body });
  };
}

/** Clients of the protocol before 2026 introduce themselves once; their session id carries the name from then on. */
async function answerLegacy(server: Server, { request, body }: AgentRequest): Promise<Response> {
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
function clientOf(call: AgentRequest, introduced: string | undefined): string {
  const name = call.clientHeader ?? introduced ?? carriedClient(call.request.headers) ?? call.keyName ?? "";
  const plain = name.replace(/\p{Cc}+/gu, " ").trim();
  if (plain === "") return UNNAMED;
  const own = USERS_OWN_CLIENT.test(plain) ? `${UNNAMED} ${plain}` : plain;
  return Array.from(own).slice(0, MAX_CLIENT_NAME).join("");
}
