import type { Settings } from "../config.ts";
import { logFileOf } from "../rotating-log.ts";
import { claimStart } from "../start-claim.ts";
import { CliFailure } from "./cli-failure.ts";
import { type DaemonClient, findDaemon, notRunning } from "./daemon-client.ts";
import { print, printTable } from "./output.ts";
import { planStartAgain } from "./start-again.ts";
import { stopDaemon } from "./stop.ts";

/** Stops the daemon and starts it again, with what it was started with and what the configuration file says now. */
export async function restart(settings: Settings): Promise<void> {
  const { dataDir } = settings;
  const begun = performance.now();
  const daemon = await findDaemon(dataDir);
  const again = planStartAgain(settings, daemon);
  if (again === undefined) throw new CliFailure(notRunning(dataDir));

  const started = await withRightToStart(dataDir, async () => {
    if (daemon !== undefined) await stopDaemon(daemon, settings);
    return await again.start();
  });
  print(
    again.keeper === undefined
      ? "memoryd is ready again, and runs until `memoryd stop`"
      : `memoryd is ready again, started by ${again.keeper}`,
  );
  printTable([
    ...startedRows(started, dataDir),
    ["took", `${((performance.now() - begun) / 1_000).toFixed(1)} s`],
  ]);
}

/** Agents would start a daemon of their own as soon as there is none; meanwhile they wait for ours. */
export async function withRightToStart<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const claim = await claimStart(dataDir);
  if (claim === undefined)
    throw new CliFailure(
      `memoryd is being started on ${dataDir} at this moment; try again when it is ready.`,
    );
  try {
    return await work();
  } finally {
    await claim.release();
  }
}

export function startedRows({ url, runtime }: DaemonClient, dataDir: string): [string, string][] {
  return [
    ["listening", url],
    ["data", dataDir],
    ["version", runtime.version],
    ["process", String(runtime.pid)],
    ["log", logFileOf(dataDir)],
  ];
}
