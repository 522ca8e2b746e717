import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DEFAULT_CONFIG_FILE, variablesOfDaemon } from "../../config/config.ts";
import { logFileOf } from "../../daemon/rotating-log.ts";
import { CliFailure, print, printTable } from "../output/output.ts";
import { dataDirWords, type Flags, settingsOf, withDataDir } from "../output/options.ts";
import type { Command } from "commander";
import { type Daemon, findDaemon, stopDaemon } from "../connect.ts";
import { installedProgram } from "../installed-program.ts";
import { definitionHere, isRunning, requireKeeper, run, startByKeeper } from "./keeper.ts";
import type { ServiceDefinition } from "./service-definition.ts";

interface ServiceFlags extends Flags {
  readonly print?: boolean;
}

export function addServiceCommands(memoryd: Command): void {
  const service = memoryd
    .command("service")
    .description("have the system start the daemon: systemd, launchd or the Task Scheduler");
  withDataDir(service.command("install").description("start it now, at each login, and after a crash"))
    .option("--print", "only show what would be written and run")
    .action(installService);
  withDataDir(
    service.command("uninstall").description("stop it and take the service away; memories stay"),
  ).action(uninstallService);
  withDataDir(service.command("status").description("say whether the service is installed and runs")).action(
    serviceStatus,
  );
}

async function installService(options: ServiceFlags): Promise<void> {
  const settings = settingsOf(options);
  const definition = definitionOf(options);
  if (options.print === true) {
    const words = definition.install.map(({ words }) => `  ${words.join(" ")}`).join("\n");
    print(
      `This would be written to ${definition.file}:\n\n${definition.text.trim()}\n\nand then run:\n\n${words}`,
    );
    return;
  }
  requireKeeper(definition);
  // Two daemons cannot have one data directory, and what is waited for below must be the new one.
  const before = await findDaemon(settings.dataDir);
  if (before !== undefined) await stopDaemon(before);

  const { file, text, encoding, isKept, install, keeper } = definition;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { encoding, mode: 0o644 });
  let daemon: Daemon;
  try {
    const otherwise = `memoryd is a service of ${keeper} now, and did not start.`;
    daemon = await startByKeeper(definition, install, settings.dataDir, otherwise);
  } finally {
    if (!isKept) rmSync(file, { force: true });
  }
  print(`memoryd runs, and ${keeper} starts it when you log in.`);
  printTable([
    ["listening", daemon.url],
    ...(isKept ? [["file", file] as const] : []),
    ["data", settings.dataDir],
    ["log", logFileOf(settings.dataDir)],
  ]);
  if (keeper === "systemd") print("To have it run while you are not logged in, too: loginctl enable-linger");
  const unseen = variablesOfDaemon().filter((name) => name !== "MEMORYD_DATA_DIR");
  if (unseen.length > 0)
    print(
      `The service does not see what this terminal sets: ${unseen.join(", ")}. Put it into ${options.config ?? DEFAULT_CONFIG_FILE}, then \`memoryd restart\`.`,
    );
}

async function uninstallService(options: ServiceFlags): Promise<void> {
  const settings = settingsOf(options);
  const definition = definitionOf(options);
  const { file, isKept, uninstall, forget, keeper } = definition;
  const isThere = isKept ? existsSync(file) : isRunning(definition);
  if (!isThere) {
    print(`memoryd is not a service of ${keeper}.`);
    return;
  }
  // On Windows the daemon is no child of the task.
  const daemon = isKept ? undefined : await findDaemon(settings.dataDir);
  if (daemon !== undefined) await stopDaemon(daemon);
  for (const command of uninstall) run(command);
  rmSync(file, { force: true });
  for (const command of forget) run(command);
  print(`memoryd is no service of ${keeper} any more; what it remembers is still in ${settings.dataDir}.`);
}

/** Says whether the service is installed and runs. @throws {CliFailure} when it is not, so that scripts can tell. */
async function serviceStatus(options: ServiceFlags): Promise<void> {
  const settings = settingsOf(options);
  const definition = definitionOf(options);
  const { file, isKept, keeper } = definition;
  const active = isRunning(definition);
  if (isKept ? !existsSync(file) : !active)
    throw new CliFailure(`memoryd is not a service of ${keeper}; \`memoryd service install\` makes it one.`);
  const daemon = await findDaemon(settings.dataDir);
  printTable([
    ["service", `${keeper}${isKept ? `, ${file}` : ""}`],
    ["keeper says", active ? "active" : "not active"],
    ["daemon", daemon === undefined ? "does not answer" : daemon.url],
  ]);
  if (daemon === undefined)
    throw new CliFailure(
      `The service is installed, but no daemon answers for ${settings.dataDir}; see \`memoryd logs\`.`,
    );
}

function definitionOf(options: ServiceFlags): ServiceDefinition {
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
