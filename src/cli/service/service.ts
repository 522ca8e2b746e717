import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import {
  ConfigError,
  DEFAULT_CONFIG_FILE,
  readSettings,
  readStartWords,
  type Settings,
  variablesOfDaemon,
} from "../../config/config.ts";
import { logFileOf, newLines } from "../../daemon/rotating-log.ts";
import { jsonOf, makeFolder, readIfThere } from "../../files/own-files.ts";
import { START_TIMEOUT_MS } from "../commands/start-detached.ts";
import { type Daemon, findDaemon, stopDaemon } from "../connect.ts";
import { installedProgram } from "../installed-program.ts";
import { addCommand, dataDirWords, type Flags, settingsOf } from "../output/options.ts";
import { CliFailure, print, printTable } from "../output/output.ts";
import { commandIn, serviceDefinition } from "./service-definition.ts";
import type { ServiceCommand, ServiceDefinition } from "./service-definition.ts";

export function addServiceCommands(memoryd: Command): void {
  const service = memoryd
    .command("service")
    .description("have the system start the daemon: systemd, launchd or the Task Scheduler");
  addCommand(service, "install", "start it now, at each login, and after a crash")
    .option("--print", "only show what would be written and run")
    .action(installService);
  const uninstall = addCommand(service, "uninstall", "stop it and take the service away; memories stay");
  uninstall.action(uninstallService);
  const status = addCommand(service, "status", "say whether the service is installed and runs");
  status.action(serviceStatus);
}

async function installService(options: Flags): Promise<void> {
  const settings = settingsOf(options);
  const definition = definitionOf(options);
  if (options.print === true) {
    const words = definition.install.map(({ words }) => `  ${words.join(" ")}`).join("\n");
    print(
      `This would be written to ${definition.file}:\n\n${definition.text.trim()}\n\nand then run:\n\n${words}`,
    );
    return;
  }
  requireServiceManager(definition);
  // Two daemons cannot have one data directory, and what is waited for below must be the new one.
  const before = await findDaemon(settings.dataDir);
  if (before !== undefined) await stopDaemon(before);

  const { file, text, show, install, serviceManager } = definition;
  makeFolder(dirname(file), 0o777);
  writeFileSync(file, text, { encoding: show ? "utf16le" : "utf8", mode: 0o644 });
  let daemon: Daemon;
  try {
    const otherwise = `memoryd is a service of ${serviceManager} now, and did not start.`;
    daemon = await startByServiceManager(definition, install, settings.dataDir, otherwise);
  } finally {
    if (show) rmSync(file, { force: true });
  }
  print(`memoryd runs, and ${serviceManager} starts it when you log in.`);
  printTable([
    ["listening", daemon.url],
    ["file", show ? undefined : file],
    ["data", settings.dataDir],
    ["log", logFileOf(settings.dataDir)],
  ]);
  if (serviceManager === "systemd")
    print("To have it run while you are not logged in, too: loginctl enable-linger");
  const unseen = variablesOfDaemon().filter((name) => name !== "MEMORYD_DATA_DIR");
  if (unseen.length > 0)
    print(
      `The service does not see what this terminal sets: ${unseen.join(", ")}. Put it into ${options.config ?? DEFAULT_CONFIG_FILE}, then \`memoryd restart\`.`,
    );
}

async function uninstallService(options: Flags): Promise<void> {
  const settings = settingsOf(options);
  const definition = definitionOf(options);
  const { file, show, uninstall, forget = [], serviceManager } = definition;
  const isThere = show ? isRunning(definition) : existsSync(file);
  if (!isThere) {
    print(`memoryd is not a service of ${serviceManager}.`);
    return;
  }
  // On Windows the daemon is no child of the task.
  const daemon = show && (await findDaemon(settings.dataDir));
  if (daemon !== undefined) await stopDaemon(daemon);
  for (const command of uninstall) run(command);
  rmSync(file, { force: true });
  for (const command of forget) run(command);
  print(
    `memoryd is no service of ${serviceManager} any more; what it remembers is still in ${settings.dataDir}.`,
  );
}

/** Says whether the service is installed and runs. @throws {CliFailure} when it is not, so that scripts can tell. */
async function serviceStatus(options: Flags): Promise<void> {
  const settings = settingsOf(options);
  const definition = definitionOf(options);
  const { file, show, serviceManager } = definition;
  const active = isRunning(definition);
  if (show ? !active : !existsSync(file))
    throw new CliFailure(
      `memoryd is not a service of ${serviceManager}; \`memoryd service install\` makes it one.`,
    );
  const daemon = await findDaemon(settings.dataDir);
  printTable([
    ["service", show ? serviceManager : `${serviceManager}, ${file}`],
    ["state", active ? "active" : "not active"],
    ["daemon", daemon === undefined ? "does not answer" : daemon.url],
  ]);
  if (daemon === undefined)
    throw new CliFailure(
      `The service is installed, but no daemon answers for ${settings.dataDir}; see \`memoryd logs\`.`,
    );
}

