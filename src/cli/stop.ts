import { setTimeout as wait } from "node:timers/promises";
import type { Settings } from "../config.ts";
import { anything } from "../json-form.ts";
import { CliFailure } from "./cli-failure.ts";
import { connect, type DaemonClient, isAlive } from "./daemon-client.ts";
import { print } from "./output.ts";

const POLL_MS = 50;
/** On top of the time that the daemon gives its requests: to let go of the store, and to write a checkpoint. */
const GRACE_MS = 10_000;

/** Stops the daemon of a data directory, and says so. */
export async function stop(settings: Settings): Promise<void> {
  await stopDaemon(await connect(settings.dataDir), settings);
  print("memoryd has stopped.");
}

/** Asks a daemon to stop and waits until its process has gone. */
export async function stopDaemon(
  daemon: DaemonClient,
  { shutdownTimeoutMs }: Pick<Settings, "shutdownTimeoutMs">,
): Promise<void> {
  const { pid } = daemon.runtime;
  await askToStop(daemon);

  const deadline = Date.now() + shutdownTimeoutMs + GRACE_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) {
      throw new CliFailure(
        `memoryd (process ${pid}) was asked to stop and is still there; look at its log, or end the process.`,
      );
    }
    await wait(POLL_MS);
  }
}

/** Windows has no signal that a program can answer: there a SIGTERM would cut it off in the middle of a write. */
async function askToStop(daemon: DaemonClient): Promise<void> {
  if (process.platform === "win32") {
    await daemon.call(anything, "POST", "/shutdown");
    return;
  }
  try {
    process.kill(daemon.runtime.pid, "SIGTERM");
  } catch (error) {
    if (!isAlive(daemon.runtime.pid)) return;
    throw new CliFailure(
      `Process ${daemon.runtime.pid} belongs to another user; stop memoryd as that user.`,
      { cause: error },
    );
  }
}
