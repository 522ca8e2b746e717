import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type Settings, SETTINGS } from "../../config.ts";
import { createLogger } from "../../log.ts";
import { VERSION } from "../../version.ts";
import { print } from "../output.ts";
import { EXIT } from "../cli-failure.ts";
import { spawnDaemon, type StartOutcome } from "../start-detached.ts";
import { buildAgentShim } from "./agent-shim.ts";
import { createDaemonLink, type DaemonLink } from "./daemon-link.ts";
import { extraToolsOf } from "./extra-tools.ts";
import { forward } from "./forward.ts";
import { namedByPath, projectOfFolder } from "./project-of-folder.ts";

export interface ServeAgentOptions {
  readonly project?: string;
  readonly user?: string;
  readonly tools?: string;
  readonly readOnly?: boolean;
  /** The configuration file that was named, for a daemon that is started. */
  readonly config?: string;
}

/** A daemon that an agent had started ends by itself after so long without any. */
const EXIT_WHEN_IDLE_MS = 30 * 60 * 1_000;
/** How often the daemon hears that an agent is there, as a part of the time after which it would end. */
const GREETINGS = 5;
const LONGEST_GREETING_INTERVAL_MS = 60_000;
/** A daemon is given so long at the start to be there before the first call; a call gives it its own time. */
const WARM_UP_MS = 60_000;
/** Where nobody chose one. */
const USUAL_PORT = SETTINGS.find(({ name }) => name === "port")?.default;

/**
 * Speaks the Model Context Protocol over standard input and output, for one agent, until the input ends. Nothing else
 * is written to standard output; the log goes to standard error.
 */
export async function serveAgent(settings: Settings, options: ServeAgentOptions): Promise<void> {
  const extra = extraToolsOf(options.tools);
  const log = createLogger(settings.logLevel);
  const exitWhenIdleMs = settings.exitWhenIdleMs === 0 ? EXIT_WHEN_IDLE_MS : settings.exitWhenIdleMs;
  const link = createDaemonLink({
    dataDir: settings.dataDir,
    version: VERSION,
    start: () => startDaemonFor(settings, startWords(settings, options.config, exitWhenIdleMs)),
    onEvent: (event, details) => log.info(details, event),
  });

  const ended = untilInputEnds();
  const handle = serveStdio(
    () =>
      buildAgentShim({
        version: VERSION,
        tools: { extra, readOnly: options.readOnly ?? false },
        project: options.project,
        user: options.user,
        projectOf: (root) =>
          root === undefined ? projectOfFolder(process.cwd()) : (projectOfFolder(root) ?? namedByPath(root)),
        forward: (call) => forward(link, call),
      }),
    {
      transport: new StdioServerTransport(),
      onerror: (error) => {
        log.warn({ reason: error.name }, "message not understood");
        answerMalformed(error);
      },
    },
  );
  const greetings = greetRegularly(link, exitWhenIdleMs);
  link.reach(Date.now() + WARM_UP_MS).catch((error: unknown) => {
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, "no daemon yet");
  });

  await ended;
  clearInterval(greetings);
  await handle.close();
  // A start that is under way, or a call, must not keep the shim: the agent has gone.
  process.exit(EXIT.success);
}

const INVALID_REQUEST = -32_600;

/** Answers JSON that is no message, so that whoever sent it does not wait: JSON-RPC 2.0, section 5.1. */
function answerMalformed(error: Error): void {
  if (error.name !== "ZodError") return;
  const message = "This is not one JSON-RPC message; batches are not taken.";
  print(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: INVALID_REQUEST, message } }));
}

/** The arguments that start a daemon like the one these settings name. */
function startWords(settings: Settings, config: string | undefined, exitWhenIdleMs: number): string[] {
  return [
    "start",
    "--data-dir",
    settings.dataDir,
    ...(settings.apiKeyFile === "" ? [] : ["--api-key-file", settings.apiKeyFile]),
    ...(config === undefined ? [] : ["--config", config]),
    "--exit-when-idle-ms",
    String(exitWhenIdleMs),
  ];
}

/** Agents find the daemon by its file, so that where another program has the usual port, any other will do. */
async function startDaemonFor(settings: Settings, words: readonly string[]): Promise<StartOutcome> {
  const outcome = await spawnDaemon(settings, words);
  const mayMove = outcome.kind === "failed" && outcome.isPortTaken && settings.port === USUAL_PORT;
  return mayMove ? spawnDaemon(settings, [...words, "--port", "0"]) : outcome;
}

function greetRegularly(link: DaemonLink, exitWhenIdleMs: number): NodeJS.Timeout {
  const interval = Math.min(LONGEST_GREETING_INTERVAL_MS, exitWhenIdleMs / GREETINGS);
  return setInterval(() => void link.greet(), interval);
}

/** Resolves when whoever speaks here has gone, whichever way that shows. */
function untilInputEnds(): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) process.stdin.once(event, () => resolve());
    process.stdout.once("close", () => resolve());
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
