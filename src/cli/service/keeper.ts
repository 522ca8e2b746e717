import { spawnSync } from "node:child_process";
import { homedir, tmpdir, userInfo } from "node:os";
import { SHUTDOWN_MS } from "../../config/limits.ts";
import { CliFailure } from "../output/cli-failure.ts";
import { type Command, type ServiceDefinition, serviceDefinition } from "./service-definition.ts";

/**
 * The service of this system and user; undefined where there are none that are known.
 * @param command of Node, of the launcher, and its arguments.
 */
export function definitionHere(command: readonly string[]): ServiceDefinition | undefined {
  return serviceDefinition({
    platform: process.platform,
    home: homedir(),
    configFolder: process.env["XDG_CONFIG_HOME"] || undefined,
    command,
    stopTimeoutMs: SHUTDOWN_MS,
    user: process.platform === "win32" ? run({ words: ["whoami"] }) : String(userInfo().uid),
    temporaryFolder: tmpdir(),
  });
}

/** @throws {CliFailure} where nothing looks after programs of this user. */
export function requireKeeper({ probe, keeper }: ServiceDefinition): void {
  const { status, stderr, error } = spawnSync(probe.words[0], probe.words.slice(1), { encoding: "utf8" });
  if (status === 0) return;
  const why = error?.message ?? firstLine(stderr);
  throw new CliFailure(
    `${keeper} does not look after programs of this user here (${why}), which is usual in containers and without a login of your own; \`memoryd start --detach\` runs memoryd without it.`,
  );
}

/** Whether the service is installed and, where the keeper knows, runs. */
export function isRunning({ status }: Pick<ServiceDefinition, "status">): boolean {
  return spawnSync(status.words[0], status.words.slice(1), { stdio: "ignore" }).status === 0;
}

/** Without a shell. Returns what it printed. */
export function run({ words: [program, ...words], mayFail = false }: Command): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: "utf8" });
  if (status === 0 || mayFail) return (stdout ?? "").trim();
  throw new CliFailure(
    `\`${[program, ...words].join(" ")}\` failed: ${error?.message ?? firstLine(stderr)}.`,
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0]?.replace(/\.$/, "") ?? "";
}
