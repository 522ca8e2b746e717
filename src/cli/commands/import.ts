import { CliFailure, EXIT, showProgress } from "../output/output.ts";
import { connect, type Daemon } from "../connect.ts";
import { type Checked, checkItem, type Owners, refusedOwners, type Sendable } from "../import/check-item.ts";
import { type ImportFormat, type Progress, skipped } from "../import/import-item.ts";
import { type ImportCounts, ImportReport } from "../import/import-report.ts";
import { type ImportSource, openSource } from "../import/open-source.ts";
import { MemorydError } from "../../client/client.ts";
import { type Outcome, sendItems, sendOriginal } from "../import/send.ts";
import type { Flags } from "../output/options.ts";

export interface ImportOptions extends Flags, Owners {
  readonly format?: ImportFormat;
  readonly allBranches?: boolean;
  readonly onlyMine?: boolean;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
}

type Link = Extract<Checked, { kind: "link" }>;

/** Records in one request: few enough that progress is seen. */
const BATCH_ITEMS = 64;
const BATCH_CHARS = 1_024 * 1_024;
const SHOW_EVERY_MS = 200;
/** Of the waypoint for a link between notes; it grows with use. */
const LINK_WEIGHT = 0.5;
const CUT_OFF =
  "memoryd stopped answering; look at `memoryd status` and its log. Run the same command again to complete the import; nothing is added twice.";

/** Imports from other programs or another memoryd; what is there already is not added again. */
export async function importFrom(path: string, options: ImportOptions): Promise<void> {
  const { format, allBranches = false, dryRun = false, json = false } = options;
  const source = await openSource(path, format, {
    allBranches,
    keepUsers: options.keepUsers === true,
    onlyMine: options.onlyMine === true,
  });
  const report = new ImportReport();
  const daemon = dryRun ? undefined : await connect(options);
  await run(source, options, report, daemon).catch((cause: unknown) => {
    const isCutOff = cause instanceof MemorydError && /^(?:UNREACHABLE|TIMEOUT)$/.test(cause.code);
    throw isCutOff ? new CliFailure(CUT_OFF, { cause }) : cause;
  });
  report.print({ json, dryRun });
  if (report.counts.failed > 0) process.exitCode = EXIT.failure;
}

/** @param daemon undefined: nothing is sent. */
async function run(
  source: ImportSource,
  options: ImportOptions,
  report: ImportReport,
  daemon: Daemon | undefined,
): Promise<void> {
  const progress: Progress = { done: 0, total: 0 };
  const leaveOut = refusedOwners();
  const show = progressLine();
  let batch: Sendable[] = [];
  let batchChars = 0;
  /** Ids of notes by their places, for the links between them. */
  const notes = new Map<string, string>();
  const note = ({ where }: Sendable, id: string) => notes.set(where, id);
  const created_at = new Date().toISOString();

  const fail = (where: string, reason: string): void => {
    if (options.strict === true) throw new CliFailure(`${where}: ${reason}. The rest was not read.`);
    report.fault(where, reason);
  };
  const made = new Set<string>();
  const count = (where: string, outcome: Outcome | undefined): void => {
    if (outcome === "repeated") report.skipped("records that stand in it twice");
    else if (typeof outcome === "string") report.counts[outcome] += 1;
    else fail(where, outcome?.fault ?? "the daemon did not answer for it");
  };
  const flush = async (): Promise<void> => {
    const [first] = batch;
    const sent = batch;
    batch = [];
    batchChars = 0;
    if (daemon === undefined || first === undefined) return;
    const isOfNotes = source.format === "markdown" && first.route === "/memory/add/batch";
    const outcomes = await sendItems(daemon, first.route, sent, made, isOfNotes ? note : undefined);
    for (const [i, { where }] of sent.entries()) count(where, outcomes[i]);
  };
  const waypointOf = async ({ where, to }: Link): Promise<Exclude<Checked, Link>> => {
    // The ids of its notes are known when they are stored.
    if (batch[0]?.route !== "/import") await flush();
    const [from, target] = [notes.get(where), notes.get(to)];
    if (daemon !== undefined && (from === undefined || target === undefined))
      return skipped(where, "links of notes that were not imported");
    const body = { type: "waypoint", source: from, target, kind: "link", weight: LINK_WEIGHT, created_at };
    return { route: "/import", where: `${where} → ${to}`, body };
  };
  const take = async (found: Checked): Promise<void> => {
    const checked = "kind" in found && found.kind === "link" ? await waypointOf(found) : found;
    if ("kind" in checked && checked.kind === "skipped") return report.skipped(checked.reason);
    if ("kind" in checked && checked.kind === "faulty") {
      if (options.strict === true) await flush();
      return fail(checked.where, checked.reason);
    }
    report.found(checked);
    if (daemon === undefined) return;
    if ("kind" in checked) {
      // The document that it belongs to goes first.
      await flush();
      return count(checked.where, await sendOriginal(daemon, checked));
    }
    const chars = JSON.stringify(checked.body).length;
    const isOther = batch[0] !== undefined && batch[0].route !== checked.route;
    if (isOther || batch.length >= BATCH_ITEMS || batchChars + chars > BATCH_CHARS) await flush();
    batch.push(checked);
    batchChars += chars;
  };

  try {
    for await (const item of source.items(progress)) {
      show(progress, report.counts);
      await take(leaveOut(item, checkItem(item, options)));
    }
    await flush();
  } finally {
    showProgress("");
  }
}

function progressLine(): (progress: Progress, counts: ImportCounts) => void {
  const beganAt = performance.now();
  let shownAt = 0;
  return ({ done, total }, { added, known, failed }) => {
    const now = performance.now();
    if (now - shownAt < SHOW_EVERY_MS) return;
    shownAt = now;
    const part = total === 0 ? 0 : Math.min(1, done / total);
    const bar = "#".repeat(Math.round(part * 20)).padEnd(20, ".");
    const rate = (added + known) / Math.max(1, (now - beganAt) / 1_000);
    const failures = failed > 0 ? ` · ${failed} failed` : "";
    showProgress(
      `[${bar}] ${Math.floor(part * 100)} % · ${added} added · ${known} known${failures} · ${Math.round(rate)}/s`,
    );
  };
}
