import { setTimeout as wait } from "node:timers/promises";
import type { Settings } from "../config.ts";
import type { FinishedCompaction } from "../core/compaction.ts";
import { arrayOf, boolean, type Formed, integer, number, optional, record, string } from "../json-form.ts";
import { formatTime } from "../schemas/time.ts";
import { CliFailure } from "./cli-failure.ts";
import { type DaemonClient, findDaemon } from "./daemon-client.ts";
import { complain, print, printJson, printTable, showProgress } from "./output.ts";
import { plural } from "./plural.ts";

export interface CompactOptions {
  readonly now?: boolean;
  readonly json?: boolean;
}

const Usage = record({ bytes: integer, files: integer });
const Compaction = record({
  waiting: optional(record({ items: integer, since: string })),
  running: optional(record({ stage: string, done: integer, total: integer })),
  last: optional(
    record({
      started_at: string,
      took_ms: number,
      problem: optional(string),
      tables: optional(arrayOf(record({ table: string, rows: integer, before: Usage, after: Usage }))),
      journal: optional(record({ before: Usage, after: Usage })),
      originals: optional(Usage),
    }),
  ),
});
const Started = record({ started: boolean });

type Compaction = Formed<typeof Compaction>;
type Finished = NonNullable<Compaction["last"]>;

const POLL_MS = 250;

/** Erases what was deleted from the disk, in the daemon if it runs, or says what waits for that. */
export async function compact(
  { dataDir, logLevel, compactAfterMinutes }: Settings,
  { now = false, json = false }: CompactOptions,
): Promise<void> {
  const daemon = await findDaemon(dataDir);
  if (!now) return await sayWhatWaits(dataDir, daemon, { json, compactAfterMinutes });
  const finished =
    daemon === undefined ? await compactHere(dataDir, logLevel) : await compactInDaemon(daemon);
  showProgress("");
  if (finished.problem !== undefined) throw new CliFailure(finished.problem);
  if (json) printJson(finished);
  else printReport(finished);
}

async function sayWhatWaits(
  dataDir: string,
  daemon: DaemonClient | undefined,
  { json, compactAfterMinutes }: { readonly json: boolean; readonly compactAfterMinutes: number },
): Promise<void> {
  if (daemon === undefined)
    throw new CliFailure(
      `memoryd is not running on ${dataDir}; \`memoryd compact --now\` erases what was deleted all the same.`,
    );
  const status = await daemon.call(Compaction, "GET", "/compact");
  if (json) return printJson(status);
  if (status.running !== undefined) print(`erasing: ${inWords(status.running)}`);
  else if (status.waiting === undefined) print("nothing that was deleted is left on the disk");
  else {
    const when =
      compactAfterMinutes === 0 ? "" : `, ${plural(compactAfterMinutes, "minute")} after that by itself, or`;
    const isOne = status.waiting.items === 1;
    print(
      `${status.waiting.items} deleted or replaced since ${status.waiting.since} ${isOne ? "is" : "are"} left on the disk; ` +
        `${isOne ? "it goes" : "they go"}${when} with \`memoryd compact --now\``,
    );
  }
}

/** What was deleted before the call is gone after it, also where one ran already that had begun before. */
async function compactInDaemon(daemon: DaemonClient): Promise<Finished> {
  process.once("SIGINT", () => {
    showProgress("");
    complain("The daemon goes on with it; `memoryd compact` says how far it is.");
    process.exit(130);
  });
  for (;;) {
    const { started } = await daemon.call(Started, "POST", "/compact");
    const status = await untilDone(daemon);
    const { last, waiting } = status;
    if (!started && waiting !== undefined) continue;
    if (last !== undefined) return last;
    throw new CliFailure("The daemon stopped before it was through; start it and try again.");
  }
}

async function untilDone(daemon: DaemonClient): Promise<Compaction> {
  for (;;) {
    const status = await daemon.call(Compaction, "GET", "/compact");
    if (status.running === undefined) return status;
    showProgress(inWords(status.running));
    await wait(POLL_MS);
  }
}

async function compactHere(dataDir: string, logLevel: Settings["logLevel"]): Promise<Finished> {
  const { compactStopped } = await import("../compact-stopped.ts");
  const { createLogger } = await import("../log.ts");
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  try {
    const finished = await compactStopped(dataDir, {
      log: createLogger(logLevel),
      onProgress: (progress) => showProgress(inWords(progress)),
      signal: interrupt.signal,
    });
    return asAnswered(finished);
  } catch (error) {
    if (interrupt.signal.aborted) throw new CliFailure("Interrupted; nothing was changed.", { cause: error });
    throw error;
  }
}

function asAnswered({ startedAt, tookMs, report }: FinishedCompaction): Finished {
  return {
    started_at: formatTime(startedAt),
    took_ms: Math.round(tookMs),
    ...(report && { tables: [...report.tables], journal: report.journal, originals: report.originals }),
  };
}

function inWords({
  stage,
  done,
  total,
}: Pick<NonNullable<Compaction["running"]>, "stage" | "done" | "total">) {
  return stage === "copying" ? `copying what stays, ${done} of ${plural(total, "row")}` : stage;
}

function printReport({ took_ms, tables = [], journal, originals }: Finished): void {
  const before = [...tables.map((table) => table.before), ...(journal ? [journal.before] : [])];
  const after = [...tables.map((table) => table.after), ...(journal ? [journal.after] : [])];
  const bytes = (usages: readonly { readonly bytes: number }[]) =>
    usages.reduce((sum, usage) => sum + usage.bytes, 0);
  print(
    `what was deleted is erased; ${inBytes(bytes(before) + (originals?.bytes ?? 0))} became ` +
      `${inBytes(bytes(after))} in ${(took_ms / 1_000).toFixed(1)} s`,
  );
  const change = (was: { bytes: number; files: number }, is: { bytes: number; files: number }) =>
    `${inBytes(was.bytes)} in ${plural(was.files, "file")} became ${inBytes(is.bytes)} in ${is.files}`;
  printTable([
    ...tables.map(
      ({ table, rows, before, after }) =>
        [table, `${plural(rows, "deleted or replaced row")} went; ${change(before, after)}`] as const,
    ),
    ...(journal ? [["journal", change(journal.before, journal.after)] as const] : []),
    ...(originals
      ? [["originals", `${plural(originals.files, "file")} of ${inBytes(originals.bytes)} went`] as const]
      : []),
  ]);
}

function inBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
