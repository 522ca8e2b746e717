import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { CliFailure } from "./cli-failure.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { print, printTable } from "./output.ts";
import type { StartReport } from "./start.ts";

/** Reading a large store back after a crash takes its time; a start that needs longer is stuck. */
const START_TIMEOUT_MS = 120_000;
/** Past this size the log is set aside at the next start, in place of the one set aside before. */
const MAX_LOG_BYTES = 10 * 1024 ** 2;

/**
 * Starts the daemon as a process of its own session, which outlives the terminal, and waits until it is ready. Its
 * log is `memoryd.log` in the data directory.
 *
 * @param command the arguments of this program, with `--detach` among them.
 */
export async function startDetached(config: Config, command: readonly string[]): Promise<void> {
  const logFile = join(config.dataDir, "memoryd.log");
  const log = openLog(config, logFile);
  const child = spawn(
    process.execPath,
    [...process.execArgv, launcher(), ...command.filter((word) => word !== "--detach")],
    {
      detached: true,
      windowsHide: true,
      stdio: ["ignore", log, log, "ipc"],
    },
  );
  closeSync(log);

  const report = await reportOf(child, logFile);
  if (report.kind === "failed") throw new CliFailure(report.message);
  child.disconnect();
  child.unref();
  print("memoryd is ready, and runs until `memoryd stop`");
  printTable([...report.summary, ["process", String(child.pid)], ["log", logFile]]);
}

function launcher(): string {
  const path = process.argv[1];
  if (path === undefined) throw new TypeError("the path of the launcher is not known");
  return path;
}

function openLog({ dataDir }: Config, path: string): number {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES)
      renameSync(path, `${path}.old`);
    return openSync(path, "a", 0o600);
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
      child.disconnect();
      child.unref();
      fail(`memoryd (process ${child.pid}) is not ready yet and goes on starting; its log is ${logFile}.`);
    }, START_TIMEOUT_MS);
    child.once("message", (report) => settle(report as StartReport));
    child.once("error", (error) => fail(`memoryd could not be started: ${error.message}.`));
    child.once("exit", (code, signal) =>
      fail(`memoryd ended while it started (${signal ?? `exit code ${code}`}); its log is ${logFile}.`),
    );
  });
}
