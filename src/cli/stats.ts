import { FactStatsReply } from "../schemas/read-facts.ts";
import { StatsReply } from "../schemas/system.ts";
import { connect } from "./daemon-client.ts";
import { print, printJson, printTable } from "./output.ts";

/** Prints how much is stored, and of what kinds. */
export async function printStats(dataDir: string, { json }: { readonly json?: boolean }): Promise<void> {
  const daemon = await connect(dataDir);
  const { memory_count, sectors, documents, store } = await daemon.call(StatsReply, "GET", "/stats");
  const facts = await daemon.call(FactStatsReply, "GET", "/api/temporal/stats");
  if (json === true)
    return printJson({ memory_count, sectors, documents, facts, disk_bytes: store.disk_bytes });
  print(store.data_dir);
  printTable([
    ["memories", String(memory_count)],
    ...Object.entries(sectors).map(([name, count]): [string, string] => [`  ${name}`, String(count)]),
    ["facts", `${facts.active_facts} now, ${facts.total_facts} in all`],
    ["documents", String(documents.count)],
    ["jobs", `${documents.jobs_running} running, ${documents.jobs_waiting} waiting`],
    ["on disk", `${(store.disk_bytes / 1e6).toFixed(1)} MB`],
  ]);
}
