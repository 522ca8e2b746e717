import { setTimeout as wait } from "node:timers/promises";
import { START_TIMEOUT_MS } from "../commands/start-detached.ts";
import { type Daemon, findDaemon } from "../connect.ts";
import { CliFailure } from "../output/cli-failure.ts";
import { endOfLog, newLines } from "../output/log-lines.ts";
import { isRunning, run } from "./keeper.ts";
import type { Command, ServiceDefinition } from "./service-definition.ts";

const POLL_MS = 100;
const SHOWN_LINES = 10;

/**
 * Has the keeper start the daemon, and waits until it is ready.
 * @param otherwise the first sentence where it does not become ready.
 * @throws {CliFailure} why it did not start, with the end of its log.
 */
export async function startByKeeper(
  definition: ServiceDefinition,
  commands: readonly Command[],
  dataDir: string,
  otherwise: string,
): Promise<Daemon> {
  const inspect = definition.inspect.words.join(" ");
  const deadline = Date.now() + START_TIMEOUT_MS;
  const news = newLines(dataDir, endOfLog(dataDir));
  for (const command of commands) run(command);
  for (let log = Buffer.alloc(0); ; await wait(POLL_MS)) {
    const found = await findDaemon(dataDir);
    if (found !== undefined) return found;
    log = Buffer.concat([log, news()]);
    const failure = log
      .toString("utf8")
      .split("\n")
      .find((line) => line.includes('"msg":"start failed"'));
    if (failure !== undefined) throw didNotStart(otherwise, reasonIn(failure), log);
    // The other keepers do not say whether it runs.
    if (definition.keeper === "systemd" && !isRunning(definition))
      throw didNotStart(otherwise, `It ended while it started; \`${inspect}\` says more.`, log);
    if (Date.now() > deadline)
      throw didNotStart(
        otherwise,
        `It is not ready yet; \`${inspect}\` shows what ${definition.keeper} knows.`,
        log,
      );
  }
}

/** Says what did not start and why, with the end of what it logged. */
export function didNotStart(what: string, reason: string, log: Buffer): CliFailure {
  const end = log.toString("utf8").trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  return new CliFailure(`${what} ${reason}${end === "" ? "" : `\n\nThe end of its log:\n${end}`}`);
}

function reasonIn(line: string): string {
  try {
    const { err } = JSON.parse(line) as { readonly err?: { readonly message?: unknown } };
    if (typeof err?.message === "string") return err.message;
  } catch {}
  return "It failed while it started.";
}
