import { integer, mapOf, record, string } from "../json-form.ts";
import { connect } from "./daemon-client.ts";
import { print, printJson, printTable } from "./output.ts";

const Stats = record({
  memory_count: integer,
  sectors: mapOf(integer),
  documents: record({ count: integer, jobs_waiting: integer, jobs_running: integer }),
  store: record({ data_dir: string, disk_bytes: integer }),
});
const FactStats = record({ active_facts: integer, total_facts: integer });

/** Prints how much is stored, and of what kinds. */
export async function printStats(dataDir: string, { json }: { readonly json?: boolean }): Promise<void> {
  const daemon = await connect(dataDir);
  const { memory_count, sectors, documents, store } = await daemon.call(Stats, "GET", "/stats");
  const facts = await daemon.call(FactStats, "GET", "/api/temporal/stats");
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
