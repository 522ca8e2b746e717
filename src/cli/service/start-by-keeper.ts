import { currentPlace } from "../../move-data.ts";
import { setTimeout as wait } from "node:timers/promises";
import { type DaemonClient, findDaemon } from "../daemon-client.ts";
import { openLogTail } from "../log-tail.ts";
import { START_TIMEOUT_MS } from "../start-detached.ts";
import { didNotStart, failureIn, textOf } from "../start-failure.ts";
import { isRunning, run } from "./keeper.ts";
import type { Command, ServiceDefinition } from "./service-definition.ts";

const POLL_MS = 100;

/**
 * Has the keeper start the daemon, and waits until it is ready.
 *
 * @param otherwise what to say first of all where it does not become ready.
 * @throws {CliFailure} why it did not start, with the end of its log.
 */
export async function startByKeeper(
  definition: ServiceDefinition,
  commands: readonly Command[],
  dataDir: string,
  otherwise: string,
): Promise<DaemonClient> {
  const inspect = definition.inspect.words.join(" ");
  const deadline = Date.now() + START_TIMEOUT_MS;
  const tail = openLogTail(() => currentPlace(dataDir));
  try {
    for (const command of commands) run(command);
    for (let log = ""; ;) {
      const found = await findDaemon(dataDir);
      if (found !== undefined) return found;
      log += textOf(tail.news());
      const reason = failureIn(log);
      if (reason !== undefined) throw didNotStart(otherwise, reason, log);
      // The other keepers do not say whether it runs.
      if (definition.keeper === "systemd" && !isRunning(definition))
        throw didNotStart(otherwise, `It ended while it started; \`${inspect}\` says more.`, log);
      if (Date.now() > deadline)
        throw didNotStart(
          otherwise,
          `It is not ready yet; \`${inspect}\` shows what ${definition.keeper} knows.`,
          log,
        );
      await wait(POLL_MS);
    }
  } finally {
    tail.close();
  }
}
