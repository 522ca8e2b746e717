import { setTimeout as sleep } from "node:timers/promises";
import { findDocuments, kindByName } from "../../files/find-documents.ts";
import type { FoundDocuments, SkippedPath } from "../../files/find-documents.ts";
import { connect, findDaemon } from "../connect.ts";
import { settingsOf } from "../output/options.ts";
import {
  ask,
  CliFailure,
  complain,
  EXIT,
  grouped,
  oneLine,
  plural,
  print,
  printJson,
  showProgress,
} from "../output/output.ts";
import { emptyTally, findGone, ingestFiles, removeGone, startRun } from "./sync-files.ts";
import type { GoneFiles, IngestOptions, Run, Tally } from "./sync-files.ts";

const LOOK_EVERY_MS = 2_000;
/** A larger part of the documents gone at once looks like a disk that is not mounted. */
const LARGEST_LOSS = 1 / 5;

/**
 * Ingests files and folders; a changed file replaces its document. With `watch` it goes on until it is interrupted, and
 * removes the documents of deleted files. Ctrl-C cancels the current file and ends with the summary.
 */
export async function ingest(paths: readonly string[], options: IngestOptions): Promise<void> {
  const interruption = new AbortController();
  // A second signal ends the process as usual.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => interruption.abort(new Error("interrupted")));

  const { api } = await connect(options);
  const { dataDir } = settingsOf(options);
  const findApi = async () => (await findDaemon(dataDir).catch(() => undefined))?.api;
  const run = await startRun(api, findApi, options, interruption.signal);
  const tally = await lookOnce(paths, run);
  if (options.watch === true && !run.signal.aborted) await watch(paths, run);
  else if (tally.failed.length > 0) process.exitCode = EXIT.failure;
  if (run.signal.aborted) process.exitCode = EXIT.failure;
}

async function lookOnce(paths: readonly string[], run: Run): Promise<Tally> {
  const { watch: isWatching = false, json = false } = run.options;
  const found = await findDocuments(paths);
  if (found.missing.length > 0 && !isWatching)
    throw new CliFailure(`There is no ${found.missing.join(", ")}.`);
  const tally = emptyTally();
  for (const { path, reason, isNamed } of found.skipped)
    if (isNamed) tally.failed.push({ path, reason: `Not ingested: ${reason}.` });
  await ingestFiles(run, found.files, tally);
  showProgress("");
  const gone = isWatching ? 0 : (await findGone(run, paths)).lost.size;
  report(found, tally, gone, json);
  if (run.signal.aborted) complain("Interrupted; run it again to go on.");
  return tally;
}

async function watch(paths: readonly string[], run: Run): Promise<void> {
  complain("Watching for changes; end with Ctrl-C.");
  const mayRemove = removalRule();
  let isCutOff = false;
  while (!run.signal.aborted) {
    const found = await findDocuments(paths);
    const tally = emptyTally();
    await ingestFiles(run, found.files, tally);
    await removeGone(run, await mayRemove(() => findGone(run, paths)), tally);
    showProgress("");
    const { added, replaced, removed, failed } = tally;
    if (added + replaced + removed + failed.length > 0 && !isCutOff)
      report(found, tally, 0, run.options.json === true);
    if (failed.length > 0) {
      const api = await run.findApi();
      isCutOff = api === undefined;
      run.api = api ?? run.api;
    } else isCutOff = false;
    await sleep(LOOK_EVERY_MS, undefined, { signal: run.signal }).catch(() => undefined);
  }
}

/**
 * Says which documents may be removed. Where many are gone at once, or a root itself, a person is asked, once for what
 * is gone and again when that changes; a file that came back meanwhile keeps its document.
 */
function removalRule(): (look: () => Promise<GoneFiles>) => Promise<[string, readonly string[]][]> {
  let refused = "";
  return async (look) => {
    const { known: count, lost, moved, missingRoots } = await look();
    if (missingRoots.length === 0 && lost.size <= count * LARGEST_LOSS) return [...moved, ...lost];
    const asked = JSON.stringify([[...lost], missingRoots]);
    if (lost.size === 0 || asked === refused) return [...moved];
    const what =
      missingRoots.length > 0
        ? `${missingRoots.join(", ")} is gone, with ${lost.size} of ${plural(count, "file")}.`
        : `${lost.size} of ${plural(count, "file")} ${lost.size === 1 ? "is" : "are"} gone at once.`;
    const answer = await ask(`${what} Remove them from memory too? [y/N] `);
    if (answer === undefined)
      complain(`${what} Nothing was removed; run this in a terminal to be asked, or delete their documents.`);
    if (answer !== true) {
      refused = asked;
      return [...moved];
    }
    const now = (await look()).lost;
    return [...moved, ...[...lost].filter(([id]) => now.has(id))];
  };
}

/** Maximum number of skipped files that are named per reason. */
const MAX_NAMES = 3;
/** Failures are named one by one up to this number of one kind with one reason. */
const MAX_FAILURES_NAMED = 10;

/** Prints what was ingested, what was skipped, and why; skipped paths that were named are among the failures. */
function report(found: FoundDocuments, tally: Tally, gone: number, asJson: boolean): void {
  const { notTried, failed, unread, ...counts } = tally;
  const refused = unread.map((each) => ({ ...each, kind: kindByName(each.path) }));
  const skipped = [...found.skipped.filter(({ isNamed }) => !isNamed), ...refused];
  if (asJson) {
    const reasons = skipped.map(({ path, kind, reason }) => ({ path, kind, reason }));
    return printJson({ ...counts, gone, not_tried: notTried, failed, skipped: reasons });
  }
  const { added, replaced, unchanged, removed, memories } = counts;
  const made = plural(memories, "new memory", "new memories");
  print(`${added} added, ${replaced} replaced, ${unchanged} unchanged, ${removed} removed; ${made}`);
  for (const line of byKind(skipped)) print(`  skipped ${line}`);
  const isFew = failed.length <= MAX_FAILURES_NAMED;
  if (isFew) for (const { path, reason } of failed) print(`  failed ${oneLine(path)}: ${oneLine(reason)}`);
  else for (const line of byKind(failed)) print(`  failed ${line}`);
  if (notTried > 0) print(`  not tried ${notTried}: memoryd does not answer; run it again to go on`);
  if (gone > 0)
    complain(`${plural(gone, "document")} whose files are gone from the disk; --watch removes them.`);
}

/** A line for each kind of files and reason, with the first paths; the most frequent first. */
function byKind(
  files: Iterable<Pick<SkippedPath, "path" | "reason"> & { readonly kind?: string }>,
): string[] {
  const groups = grouped(files, ({ path, kind = kindByName(path), reason }) => `${kind}: ${oneLine(reason)}`);
  return [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([what, found]) => {
      const names = found.slice(0, MAX_NAMES).map(({ path }) => oneLine(path));
      const more = found.length > MAX_NAMES ? " …" : "";
      return `${found.length} ${what} (${names.join(", ")}${more})`;
    });
}
