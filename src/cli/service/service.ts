import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Settings } from "../../config.ts";
import { logFileOf } from "../../rotating-log.ts";
import { CliFailure } from "../cli-failure.ts";
import { dataDirWords } from "../daemon-options.ts";
import { findDaemon } from "../daemon-client.ts";
import { installedProgram } from "../installed-program.ts";
import { print, printTable } from "../output.ts";
import { stop } from "../stop.ts";
import { definitionHere, isRunning, requireKeeper, run } from "./keeper.ts";
import type { ServiceDefinition } from "./service-definition.ts";

export interface ServiceOptions {
  readonly print?: boolean;
  /** The configuration file that was named. */
  readonly config?: string;
  readonly dataDir?: string;
}

/** Has the system start the daemon when the user logs in, and again when it crashes. */
export async function installService(settings: Settings, options: ServiceOptions): Promise<void> {
  const definition = definitionOf(settings, options);
  if (options.print === true) {
    const words = definition.install.map(({ words }) => `  ${words.join(" ")}`).join("\n");
    print(
      `This would be written to ${definition.file}:\n\n${definition.text.trim()}\n\nand then run:\n\n${words}`,
    );
    return;
  }
  requireKeeper(definition);
  // Two daemons cannot have one data directory; the service's own is started anew by the commands below.
  if (!isRunning(definition) && (await findDaemon(settings.dataDir)) !== undefined) await stop(settings);

  const { file, text, encoding, isKept, install, keeper } = definition;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { encoding, mode: 0o644 });
  try {
    for (const command of install) run(command);
  } finally {
    if (!isKept) rmSync(file, { force: true });
  }
  print(`memoryd runs, and ${keeper} starts it when you log in.`);
  printTable([
    ...(isKept ? [["file", file] as const] : []),
    ["data", settings.dataDir],
    ["log", logFileOf(settings.dataDir)],
  ]);
  if (keeper === "systemd") print("To have it run while you are not logged in, too: loginctl enable-linger");
}

/** Takes that back; what is stored stays. */
export async function uninstallService(settings: Settings, options: ServiceOptions): Promise<void> {
  const definition = definitionOf(settings, options);
  const { file, isKept, uninstall, forget, keeper } = definition;
  const isThere = isKept ? existsSync(file) : isRunning(definition);
  if (!isThere) {
    print(`memoryd is not a service of ${keeper}.`);
    return;
  }
  // On Windows the daemon is no child of the task.
  if (!isKept && (await findDaemon(settings.dataDir)) !== undefined) await stop(settings);
  for (const command of uninstall) run(command);
  rmSync(file, { force: true });
  for (const command of forget) run(command);
  print(`memoryd is no service of ${keeper} any more; what it remembers is still in ${settings.dataDir}.`);
}

/** Says whether the service is installed and runs. @throws {CliFailure} when it is not, so that scripts can tell. */
export async function serviceStatus(settings: Settings, options: ServiceOptions): Promise<void> {
  const definition = definitionOf(settings, options);
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

function definitionOf(settings: Settings, options: ServiceOptions): ServiceDefinition {
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
  const definition = definitionHere(command, settings);
  if (definition !== undefined) return definition;
  throw new CliFailure(
    `There is no service for ${process.platform} here; have your system run \`${command.join(" ")}\`.`,
  );
}
