import { ConfigError, environmentWith, loadConfig, type Settings, type StartedWith } from "../config.ts";
import { currentPlace } from "../move-data.ts";
import { readStartWords, startWordsOf } from "../start-words.ts";
import { VERSION } from "../version.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { type DaemonClient, findDaemon } from "./daemon-client.ts";
import { versionAt } from "./installed-program.ts";
import { openLogTail } from "./log-tail.ts";
import { compareVersions } from "./mcp/check-versions.ts";
import { faultOf, type InstalledService, serviceOf } from "./service/installed-service.ts";
import { isRunning } from "./service/keeper.ts";
import { startByKeeper } from "./service/start-by-keeper.ts";
import { spawnDaemon } from "./start-detached.ts";
import { didNotStart, textOf } from "./start-failure.ts";

/** How a daemon comes back after it has been stopped. */
export interface StartAgain {
  /** What starts it and looks after it, in the words of the system; undefined where nothing does. */
  readonly keeper: string | undefined;
  /**
   * Starts it and waits until it is ready; the data directory may have been moved since.
   *
   * @throws {CliFailure} why it did not start, with the end of its log.
   */
  start(): Promise<DaemonClient>;
}

const DID_NOT_START = "memoryd was stopped and did not start again.";

/**
 * How the daemon of a data directory would be started again: by what keeps it, where it is a service, else as it was
 * started. Undefined where it is no service and does not run.
 *
 * @throws {CliFailure} where it would not come back, so that nobody stops it.
 */
export function planStartAgain(settings: Settings, daemon: DaemonClient | undefined): StartAgain | undefined {
  const service = serviceOf(settings);
  if (service !== undefined) return byKeeper(settings, service, daemon);
  return daemon === undefined ? undefined : byItself(settings, daemon);
}

function byItself({ dataDir }: Settings, { runtime }: DaemonClient): StartAgain {
  refuseOlder(VERSION, runtime.version, "this is", "run this with the newer program");
  const { startedWith } = runtime;
  if (startedWith === undefined) {
    throw new CliFailure(
      `The daemon that runs (memoryd ${runtime.version}) did not note what it was started with; use \`memoryd stop\`, then \`memoryd start --detach\` with the same options. Nothing was stopped.`,
    );
  }
  const env = environmentWith(startedWith.secrets);
  const missing = startedWith.secrets.filter((name) => env[name] === undefined);
  if (missing.length > 0) {
    throw new CliFailure(
      `The daemon was started with ${missing.join(" and ")}, which is not set here and stands in no file; set it and try again. Nothing was stopped.`,
    );
  }
  refuseUnusable(startedWith, env);
  return {
    keeper: undefined,
    async start() {
      const tail = openLogTail(() => currentPlace(dataDir));
      try {
        const outcome = await spawnDaemon({ dataDir }, startWordsOf(startedWith), env);
        if (outcome.kind === "failed") throw didNotStart(DID_NOT_START, outcome.message, textOf(tail.news()));
      } finally {
        tail.close();
      }
      const started = await findDaemon(dataDir);
      if (started === undefined) throw didNotStart(DID_NOT_START, "It ended as soon as it was ready.", "");
      return started;
    },
  };
}

function byKeeper(
  { dataDir }: Settings,
  service: InstalledService,
  daemon: DaemonClient | undefined,
): StartAgain {
  const { definition, launcher, words } = service;
  const renewal = "`memoryd service install` renews it";
  const fault = faultOf(service);
  if (fault !== undefined)
    throw new CliFailure(`The service cannot start: ${fault}; ${renewal}. Nothing was stopped.`);
  const version = versionAt(launcher);
  if (daemon !== undefined && version !== undefined)
    refuseOlder(version, daemon.runtime.version, `the service (${launcher}) is`, renewal);
  // Variables of this terminal are not those of the service.
  refuseUnusable(readStartWords(words), {});

  return {
    keeper: definition.keeper,
    async start() {
      const commands = isRunning(definition) ? definition.restart : definition.install;
      return await startByKeeper(definition, commands, dataDir, DID_NOT_START);
    },
  };
}

/** An older program might not know what a newer one has written. */
function refuseOlder(version: string, running: string, which: string, remedy: string): void {
  if (compareVersions(version, running) >= 0) return;
  throw new CliFailure(
    `The daemon that runs is memoryd ${running}, and ${which} ${version}; ${remedy}. Nothing was stopped.`,
  );
}

/** A start reads its settings anew, and one of them may have been changed to something that it refuses. */
function refuseUnusable(startedWith: Omit<StartedWith, "secrets">, env: NodeJS.ProcessEnv): void {
  try {
    loadConfig({ ...startedWith, env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliFailure(`${error.message} memoryd would not start with that; nothing was stopped.`, {
      cause: error,
      exitCode: EXIT.usage,
    });
  }
}
