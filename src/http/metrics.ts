/** Figures for Prometheus. Labels are patterns of routes, methods, statuses and words of ours: no name, no id, no text. */
import type { FastifyInstance } from "fastify";
import type { ServiceStatus } from "../core/status.ts";

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Seconds; a question takes some 40 ms, a recording minutes. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Labels = Readonly<Record<string, string | number>>;

interface Durations {
  readonly labels: Labels;
  /** By bucket, not cumulative; the last one is beyond all. */
  readonly counts: number[];
  sum: number;
}

/** Counts the answers of an app, of requests that no route takes as one; the returned function writes them down. */
export function countRequests(app: FastifyInstance): () => string {
  const requests = new Map<string, { readonly labels: Labels; count: number }>();
  const durations = new Map<string, Durations>();
  app.addHook("onResponse", async ({ method, routeOptions }, { statusCode: status, elapsedTime }) => {
    const { url: route } = routeOptions;
    const which = route === undefined ? { method: "", route: "" } : { method, route };
    const labels = { ...which, status };
    const counted = entryOf(requests, labels, () => ({ labels, count: 0 }));
    counted.count += 1;
    const timed = entryOf(durations, which, () => ({
      labels: which,
      counts: BUCKETS.concat(Infinity).map(() => 0),
      sum: 0,
    }));
    const seconds = elapsedTime / 1_000;
    const bucket = BUCKETS.findIndex((limit) => seconds <= limit);
    const index = bucket === -1 ? BUCKETS.length : bucket;
    timed.counts[index] = (timed.counts[index] ?? 0) + 1;
    timed.sum += seconds;
  });
  return () =>
    metric(
      "http_requests_total",
      "counter",
      "Answered requests.",
      [...requests.values()].map(({ labels, count }) => [labels, count]),
    ) +
    histogram("http_request_duration_seconds", "From a request's headers to the end of its answer.", [
      ...durations.values(),
    ]);
}

/** Figures of a status and of the process. */
export function statusMetrics({ store, documents, embeddingQueue, node, ...status }: ServiceStatus): string {
  const gauge = (name: string, help: string, value: number | boolean) =>
    metric(name, "gauge", help, [[{}, Number(value)]]);
  const counter = (name: string, help: string, value: number) => metric(name, "counter", help, [[{}, value]]);
  const { user, system } = process.cpuUsage();
  return [
    metric("info", "gauge", "The version that runs.", [[{ version: status.version }, 1]]),
    gauge("start_time_seconds", "When the daemon started, Unix time.", status.startedAt / 1_000),
    gauge("ready", "Whether everything can be answered.", status.notReady.length === 0),
    gauge("adds_refused", "Whether adding is refused, as on a full disk.", store.addsRefused !== null),
    gauge("read_only", "Whether all writes are refused until a restart.", store.readOnly),
    gauge("memories", "Memories of all users.", status.memoryCount),
    gauge("documents", "Documents of all users.", documents.count),
    metric("jobs", "gauge", "Documents that are processed, or wait for it.", [
      [{ state: "waiting" }, documents.jobsWaiting],
      [{ state: "running" }, documents.jobsRunning],
    ]),
    gauge("embedding_queue", "Texts that wait to be embedded.", embeddingQueue.waiting),
    gauge("embedding_workers", "Threads that embed.", embeddingQueue.workers),
    gauge("store_bytes", "Tables and journal on the disk.", store.diskBytes),
    gauge("journal_bytes", "The journal on the disk.", store.journalBytes),
    gauge("pending_rows", "Rows in the journal and not yet in the tables.", store.pendingRows),
    gauge("pending_bytes", "The same in bytes.", store.pendingBytes),
    gauge("unpurged_items", "Deleted and replaced items that are in files yet.", store.unerased),
    counter("checkpoints_total", "Checkpoints over the life of the store.", store.checkpoints),
    counter("records_total", "Writes over the life of the store.", Number(store.position.split(".")[1])),
    ...(node === undefined
      ? []
      : [
          gauge("open_users", "Users that this node has in memory.", node.users),
          gauge("open_users_bytes", "About what they take of memory.", node.bytes),
          counter("user_loads_total", "Users loaded from the database since the start.", node.loads),
          counter(
            "overtaken_total",
            "Writes decided again because another node was faster.",
            node.overtakings,
          ),
        ]),
    gauge("resident_memory_bytes", "Memory of the daemon's process.", process.memoryUsage.rss()),
    counter("cpu_seconds_total", "Time of processors that the daemon's process took.", (user + system) / 1e6),
  ].join("");
}

function entryOf<T>(entries: Map<string, T>, labels: Labels, make: () => T): T {
  const key = JSON.stringify(labels);
  const known = entries.get(key) ?? make();
  entries.set(key, known);
  return known;
}

function metric(
  name: string,
  type: "counter" | "gauge",
  help: string,
  samples: readonly (readonly [Labels, number])[],
): string {
  const lines = samples.map(([labels, value]) => sample(name, labels, value));
  return `${header(name, type, help)}${lines.join("")}`;
}

function histogram(name: string, help: string, all: readonly Durations[]): string {
  const lines = all.flatMap(({ labels, counts, sum }) => {
    let total = 0;
    const buckets = counts.map((count, i) => {
      total += count;
      return sample(`${name}_bucket`, { ...labels, le: BUCKETS[i] ?? "+Inf" }, total);
    });
    return [...buckets, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, total)];
  });
  return `${header(name, "histogram", help)}${lines.join("")}`;
}

const header = (name: string, type: string, help: string): string =>
  `# HELP memoryd_${name} ${help}\n# TYPE memoryd_${name} ${type}\n`;

function sample(name: string, labels: Labels, value: number): string {
  // No label has a character that would need an escape.
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `memoryd_${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}
