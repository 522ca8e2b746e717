import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { type Config, ConfigError, type Settings, setVariables } from "../../config/config.ts";
import { incompleteProgram, messageOf, pathFault } from "../../config/narrow.ts";
import { ServiceError } from "../../core/errors.ts";
import { makeFolder } from "../../files/own-files.ts";
import { logFileOf } from "../../daemon/rotating-log.ts";
import { launcherPath } from "../installed-program.ts";
import { CliFailure, print, printTable } from "../output/output.ts";

/**
 * Limits of memory that a daemon in the background can do without: a young generation of three times 16 MB, and the C library's pools of
 * freed memory, one a thread. Of 360 MB at 1 200 memories 60 less, of 465 at 100 000 50, in the same processor time; neither can
 * be set once it runs.
 */
const LEAN_FLAGS = ["--max-semi-space-size=4"];
export const LEAN_VARIABLES = { MALLOC_ARENA_MAX: "2" };

/** The outcome of a start, as a detached daemon sends it to the command that started it, once. */
export type StartReport =
  | { readonly kind: "ready"; readonly summary: readonly (readonly [string, string])[] }
  | {
      readonly kind: "failed";
      readonly message: string;
      /** Trying again may help: another daemon held the directory, or this one is slow. */
      readonly mayPass?: boolean;
      /** Another program has the port. */
      readonly isPortTaken?: boolean;
    };

/** Reading a large store back after a crash takes its time; a start that needs longer is stuck. */
export const START_TIMEOUT_MS = 120_000;

/** Standard error goes to the same file, for messages of a crash in native code. */
const LOG_TO_FILE = "--log-to-file";

/**
 * Starts the daemon as a process of its own session, which outlives the terminal, and waits until it is ready. Its
 * log is `memoryd.log` in the data directory.
 * @param command the arguments of this program, with `--detach` among them.
 */
export async function startDetached(config: Config, command: readonly string[]): Promise<void> {
  const outcome = await spawnDaemon(
    config,
    command.filter((word) => word !== "--detach"),
  );
  if (outcome.kind === "failed") throw new CliFailure(outcome.message);
  print("memoryd is ready, and runs until `memoryd stop`");
  printTable(outcome.summary);
}

/** Like `startDetached`, without output; `env`: its variables, where not those of this process. */
export async function spawnDaemon(
  settings: Pick<Settings, "dataDir">,
  command: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<StartReport> {
  const { dataDir } = settings;
  const logFile = logFileOf(dataDir);
  const log = openIn(dataDir, () => {
    makeFolder(dataDir);
    return openSync(logFile, "a", 0o600);
  });
  setVariables(LEAN_VARIABLES);
  const words = [...LEAN_FLAGS, ...process.execArgv, launcherPath(), ...command, LOG_TO_FILE];
  const child = spawn(process.execPath, words, {
    detached: true,
    windowsHide: true,
    stdio: ["ignore", log, log, "ipc"],
    ...(env !== undefined && { env: { ...LEAN_VARIABLES, ...env } }),
  });
  closeSync(log);

  const report = await reportOf(child, logFile);
  if (child.connected) child.disconnect();
  child.unref();
  if (report.kind === "failed") return report;
  const pid = ["process", String(child.pid)] as const;
  return { kind: "ready", summary: [...report.summary, pid, ["log", logFile]] };
}

/** Opens a file in the data directory. @throws {CliFailure} that explains why it cannot be opened. */
export function openIn<T>(dataDir: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new CliFailure(explainStartFailure(error, dataDir), { cause: error });
  }
}

function reportOf(child: ChildProcess, logFile: string): Promise<StartReport> {
  return new Promise((resolve) => {
    const settle = (report: StartReport): void => {
      clearTimeout(timer);
      resolve(report);
    };
    const fail = (message: string): void => settle({ kind: "failed", message });
    const timer = setTimeout(() => {
      const message = `memoryd (process ${child.pid}) is not ready yet and goes on starting; its log is ${logFile}.`;
      settle({ kind: "failed", message, mayPass: true });
    }, START_TIMEOUT_MS);
    child.once("message", (report) => settle(report as StartReport));
    child.once("error", (error) => fail(`memoryd could not be started: ${error.message}.`));
    child.once("exit", (code, signal) =>
      fail(`memoryd ended while it started (${signal ?? `exit code ${code}`}); its log is ${logFile}.`),
    );
  });
}

/** One sentence on why the daemon did not start and what to do about it, whatever was thrown. */
export function explainStartFailure(error: unknown, dataDir: string): string {
  const incomplete = incompleteProgram(error);
  if (incomplete !== undefined) return incomplete;
  if (error instanceof ServiceError || error instanceof ConfigError) return error.message;

  const cause = systemErrorOf(error);
  const fault = cause && pathFault(cause);
  if (fault !== undefined)
    return `The data directory ${dataDir} cannot be used: ${fault}; mend that, or name another with --data-dir.`;
  if (cause?.code === "EMFILE" || cause?.code === "ENFILE")
    return "Too many files are open; raise the limit (`ulimit -n 4096`) and start again.";
  return `The daemon could not start: ${messageOf(cause ?? error)} (--log-level debug shows more).`;
}

/** The error of Node behind an error of ours; undefined if there is none. */
export function systemErrorOf(error: unknown): NodeJS.ErrnoException | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && "syscall" in error)
    return error as NodeJS.ErrnoException;
  return systemErrorOf(error.cause);
}
