import {
  ConfigError,
  loadConfig,
  readSettings,
  readStartWords,
  type Settings,
  startLike,
} from "../../config/config.ts";
import { VERSION } from "../../config/limits.ts";
import { logFileOf, newLines } from "../../daemon/rotating-log.ts";
import { lockStart, startLockOf } from "../../daemon/runtime-file.ts";
import { type Daemon, findDaemon, notRunning, stopDaemon } from "../connect.ts";
import { compareVersions, versionAt } from "../installed-program.ts";
import { CliFailure, print, printTable, usageFailure } from "../output/output.ts";
import { didNotStart, faultOf, isRunning, serviceOf, startByServiceManager } from "../service/service.ts";
import type { InstalledService } from "../service/service.ts";
import { spawnDaemon } from "./start-detached.ts";

/** Waits until it is ready. @throws {CliFailure} why it did not start, with the end of its log. */
type StartAgain = () => Promise<Daemon>;

const DID_NOT_START = "memoryd was stopped and did not start again.";

/**
 * Stops the daemon and starts it again with the same flags and variables, and the configuration file as it is now.
 * @param flags settings that take the place of those that it was started with, by name.
 */
export async function restart(settings: Settings, flags: Readonly<Record<string, string>>): Promise<void> {
  const { dataDir } = settings;
  const begun = performance.now();
  const daemon = await findDaemon(dataDir);
  const service = serviceOf(settings);
  if (service === undefined && daemon === undefined) throw notRunning(dataDir);
  // Whatever would keep it from starting again is found before it is stopped.
  const startAgain = service
    ? byServiceManager(settings, service, daemon, Object.keys(flags))
    : byItself(settings, daemon as Daemon, flags);

  // Agents would start a daemon of their own as soon as there is none; meanwhile they wait for this one.
  const lock = await lockStart(dataDir);
  if (lock === undefined)
    throw new CliFailure(
      `memoryd is starting on ${dataDir} at this moment; try again when it is ready. If you are certain that nothing starts it, remove ${startLockOf(dataDir)}.`,
    );
  let started: Daemon;
  try {
    if (daemon !== undefined) await stopDaemon(daemon);
    started = await startAgain();
  } finally {
    await lock.release();
  }
  const how = service ? `started by ${service.definition.serviceManager}` : "and runs until `memoryd stop`";
  print(`memoryd is ready again, ${how}`);
  printTable([
    ["listening", started.url],
    ["data", dataDir],
    ["version", started.runtime.version],
    ["process", String(started.runtime.pid)],
    ["log", logFileOf(dataDir)],
    ["took", `${((performance.now() - begun) / 1_000).toFixed(1)} s`],
  ]);
}

function byItself(
  { dataDir }: Settings,
  { runtime }: Daemon,
  flags: Readonly<Record<string, string>>,
): StartAgain {
  refuseOlder(VERSION, runtime.version, "this is", "run this with the newer program");
  const before = runtime.startedWith;
  if (before === undefined)
    throw new CliFailure(
      `The daemon (memoryd ${runtime.version}) did not note what it was started with; use \`memoryd stop\`, then \`memoryd start --detach\` with the same options. Nothing was stopped.`,
    );
  // A path among them counts from the folder of this command.
  const given = Object.entries(readSettings({ flags, env: {} })).filter(([name]) => name in flags);
  const changes = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const { words, env } = usable(() => startLike({ ...before, flags: { ...before.flags, ...changes } }));
  return async () => {
    const news = newLines(dataDir);
    const outcome = await spawnDaemon({ dataDir }, words, env);
    if (outcome.kind === "failed") throw didNotStart(DID_NOT_START, outcome.message, news());
    const started = await findDaemon(dataDir);
    if (started === undefined) throw didNotStart(DID_NOT_START, "It ended as soon as it was ready.", news());
    return started;
  };
}

function byServiceManager(
  { dataDir }: Settings,
  service: InstalledService,
  daemon: Daemon | undefined,
  changes: readonly string[],
): StartAgain {
  const { definition, launcher, words } = service;
  const renewal = "`memoryd service install` renews it";
  if (changes.length > 0)
    throw usageFailure(
      `${definition.serviceManager} starts this daemon, with the settings of the configuration file: write ${changes.join(", ")} there, then \`memoryd restart\`. Nothing was stopped.`,
    );
  const fault = faultOf(service);
  if (fault !== undefined)
    throw new CliFailure(`The service cannot start: ${fault}; ${renewal}. Nothing was stopped.`);
  const version = versionAt(launcher);
  if (daemon !== undefined && version !== undefined)
    refuseOlder(version, daemon.runtime.version, `the service (${launcher}) is`, renewal);
  // Variables of this terminal are not those of the service.
  usable(() => loadConfig({ ...readStartWords(words), env: {} }));
  return async () => {
    const commands = isRunning(definition) ? definition.restart : definition.install;
    return await startByServiceManager(definition, commands, dataDir, DID_NOT_START);
  };
}

/** An older program might not know what a newer one has written. */
function refuseOlder(version: string, running: string, which: string, remedy: string): void {
  if (compareVersions(version, running) >= 0) return;
  throw new CliFailure(
    `The daemon that runs is memoryd ${running}, and ${which} ${version}; ${remedy}. Nothing was stopped.`,
  );
}

/** The configuration file may have changed to something that a start refuses. */
function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    throw usageFailure(`${cause.message} memoryd would not start. Nothing was stopped.`, { cause });
  }
}
