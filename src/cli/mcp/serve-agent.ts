import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Settings } from "../../config/config.ts";
import { VERSION } from "../../config/limits.ts";
import { messageOf } from "../../config/narrow.ts";
import { shortened } from "../../core/text/text-size.ts";
import { createLogger } from "../../daemon/system.ts";
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
import { present } from "../../schemas/wire.ts";
import { findDaemon } from "../connect.ts";
import { extraToolsOf, type Flags } from "../output/options.ts";
import { EXIT, oneLine, print } from "../output/output.ts";
import { forward, type ForwardedCall, idleMsOf, type ReachDaemon, reachOrStart } from "./daemon-link.ts";
import { folderOfRoot, namedByPath, projectOfFolder } from "./project-of-folder.ts";

export interface ServeAgentOptions extends Pick<Flags, "project" | "user" | "config"> {
  readonly tools?: string;
  readonly readOnly?: boolean;
}

/** Requests that keep the daemon alive, per time after which it would end. */
const GREETINGS = 5;
const LONGEST_GREETING_INTERVAL_MS = 60_000;
/** A daemon is given so long at the start to be there before the first call; a call gives it its own time. */
const WARM_UP_MS = 60_000;

/**
 * Speaks the Model Context Protocol over standard input and output, for one agent, until the input ends. Nothing else
 * is written to standard output; the log goes to standard error.
 */
export async function serveAgent(settings: Settings, options: ServeAgentOptions): Promise<void> {
  const extra = extraToolsOf(options.tools);
  const log = createLogger(settings.logLevel);
  const reach = reachOrStart(settings, options.config);

  const ended = untilInputEnds();
  const handle = serveStdio(
    () => buildServer(options, { extra, readOnly: options.readOnly ?? false }, reach),
    {
      onerror: (error) => {
        log.warn({ reason: error.name }, "message not understood");
        answerMalformed(error);
      },
    },
  );
  const greetings = greetRegularly(settings);
  reach(Date.now() + WARM_UP_MS).catch((error: unknown) => {
    log.warn({ reason: messageOf(error) }, "no daemon yet");
  });

  await ended;
  clearInterval(greetings);
  await handle.close();
  // A start that is under way, or a call, must not keep the shim: the agent has gone.
  process.exit(EXIT.success);
}

const INVALID_REQUEST = -32_600;

/** Answers JSON that is no message, so that its sender does not wait: JSON-RPC 2.0, section 5.1. */
function answerMalformed(error: Error): void {
  if (error.name !== "ZodError") return;
  const message = "This is not one JSON-RPC message; batches are not taken.";
  print(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: INVALID_REQUEST, message } }));
}

/** Makes requests, so that a running daemon does not count as idle; the next call of the agent reports a failure. */
function greetRegularly(settings: Settings): NodeJS.Timeout {
  const interval = Math.min(LONGEST_GREETING_INTERVAL_MS, idleMsOf(settings) / GREETINGS);
  return setInterval(() => void findDaemon(settings.dataDir).catch(() => undefined), interval);
}

/** Resolves when the agent has closed its end. */
function untilInputEnds(): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) process.stdin.once(event, () => resolve());
    process.stdout.once("close", () => resolve());
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}

/** Some clients declare roots and never list them. */
const ROOTS_TIMEOUT_MS = 3_000;

/** The server that an agent talks to: lists tools and prompts itself, and has the daemon answer calls. */
function buildServer(options: ServeAgentOptions, tools: ToolChoice, reach: ReachDaemon): Server {
  const server = new Server(
    { name: "memoryd", version: VERSION },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: AGENT_INSTRUCTIONS },
  );
  const names = chosenTools(tools);
  const { user } = options;

  let project: Promise<string | undefined> | undefined;
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    project = undefined;
  });

  async function ask(
    method: ForwardedCall["method"],
    params: object,
    signal: AbortSignal,
    mayRepeat = true,
  ): Promise<Record<string, unknown>> {
    project ??= findProject(server, options.project);
    const query = {
      ...present({ project: await project, user_id: user }),
      ...(tools.extra.length > 0 && { tools: tools.extra.join(",") }),
      ...(tools.readOnly && { read_only: "true" }),
    };
    const client = server.getClientVersion()?.name;
    const answer = await forward(reach, { method, params, query, signal, mayRepeat, client });
    if ("result" in answer) return answer.result;
    throw new ProtocolError(answer.error.code, answer.error.message);
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
    const note = answer["isError"] === true ? undefined : bodyOf(answer);
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
    const params = { name, arguments: input ?? {} };
    try {
      const doubt =
        name === "memory_delete" && names.includes(name) ? await consent(input, mcpReq) : undefined;
      return doubt ?? ((await ask("tools/call", params, mcpReq.signal, mayRepeat)) as { content: [] });
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // An answer that the agent reads, where a protocol error might only end up in a log.
      return { ...told(messageOf(error)), isError: true };
    }
  });
  server.setRequestHandler(
    "resources/read",
    async ({ params: { uri } }, { mcpReq }) =>
      (await ask("resources/read", { uri }, mcpReq.signal)) as { contents: [] },
  );
  server.setRequestHandler(
    "prompts/get",
    async ({ params: { name, arguments: input = {} } }, { mcpReq }) =>
      (await ask("prompts/get", { name, arguments: input }, mcpReq.signal)) as { messages: [] },
  );
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

/** `--project`, else that of the client's first root, else of the folder where this was started. */
async function findProject(server: Server, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return named;
  const canList = server.getClientCapabilities()?.roots !== undefined;
  const listed =
    canList && (await server.listRoots({}, { timeout: ROOTS_TIMEOUT_MS }).catch(() => undefined));
  const folders = (listed || { roots: [] }).roots.map(({ uri }) => folderOfRoot(uri));
  const root = folders.find((folder) => folder !== undefined);
  return root === undefined ? projectOfFolder(process.cwd()) : (projectOfFolder(root) ?? namedByPath(root));
}