function definitionOf(options: Flags): ServiceDefinition {
  const program = installedProgram("memoryd service install");
  const command = [
    program.node,
    program.launcher,
    "start",
    "--log-to-file",
    ...(options.config === undefined ? [] : ["--config", resolve(options.config)]),
    // Variables of this terminal are not those of the service.
    ...dataDirWords(options),
  ];
  const definition = definitionHere(command);
  if (definition !== undefined) return definition;
  throw new CliFailure(
    `There is no service for ${process.platform} here; have your system run \`${command.join(" ")}\`.`,
  );
}

/** The service of this system and user; undefined where there are none that are known. */
function definitionHere(command: readonly string[]): ServiceDefinition | undefined {
  return serviceDefinition({
    platform: process.platform,
    home: homedir(),
    configFolder: process.env["XDG_CONFIG_HOME"] || undefined,
    command,
    user: process.platform === "win32" ? run({ words: ["whoami"] }) : String(userInfo().uid),
    temporaryFolder: tmpdir(),
  });
}

/** @throws {CliFailure} where nothing looks after programs of this user. */
function requireServiceManager({ probe, serviceManager }: ServiceDefinition): void {
  const { fault } = attempt(probe);
  if (fault === undefined) return;
  throw new CliFailure(
    `${serviceManager} does not look after programs of this user here (${fault}), which is usual in containers and without a login of your own; \`memoryd start --detach\` runs memoryd without it.`,
  );
}

/** Whether the service is installed and, where the service manager knows, runs. */
export const isRunning = ({ status }: Pick<ServiceDefinition, "status">): boolean =>
  attempt(status).fault === undefined;

/** Runs it. Returns what it printed. */
function run(command: ServiceCommand): string {
  const { printed, fault } = attempt(command);
  if (fault === undefined || command.mayFail === true) return printed;
  throw new CliFailure(`\`${command.words.join(" ")}\` failed: ${fault}.`);
}

/** Runs it, without a shell: what it printed, and why it failed. */
function attempt({ words: [program, ...words] }: ServiceCommand) {
  const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: "utf8" });
  const fault = error?.message ?? stderr.trim().split("\n")[0]?.replace(/\.$/, "") ?? "";
  return { printed: (stdout ?? "").trim(), fault: status === 0 ? undefined : fault };
}

const POLL_MS = 100;
const SHOWN_LINES = 10;

/**
 * Has the service manager start the daemon, and waits until it is ready.
 * @param otherwise the first sentence where it does not become ready.
 * @throws {CliFailure} why it did not start, with the end of its log.
 */
export async function startByServiceManager(
  definition: ServiceDefinition,
  commands: readonly ServiceCommand[],
  dataDir: string,
  otherwise: string,
): Promise<Daemon> {
  const inspect = definition.inspect.words.join(" ");
  const deadline = Date.now() + START_TIMEOUT_MS;
  const news = newLines(dataDir);
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
    // The other service managers do not say whether it runs.
    if (definition.serviceManager === "systemd" && !isRunning(definition))
      throw didNotStart(otherwise, `It ended while it started; \`${inspect}\` says more.`, log);
    if (Date.now() > deadline)
      throw didNotStart(
        otherwise,
        `It is not ready yet; \`${inspect}\` shows what ${definition.serviceManager} knows.`,
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
  const { err } = Object(jsonOf(line)) as { readonly err?: { readonly message?: unknown } };
  return typeof err?.message === "string" ? err.message : "It failed while it started.";
}

/** The service as it was installed, by whichever version of this program. */
export interface InstalledService {
  readonly definition: ServiceDefinition;
  readonly node: string;
  readonly launcher: string;
  readonly words: readonly string[];
}

/** The service that starts the daemon of a data directory; undefined where there is none, or it starts another's. */
export function serviceOf(settings: Settings): InstalledService | undefined {
  const definition = definitionHere([]);
  if (definition === undefined) return undefined;
  const { file, show } = definition;
  const shown = show && (isRunning(definition) ? run(show) : "");
  const text = shown ?? readIfThere(file) ?? "";
  const [node, launcher, ...words] = commandIn(process.platform, text) ?? [];
  if (node === undefined || launcher === undefined) return undefined;
  return dataDirOf(words) === settings.dataDir ? { definition, node, launcher, words } : undefined;
}

/** Undefined where its configuration cannot be read, which a start would say. */
function dataDirOf(words: readonly string[]): string | undefined {
  try {
    // The variables of this terminal are not those of the service.
    return readSettings({ ...readStartWords(words), env: {} }).dataDir;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Why the service cannot start its daemon; undefined if it can. */
export function faultOf({ node, launcher }: InstalledService): string | undefined {
  const gone = [node, launcher].find((path) => !existsSync(path));
  return gone === undefined ? undefined : `it starts ${gone}, which is gone`;
}
