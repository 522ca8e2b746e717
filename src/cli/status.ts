import { arrayOf, boolean, type Formed, integer, optional, record, string } from "../json-form.ts";
import { CliFailure } from "./cli-failure.ts";
import { type DaemonClient, findDaemon, notRunning } from "./daemon-client.ts";
import { print, printJson, printTable } from "./output.ts";

export interface StatusOptions {
  readonly json?: boolean;
}

const Stats = record({
  version: string,
  ready: boolean,
  not_ready: arrayOf(string),
  memory_count: integer,
  embedding: record({ model: string, dimensions: integer }),
  store: record({
    data_dir: string,
    disk_bytes: integer,
    unerased: integer,
    read_only: boolean,
    adds_refused: optional(string),
  }),
});
type Stats = Formed<typeof Stats>;

/** Prints what runs on a data directory. @throws {CliFailure} when nothing does, so that scripts can tell. */
export async function status(dataDir: string, { json = false }: StatusOptions): Promise<void> {
  const daemon = await findDaemon(dataDir);
  if (daemon === undefined) {
    if (json) printJson({ running: false, data_dir: dataDir });
    throw new CliFailure(notRunning(dataDir));
  }

  const stats = await daemon.call(Stats, "GET", "/stats");
  if (json) {
    printJson({ running: true, url: daemon.url, pid: daemon.runtime.pid, ...stats });
    return;
  }
  print(
    stats.ready ? "memoryd is running" : `memoryd is running, but not ready: ${stats.not_ready.join(" ")}`,
  );
  printTable(summary(stats, daemon));
}

function summary(stats: Stats, { url, runtime }: DaemonClient): [string, string][] {
  const { embedding, store } = stats;
  return [
    ["listening", url],
    ["data", `${store.data_dir} (${inMegabytes(store.disk_bytes)})`],
    ...(store.unerased === 0
      ? []
      : [["to erase", `${store.unerased} deleted or replaced; see \`memoryd compact\``] as [string, string]]),
    ["model", `${embedding.model} (${embedding.dimensions} dimensions)`],
    ["memories", String(stats.memory_count)],
    ["writes", writes(store)],
    ["version", stats.version],
    ["process", `${runtime.pid}, for ${inWords(Date.now() - runtime.startedAt)}`],
  ];
}

function writes({ read_only, adds_refused }: Stats["store"]): string {
  if (read_only) return "refused until a restart";
  return adds_refused === undefined ? "accepted" : `refused: ${adds_refused}`;
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
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
