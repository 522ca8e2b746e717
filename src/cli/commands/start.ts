import { setTimeout as wait } from "node:timers/promises";
import type { Config } from "../../config/config.ts";
import { ServiceError } from "../../core/errors.ts";
import type { RunningDaemon, startDaemon } from "../../daemon/daemon.ts";
import { createLogger, type Logger } from "../../daemon/system.ts";
import { SHUTDOWN_MS } from "../../config/limits.ts";
import { logFileOf, openRotatingLog } from "../../daemon/rotating-log.ts";
import { baseUrl, isEveryAddress } from "../../daemon/runtime-file.ts";
import { captureEnded } from "../hooks/capture.ts";
import { complain, EXIT, type ExitCode, print, printTable } from "../output/output.ts";
import { explainStartFailure, openIn, type StartReport, systemErrorOf } from "./start-detached.ts";

/** The type of `startDaemon`, which the command line imports only when it starts a daemon. */
export type StartDaemon = typeof startDaemon;

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs the daemon in this process until a signal ends it. The first signal stops it with the configured deadline, a
 * second at once: nothing that was answered is lost either way.
 */
export async function start(
  config: Config,
  startDaemon: StartDaemon,
  {
    logToFile = false,
    stopMs = SHUTDOWN_MS,
  }: { readonly logToFile?: boolean; readonly stopMs?: number } = {},
): Promise<void> {
  const log = createLogger(
    config.logLevel,
    logToFile ? openIn(config.dataDir, () => openRotatingLog(logFileOf(config.dataDir))) : undefined,
  );
  exitOnBugs(log);

  let starting: Promise<RunningDaemon> | undefined;
  let isStopping = false;
  const requestStop = (cause: string): void => {
    if (isStopping) {
      log.warn({ cause }, "stopping at once");
      process.exit(EXIT.failure);
    }
    isStopping = true;
    log.info({ cause }, "stopping");
    void stopWithin(stopMs, starting, log).then((code) => process.exit(code));
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => requestStop(signal));

  try {
    starting = startDaemon(
      config,
      log,
      () => requestStop("request"),
      logToFile ? logFileOf(config.dataDir) : undefined,
    );
    const daemon = await starting;
    // A signal came while it started: the stop is on its way, and "ready" would be a lie.
    if (isStopping) return;
    announce(daemon, config, log);
    await captureEnded(config.dataDir);
  } catch (error) {
    log[logToFile ? "error" : "debug"]({ err: error }, "start failed");
    const message = explainStartFailure(error, config.dataDir);
    if (process.send === undefined) complain(message);
    const isOurs = error instanceof ServiceError;
    report({
      kind: "failed",
      message,
      mayPass: isOurs && error.retryAfterSeconds !== undefined,
      isPortTaken: systemErrorOf(error)?.code === "EADDRINUSE",
    });
    process.exit(EXIT.failure);
  }
}

function announce(daemon: RunningDaemon, config: Config, log: Logger): void {
  const { version, memoryCount, embedding, store } = daemon.status();
  const summary: (readonly [string, string])[] = [
    [
      "listening",
      isEveryAddress(daemon.address)
        ? `${baseUrl(daemon)}, and every other address of this machine`
        : baseUrl(daemon),
    ],
    ["data", config.dataDir],
    ["model", `${embedding.model} (${embedding.dimensions} dimensions)`],
    ["memories", String(memoryCount)],
    ...(store.addsRefused === null ? [] : [["writes", `refused: ${store.addsRefused}`] as const]),
    ["version", version],
  ];
  for (const text of config.warnings) summary.push(["warning", text]);
  for (const text of config.warnings) log.warn({ warning: text }, "setting ignored");
  log.info({ port: daemon.port, memories: memoryCount, version }, "ready");
  if (process.send === undefined) {
    print("memoryd is ready");
    printTable(summary);
  }
  report({ kind: "ready", summary });
}

function report(message: StartReport): void {
  // The process that started this one may have ended meanwhile.
  if (process.connected) process.send?.(message, () => {});
}

/** Resolves to the exit code, at the deadline at the latest. */
async function stopWithin(
  timeoutMs: number,
  starting: Promise<RunningDaemon> | undefined,
  log: Logger,
): Promise<ExitCode> {
  const stopped = (async () => (await starting)?.stop())().then(() => "stopped" as const);
  try {
    const outcome = await Promise.race([stopped, wait(timeoutMs, "late" as const)]);
    if (outcome === "late") log.error({ timeoutMs }, "stop took too long; leaving at once");
    else log.info({}, "stopped");
    return outcome === "late" ? EXIT.failure : EXIT.success;
  } catch (error) {
    log.error({ err: error }, "stop failed");
    return EXIT.failure;
  }
}

/** A state that nobody thought of is not worth going on with: what was answered is in the journal, and a restart reads it. */
function exitOnBugs(log: Logger): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error, event }, "unexpected error");
      process.exit(EXIT.failure);
    });
  }
}
