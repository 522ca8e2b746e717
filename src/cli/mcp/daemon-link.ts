import { setTimeout as sleep } from "node:timers/promises";
import { claimStart } from "../../start-claim.ts";
import { CliFailure } from "../cli-failure.ts";
import { explainStartFailure } from "../explain-start-failure.ts";
import { type DaemonClient, findDaemon } from "../daemon-client.ts";
import type { StartOutcome } from "../start-detached.ts";
import { checkVersions } from "./check-versions.ts";

/** The daemon, wherever it is by now. */
export interface DaemonLink {
  /**
   * The daemon of the data directory, after it has shown who it is; started if there is none.
   *
   * @throws {CliFailure} that says what to do, at the deadline at the latest.
   */
  reach(deadline: number): Promise<DaemonClient>;
  /** Lets the daemon know that somebody is there, if it runs. Never fails. */
  greet(): Promise<void>;
}

export interface DaemonLinkOptions {
  readonly dataDir: string;
  readonly version: string;
  /** Starts the daemon as a process of its own, and waits until it is ready or has failed. */
  readonly start: () => Promise<StartOutcome>;
  readonly onEvent: (event: string, details: object) => void;
}

const POLL_MS = 100;
/** After a start that failed for good, the same answer is given for so long: agents try again at once. */
const FAILURE_KEPT_MS = 5_000;

export function createDaemonLink(options: DaemonLinkOptions): DaemonLink {
  const { dataDir, onEvent } = options;
  let failure: { readonly error: CliFailure; readonly until: number } | undefined;
  let starting: Promise<void> | undefined;
  let known: string | undefined;

  async function find(): Promise<DaemonClient | undefined> {
    const daemon = await findDaemon(dataDir);
    if (daemon === undefined) return undefined;
    checkVersions(options.version, daemon.runtime.version, (warning) =>
      onEvent("versions differ", { warning }),
    );
    if (known !== daemon.runtime.instanceId) {
      known = daemon.runtime.instanceId;
      onEvent("daemon found", { pid: daemon.runtime.pid, port: daemon.runtime.port });
    }
    return daemon;
  }

  /** One turn: begins to start the daemon, unless somebody does. */
  async function startOnce(): Promise<void> {
    const claim = await claimStart(dataDir);
    if (claim === undefined) return;
    try {
      // Whoever had the right before may have used it.
      if ((await findDaemon(dataDir)) !== undefined) return;
      const outcome = await options.start();
      if (outcome.kind === "ready") onEvent("daemon started", {});
      else if (!outcome.mayPass) {
        const error = new CliFailure(outcome.message);
        failure = { error, until: Date.now() + FAILURE_KEPT_MS };
        onEvent("daemon did not start", { reason: outcome.message });
      }
    } finally {
      await claim.release();
    }
  }

  return {
    async reach(deadline) {
      for (;;) {
        const daemon = await find();
        if (daemon !== undefined) return daemon;
        if (failure !== undefined && Date.now() < failure.until) throw failure.error;
        if (Date.now() > deadline) {
          throw new CliFailure(
            "memoryd is still starting; reading back a large store takes a while. Try again in a moment.",
          );
        }
        starting ??= startOnce()
          .catch((error: unknown) => {
            if (error instanceof CliFailure) throw error;
            throw new CliFailure(explainStartFailure(error, dataDir), { cause: error });
          })
          .finally(() => (starting = undefined));
        // A start that takes longer than the call goes on without it.
        await Promise.race([starting, sleep(Math.max(0, deadline - Date.now()) + 1)]);
        if (failure === undefined) await sleep(POLL_MS);
      }
    },
    async greet() {
      try {
        await findDaemon(dataDir);
      } catch {
        // The next call says what is wrong, to somebody who asked.
      }
    },
  };
}
