import { findDocuments, kindByName } from "../../files/find-documents.ts";
import type { FoundDocuments, SkippedPath } from "../../files/find-documents.ts";
import { connect, findDaemon } from "../connect.ts";
import { settingsOf } from "../output/options.ts";
import {
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
import { emptyTally, findGone, type IngestOptions, ingestFiles, startRun, type Tally } from "./sync-files.ts";

/** Ingests files and folders; a changed file replaces its document. Ctrl-C cancels the current file and ends with the summary. */
export async function ingest(paths: readonly string[], options: IngestOptions): Promise<void> {
  const interruption = new AbortController();
  // A second signal ends the process as usual.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => interruption.abort(new Error("interrupted")));

  const { api } = await connect(options);
  const { dataDir } = settingsOf(options);
  const findApi = async () => (await findDaemon(dataDir).catch(() => undefined))?.api;
  const run = await startRun(api, findApi, options, interruption.signal);
  const found = await findDocuments(paths);
  if (found.missing.length > 0) throw new CliFailure(`There is no ${found.missing.join(", ")}.`);
  const tally = emptyTally();
  for (const { path, reason, isNamed } of found.skipped)
    if (isNamed) tally.failed.push({ path, reason: `Not ingested: ${reason}.` });
  await ingestFiles(run, found.files, tally);
  showProgress("");
  report(found, tally, (await findGone(run, paths)).lost.size, options.json === true);
  if (run.signal.aborted) complain("Interrupted; run it again to go on.");
  if (tally.failed.length > 0 || run.signal.aborted) process.exitCode = EXIT.failure;
}

/** Maximum number of skipped files that are named per reason. */
const MAX_NAMES = 3;
/** Failures are named one by one up to this number of one kind with one reason. */
const MAX_FAILURES_NAMED = 10;

/** Prints what was ingested, what was skipped, and why; skipped paths that were named are among the failures. */
function report(found: FoundDocuments, tally: Tally, gone: number, asJson: boolean): void {
  const { notTried, failed, unread, guessed, ...counts } = tally;
  const refused = unread.map((each) => ({ ...each, kind: kindByName(each.path) }));
  const skipped = [...found.skipped.filter(({ isNamed }) => !isNamed), ...refused];
  if (asJson) {
    const reasons = skipped.map(({ path, kind, reason }) => ({ path, kind, reason }));
    return printJson({ ...counts, gone, not_tried: notTried, failed, skipped: reasons, guessed });
  }
  const { added, replaced, unchanged, removed, memories } = counts;
  const made = plural(memories, "new memory", "new memories");
  print(`${added} added, ${replaced} replaced, ${unchanged} unchanged, ${removed} removed; ${made}`);
  for (const line of byKind(skipped)) print(`  skipped ${line}`);
  const isFew = failed.length <= MAX_FAILURES_NAMED;
  if (isFew) for (const { path, reason } of failed) print(`  failed ${oneLine(path)}: ${oneLine(reason)}`);
  else for (const line of byKind(failed)) print(`  failed ${line}`);
  for (const [encoding, files] of grouped(guessed, (file) => file.encoding))
    print(
      `  read as ${encoding}, which is a guess: ${namesOf(files)}; if its text looks wrong, run it again with --encoding`,
    );
  if (notTried > 0) print(`  not tried ${notTried}: memoryd does not answer; run it again to go on`);
  if (gone > 0)
    complain(
      `${plural(gone, "document")} whose files are gone from the disk; \`memoryd watch add\` follows a folder and removes them.`,
    );
}

/** A line for each kind of files and reason, with the first paths; the most frequent first. */
function byKind(
  files: Iterable<Pick<SkippedPath, "path" | "reason"> & { readonly kind?: string }>,
): string[] {
  const groups = grouped(files, ({ path, kind = kindByName(path), reason }) => `${kind}: ${oneLine(reason)}`);
  return [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([what, found]) => {
      const kinds = found.length === 1 ? what : what.replace(/^(?:file|folder)\b/, "$&s");
      return `${found.length} ${kinds} (${namesOf(found)})`;
    });
}

function namesOf(files: readonly { readonly path: string }[]): string {
  const names = files.slice(0, MAX_NAMES).map(({ path }) => oneLine(path));
  return `${names.join(", ")}${files.length > MAX_NAMES ? " …" : ""}`;
}
