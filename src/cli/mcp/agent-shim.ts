import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  advertisedTool,
  AGENT_INSTRUCTIONS,
  AGENT_TOOLS,
  chosenTools,
  CONTEXT_RESOURCE,
  PROMPTS,
  RESOURCE_TEMPLATES,
} from "../../schemas/agent-tools.ts";
import type { AgentToolName, ToolChoice } from "../../schemas/agent-tools.ts";
import type { ForwardedAnswer, ForwardedCall } from "./daemon-link.ts";
import { folderOfRoot } from "./project-of-folder.ts";
import { oneLine } from "../output/output.ts";
import { shortened } from "../../core/text/text-size.ts";
import { messageOf } from "../../config/narrow.ts";

export interface AgentShimOptions {
  readonly version: string;
  readonly tools: ToolChoice;
  /** From `--project`; undefined: derived from the agent's working directory. */
  readonly project: string | undefined;
  readonly user: string | undefined;
  /** The project of a folder: of one that the client names, or without one of where the shim was started. */
  readonly projectOf: (root: string | undefined) => string | undefined;
  /** @throws {Error} with a sentence for the agent. */
  readonly forward: (call: ForwardedCall) => Promise<ForwardedAnswer>;
}

/** Some clients declare roots and never list them. */
const ROOTS_TIMEOUT_MS = 3_000;

/** The server that an agent talks to over stdio: lists tools and prompts itself, and has the daemon answer calls. */
export function buildAgentShim(options: AgentShimOptions): Server {
  const server = new Server(
    { name: "memoryd", version: options.version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: AGENT_INSTRUCTIONS },
  );
  const names = chosenTools(options.tools);

  let project: Promise<string | undefined> | undefined;
  const projectNow = () => (project ??= findProject(server, options));
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    project = undefined;
  });

  async function ask(
    method: ForwardedCall["method"],
    params: object,
    signal: AbortSignal,
    mayRepeat = true,
  ): Promise<ForwardedAnswer> {
    const query = queryOf(options, await projectNow());
    return options.forward({
      method,
      params,
      query,
      signal,
      mayRepeat,
      client: server.getClientVersion()?.name,
    });
  }

  /** Has the user agree to a deletion, where the client can ask; undefined: go on. */
  async function consent(input: unknown, { envelope, inputResponses, signal }: ServerContext["mcpReq"]) {
    const ofRequest: unknown = Reflect.get(Object(envelope), CLIENT_CAPABILITIES_META_KEY);
    if (Reflect.get(Object(ofRequest ?? server.getClientCapabilities()), "elicitation") === undefined)
      return undefined;
    const said = inputResponse(inputResponses, CONSENT);
    if (said.kind === "elicit")
      return said.action === "accept" ? undefined : told("The user said no: nothing was deleted.");
    const id: unknown = Reflect.get(Object(input), "id");
    const answer = await ask("tools/call", { name: "memory_get", arguments: { id } }, signal);
    const note = "result" in answer && answer.result["isError"] !== true ? bodyOf(answer.result) : undefined;
    // A fact is only ended, and an id of nothing is told by the daemon.
    if (note === undefined) return undefined;
    return inputRequired({
      inputRequests: {
        [CONSENT]: inputRequired.elicit({
          message: `Delete this note? ${note}`,
          requestedSchema: { type: "object", properties: {} },
        }),
      },
    });
  }

  server.setRequestHandler("tools/list", () => ({ tools: names.map(advertisedTool) }));
  server.setRequestHandler("resources/list", () => ({ resources: [CONTEXT_RESOURCE] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
  server.setRequestHandler("prompts/list", () => ({ prompts: PROMPTS }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: input } }, { mcpReq }) => {
    const mayRepeat =
      Object.hasOwn(AGENT_TOOLS, name) && AGENT_TOOLS[name as AgentToolName].hints.idempotentHint;
    let answer: ForwardedAnswer;
    try {
      const doubt =
        name === "memory_delete" && names.includes(name) ? await consent(input, mcpReq) : undefined;
      if (doubt !== undefined) return doubt;
      answer = await ask("tools/call", { name, arguments: input ?? {} }, mcpReq.signal, mayRepeat);
    } catch (error) {
      // An answer that the agent reads, where a protocol error might only end up in a log.
      return { ...told(messageOf(error)), isError: true };
    }
    return resultOf(answer) as { content: [] };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq }) => {
    return resultOf(await orProtocolError(ask("resources/read", { uri }, mcpReq.signal))) as { contents: [] };
  });
  server.setRequestHandler("prompts/get", async ({ params: { name, arguments: input } }, { mcpReq }) => {
    const params = { name, arguments: input ?? {} };
    return resultOf(await orProtocolError(ask("prompts/get", params, mcpReq.signal))) as { messages: [] };
  });
  return server;
}

const CONSENT = "delete";
const MAX_SHOWN_CHARS = 300;

/** The text of a note as `memory_get` answers it, on one line. */
function bodyOf(result: Record<string, unknown>): string | undefined {
  const [{ text = "" } = {}] = (result["content"] ?? []) as { readonly text?: string }[];
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("[note "));
  const last = lines.findLastIndex((line) => line.startsWith("[end "));
  if (first < 0 || last <= first) return undefined;
  return JSON.stringify(shortened(oneLine(lines.slice(first + 1, last).join(" ")), MAX_SHOWN_CHARS));
}

const told = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** `--project`, else the client's first root, else the folder where the shim was started. */
async function findProject(server: Server, options: AgentShimOptions): Promise<string | undefined> {
  if (options.project !== undefined) return options.project;
  if (server.getClientCapabilities()?.roots === undefined) return options.projectOf(undefined);
  try {
    const { roots } = await server.listRoots({}, { timeout: ROOTS_TIMEOUT_MS });
    return options.projectOf(
      roots.map(({ uri }) => folderOfRoot(uri)).find((folder) => folder !== undefined),
    );
  } catch {
    return options.projectOf(undefined);
  }
}

const queryOf = ({ user, tools }: AgentShimOptions, project: string | undefined): ForwardedCall["query"] => ({
  ...(project !== undefined && { project }),
  ...(user !== undefined && { user_id: user }),
  ...(tools.extra.length > 0 && { tools: tools.extra.join(",") }),
  ...(tools.readOnly && { read_only: "true" }),
});

function resultOf(answer: ForwardedAnswer): Record<string, unknown> {
  if ("result" in answer) return answer.result;
  throw new ProtocolError(answer.error.code, answer.error.message);
}

async function orProtocolError(answer: Promise<ForwardedAnswer>): Promise<ForwardedAnswer> {
  try {
    return await answer;
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, messageOf(error));
  }
}
