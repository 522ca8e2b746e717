import { CliFailure, EXIT } from "../output/cli-failure.ts";
import { connect, type Daemon } from "../connect.ts";
import { type Checked, checkItem, type Owners, refusedOwners, type Sendable } from "../import/check-item.ts";
import type { OriginalItem, Progress, ImportFormat } from "../import/import-item.ts";
import { ImportReport } from "../import/import-report.ts";
import { type ImportState, NOTHING_DONE, type StateFile, stateFile } from "../import/import-state.ts";
import { type ImportSource, openSource } from "../import/open-source.ts";

import { sendItems, sendOriginal } from "../import/send.ts";
import { type Flags, settingsOf } from "../output/options.ts";
import { complain, plural, showProgress } from "../output/output.ts";

export interface ImportOptions extends Flags, Owners {
  readonly format?: ImportFormat;
  readonly allBranches?: boolean;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
}

/** Records in one request: few enough that progress is seen and little is done twice after a kill. */
const BATCH_ITEMS = 64;
const BATCH_CHARS = 1_024 * 1_024;
const SHOW_EVERY_MS = 200;

/**
 * Imports from other programs, or another memoryd. Goes on where an earlier run of the same import ended; what is there
 * already is not added again.
 */
export async function importFrom(path: string, options: ImportOptions): Promise<void> {
  const { format, allBranches = false, dryRun = false, json = false } = options;
  const source = await openSource(path, format, { allBranches, keepUsers: options.keepUsers === true });
  const report = new ImportReport();
  const { target, before } = dryRun
    ? { target: undefined, before: NOTHING_DONE }
    : await begin(path, source, options);
  const state = await run(source, options, report, target, before);
  await target?.kept.remove();
  report.print(state, before, { json, dryRun });
  if (state.failed > 0) process.exitCode = EXIT.failure;
}

async function begin(
  path: string,
  source: ImportSource,
  options: ImportOptions,
): Promise<{ readonly target: Target; readonly before: ImportState }> {
  const { user, project, tag, keepUsers, allBranches = false } = options;
  const daemon = await connect(options);
  const how = { user, project, tag, keepUsers, allBranches, format: source.format } as Owners;
  const kept = await stateFile(settingsOf(options).dataDir, path, how);
  const before = (await kept.read()) ?? NOTHING_DONE;
  if (before.items > 0) complain(`Going on after ${plural(before.items, "record")} of an earlier run.`);
  return { target: { daemon, kept }, before };
}

interface Target {
  readonly daemon: Daemon;
  readonly kept: StateFile;
}

async function run(
  source: ImportSource,
  options: ImportOptions,
  report: ImportReport,
  target: Target | undefined,
  before: ImportState,
): Promise<ImportState> {
  const state = { ...before };
  const progress: Progress = { done: 0, total: 0 };
  const leaveOut = refusedOwners();
  const show = progressLine(before);
  const interruption = watchForInterruption(target !== undefined);
  let batch: Sendable[] = [];
  let batchChars = 0;
  let items = 0;

  const fail = (where: string, reason: string): void => {
    if (options.strict === true) throw new CliFailure(`${where}: ${reason}. Nothing after it was looked at.`);
    state.failed += 1;
    report.fault(where, reason);
  };
  const flush = async (): Promise<void> => {
    const [first] = batch;
    if (target !== undefined && first !== undefined) {
      const outcomes = await sendItems(target.daemon, first.route, batch);
      for (const [i, outcome] of outcomes.entries()) {
        if (typeof outcome === "string") state[outcome] += 1;
        else fail(batch[i]?.where ?? "", outcome.fault);
      }
    }
    batch = [];
    batchChars = 0;
    state.items = items;
    if (target !== undefined && items > 0) await target.kept.write(state);
    if (interruption.isAsked)
      throw new CliFailure(`Stopped after ${plural(items, "record")}. The same command goes on from there.`);
  };
  const takeOriginal = async (original: OriginalItem): Promise<void> => {
    report.found(original);
    if (target === undefined) return;
    // Its document goes first.
    await flush();
    const outcome = await sendOriginal(target.daemon, original);
    if (typeof outcome === "string") state[outcome] += 1;
    else fail(original.where, outcome.fault);
  };
  const take = async (checked: Checked): Promise<void> => {
    if ("kind" in checked) {
      if (checked.kind === "original") await takeOriginal(checked);
      else if (checked.kind === "faulty") {
        if (options.strict === true) await flush();
        fail(checked.where, checked.reason);
      } else {
        state.skipped += 1;
        report.skipped(checked.reason);
      }
      return;
    }
    report.found(checked);
    if (target === undefined) return;
    const chars = JSON.stringify(checked.body).length;
    const isOther = batch[0] !== undefined && batch[0].route !== checked.route;
    if (isOther || batch.length >= BATCH_ITEMS || batchChars + chars > BATCH_CHARS) await flush();
    batch.push(checked);
    batchChars += chars;
  };

  try {
    for await (const item of source.items(progress)) {
      show(progress, state);
      const checked = leaveOut(item, checkItem(item, options));
      // Those of an earlier run were counted then.
      if (items >= before.items) await take(checked);
      items += 1;
    }
    await flush();
    return state;
  } finally {
    showProgress("");
    interruption.end();
  }
}

/** What Ctrl-C asks for: the first time to stop after what is under way, the second time at once. */
function watchForInterruption(isSending: boolean): { readonly isAsked: boolean; end(): void } {
  let isAsked = false;
  const ask = (): void => {
    isAsked = true;
    complain("\nStopping after what is under way; Ctrl-C again stops at once.");
  };
  if (isSending) process.once("SIGINT", ask);
  return {
    get isAsked() {
      return isAsked;
    },
    end: () => process.removeListener("SIGINT", ask),
  };
}

function progressLine(before: ImportState): (progress: Progress, state: ImportState) => void {
  const beganAt = performance.now();
  let shownAt = 0;
  return ({ done, total }, { added, known, failed }) => {
    const now = performance.now();
    if (now - shownAt < SHOW_EVERY_MS) return;
    shownAt = now;
    const part = total === 0 ? 0 : Math.min(1, done / total);
    const bar = "#".repeat(Math.round(part * 20)).padEnd(20, ".");
    const rate = (added + known - before.added - before.known) / Math.max(1, (now - beganAt) / 1_000);
    const failures = failed > 0 ? ` · ${failed} failed` : "";
    showProgress(
      `[${bar}] ${Math.floor(part * 100)} % · ${added} added · ${known} known${failures} · ${Math.round(rate)}/s`,
    );
  };
}
