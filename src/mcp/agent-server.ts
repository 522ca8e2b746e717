import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import { forbidden, ServiceError } from "../core/errors.ts";
import {
  advertisedTool,
  AGENT_INSTRUCTIONS,
  AGENT_TOOLS,
  type AgentToolName,
  CONTEXT_RESOURCE,
  PROMPTS,
  RESOURCE_TEMPLATES,
} from "../schemas/agent-tools.ts";
import type { AgentContext } from "./agent-context.ts";
import { readResource, tellContext } from "./resources.ts";
import { failed, messageOf, runTool } from "./run-tool.ts";
import { recall } from "./memory-tools.ts";

export interface AgentServerOptions {
  readonly version: string;
  /** The tools that are listed. */
  readonly tools: readonly AgentToolName[];
  /** True if the caller's key has the scope `write`. */
  readonly mayWrite: boolean;
  /** @param client the name by which the client introduced itself, if the request has it. */
  readonly contextOf: (client: string | undefined) => AgentContext;
  /** Told of errors that are nobody's but ours. */
  readonly report: (error: unknown) => void;
}

/** An MCP server for one connection, or for one request where there is none. */
export function buildAgentServer(options: AgentServerOptions): Server {
  const { version, mayWrite, contextOf, report } = options;
  const tools = options.tools.filter((name) => mayWrite || AGENT_TOOLS[name].hints.readOnlyHint);
  const server = new Server(
    { name: "memoryd", version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: AGENT_INSTRUCTIONS },
  );
  const context = () => contextOf(server.getClientVersion()?.name);

  server.setRequestHandler("tools/list", () => ({ tools: tools.map(advertisedTool) }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const name = params.name as AgentToolName;
    if (!tools.includes(name)) return refused(name, options);
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

/** A tool that is there and not offered is refused as an answer, which an agent reads; an unknown one is a slip of the client. */
function refused(name: AgentToolName, { tools, mayWrite }: AgentServerOptions) {
  if (!Object.hasOwn(AGENT_TOOLS, name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no tool of this name.");
  return failed(
    forbidden(
      tools.includes(name) && !mayWrite
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
