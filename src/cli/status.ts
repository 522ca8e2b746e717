import { type Static, Type } from "typebox";
import { CliFailure } from "./cli-failure.ts";
import { findDaemon, notRunning } from "./daemon-client.ts";
import { print, printJson, printTable } from "./output.ts";

const Health = Type.Object({
  status: Type.String(),
  version: Type.String(),
  memory_count: Type.Integer(),
  embedding: Type.Object({ model: Type.String(), dimensions: Type.Integer() }),
});

export interface StatusOptions {
  readonly json?: boolean;
}

/** Prints what runs on a data directory, if anything does. */
export async function status(dataDir: string, { json = false }: StatusOptions): Promise<void> {
  const daemon = await findDaemon(dataDir);
  if (daemon === undefined) {
    if (json) printJson({ running: false, data_dir: dataDir });
    throw new CliFailure(notRunning(dataDir));
  }

  const health = await daemon.call(Health, "GET", "/health");
  const { pid, startedAt } = daemon.runtime;
  if (json) {
    printJson({
      running: true,
      url: daemon.url,
      pid,
      started_at: new Date(startedAt).toISOString(),
      data_dir: dataDir,
      ...health,
    });
    return;
  }
  print(`memoryd is running (${health.status})`);
  printTable(summary(health, { url: daemon.url, dataDir, pid, startedAt }));
}

function summary(
  { version, memory_count, embedding }: Static<typeof Health>,
  { url, dataDir, pid, startedAt }: { url: string; dataDir: string; pid: number; startedAt: number },
): [string, string][] {
  return [
    ["listening", url],
    ["data", dataDir],
    ["model", `${embedding.model} (${embedding.dimensions} dimensions)`],
    ["memories", String(memory_count)],
    ["version", version],
    ["process", `${pid}, for ${inWords(Date.now() - startedAt)}`],
  ];
}

/** The two largest units of a duration, such as `3 h 12 min`. */
function inWords(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
