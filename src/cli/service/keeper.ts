import { spawnSync } from "node:child_process";
import { homedir, tmpdir, userInfo } from "node:os";
import { SHUTDOWN_MS } from "../../config/limits.ts";
import { CliFailure } from "../output/output.ts";
import { type Command, commandIn, type ServiceDefinition, serviceDefinition } from "./service-definition.ts";
import { setTimeout as wait } from "node:timers/promises";
import { START_TIMEOUT_MS } from "../commands/start-detached.ts";
import { type Daemon, findDaemon } from "../connect.ts";
import { endOfLog, newLines } from "../output/log-lines.ts";
import { existsSync, readFileSync } from "node:fs";
import { ConfigError, readSettings, type Settings } from "../../config/config.ts";
import { readStartWords } from "../../config/start-words.ts";
import { isMissing } from "../../config/system-error.ts";

/** The service of this system and user; undefined where there are none that are known. */
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

/** The service as it was installed, by whichever version of this program. */
export interface InstalledService {
  readonly definition: ServiceDefinition;
  readonly node: string;
  readonly launcher: string;
  readonly words: readonly string[];
}

/** The service that starts the daemon of a data directory; undefined where there is none, or it starts another's. */
export function serviceOf(settings: Settings): InstalledService | undefined {
  const service = installedService();
  return service !== undefined && dataDirOf(service) === settings.dataDir ? service : undefined;
}

function installedService(): InstalledService | undefined {
  const definition = definitionHere([]);
  if (definition === undefined) return undefined;
  const text = textOf(definition);
  const [node, launcher, ...words] = (text && commandIn(process.platform, text)) || [];
  if (node === undefined || launcher === undefined) return undefined;
  return { definition, node, launcher, words };
}

function textOf({ file, isKept, show, ...definition }: ServiceDefinition): string | undefined {
  if (show !== undefined) return isRunning(definition) ? run(show) : undefined;
  try {
    return isKept ? readFileSync(file, "utf8") : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Undefined where its configuration cannot be read, which a start would say. */
function dataDirOf({ words }: InstalledService): string | undefined {
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
