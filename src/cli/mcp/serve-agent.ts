import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Settings } from "../../config/config.ts";
import { createLogger } from "../../daemon/system.ts";
import { VERSION } from "../../config/limits.ts";
import { findDaemon } from "../connect.ts";
import { EXIT, print } from "../output/output.ts";
import { buildAgentShim } from "./agent-shim.ts";
import { forward, idleMsOf, reachOrStart } from "./daemon-link.ts";
import { namedByPath, projectOfFolder } from "./project-of-folder.ts";
import { extraToolsOf } from "../output/options.ts";
import { messageOf } from "../../config/narrow.ts";

export interface ServeAgentOptions {
  readonly project?: string;
  readonly user?: string;
  readonly tools?: string;
  readonly readOnly?: boolean;
  /** The configuration file that was named, for a daemon that is started. */
  readonly config?: string;
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
    () =>
      buildAgentShim({
        version: VERSION,
        tools: { extra, readOnly: options.readOnly ?? false },
        project: options.project,
        user: options.user,
        projectOf: (root) =>
          root === undefined ? projectOfFolder(process.cwd()) : (projectOfFolder(root) ?? namedByPath(root)),
        forward: (call) => forward(reach, call),
      }),
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
