import { setTimeout as sleep } from "node:timers/promises";
import { CliFailure, EXIT } from "../cli-failure.ts";
import { connect, findDaemon } from "../daemon-client.ts";
import { ask, complain, showProgress } from "../output.ts";
import { plural } from "../plural.ts";
import { findDocuments } from "./find-documents.ts";
import { findGone, type GoneFiles } from "./gone-files.ts";
import { knownDocuments } from "./known-documents.ts";
import { Ledger } from "./ledger.ts";
import { report } from "./report.ts";
import type { SendOptions } from "./send-document.ts";
import { emptyTally, otherPaths, removeGone, takeIn, type Tally, type Work } from "./take-in.ts";

export interface IngestOptions extends SendOptions {
  readonly watch?: boolean;
  readonly json?: boolean;
}

const LOOK_EVERY_MS = 2_000;
/** More than this part of what was known gone at once looks like a disk that is not there. */
const LARGEST_LOSS = 1 / 5;

/**
 * Takes in files and folders; what has changed since last time takes the place of what was there. With `watch` it goes
 * on looking until it is ended, and removes what was deleted. Ctrl-C cancels the file in hand and ends with the
 * summary.
 */
export async function ingest(
  dataDir: string,
  paths: readonly string[],
  options: IngestOptions,
): Promise<void> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Error("interrupted"));
  // A second one ends the process as usual.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);

  const scope = { user: options.user ?? null, project: options.project ?? null };
  const daemon = await connect(dataDir);
  const ledger = new Ledger(dataDir, scope);
  let documents: Awaited<ReturnType<typeof knownDocuments>> = new Map();
  await ledger.forgetGone(async () => (documents = await knownDocuments(daemon, scope)));
  const work: Work = {
    daemon,
    findDaemon: () => findDaemon(dataDir).catch(() => undefined),
    ledger,
    pathOf: (id) => documents.get(id),
    seen: new Map(),
    options,
    signal: interruption.signal,
    show: showProgress,
  };
  const tally = await lookOnce(paths, work, options);
  if (options.watch === true && !work.signal.aborted) await watch(paths, work, options);
  else if (tally.failed.length > 0) process.exitCode = EXIT.failure;
  if (work.signal.aborted) process.exitCode = EXIT.failure;
}

async function lookOnce(paths: readonly string[], work: Work, options: IngestOptions): Promise<Tally> {
  const found = await findDocuments(paths);
  if (found.missing.length > 0 && options.watch !== true)
    throw new CliFailure(`There is no ${found.missing.join(", ")}.`);
  const tally = emptyTally();
  for (const { path, reason, isNamed } of found.skipped)
    if (isNamed) tally.failed.push({ path, reason: `Not taken in: ${reason}.` });
  await takeIn(work, found.files, tally);
  showProgress("");
  const { gone } = await findGone(paths, work.ledger.paths());
  const all = new Set(gone);
  // One that was renamed is remembered by its new name.
  const remembered = gone.filter((path) => otherPaths(work.ledger, path, all).length === 0);
  report(found, tally, options.watch === true ? 0 : remembered.length, options.json === true);
  if (work.signal.aborted) complain("Interrupted; run it again to go on.");
  return tally;
}

async function watch(paths: readonly string[], work: Work, options: IngestOptions): Promise<void> {
  complain("Watching for changes; end with Ctrl-C.");
  const mayRemove = removalRule();
  let isCutOff = false;
  while (!work.signal.aborted) {
    const found = await findDocuments(paths);
    const tally = emptyTally();
    await takeIn(work, found.files, tally);
    const { gone } = await mayRemove(() => findGone(paths, work.ledger.paths()));
    await removeGone(work, gone, tally);
    showProgress("");
    if (tally.added + tally.replaced + tally.removed + tally.failed.length > 0 && !isCutOff)
      report(found, tally, 0, options.json === true);
    if (tally.failed.length > 0) {
      // It may have been started anew, at another port.
      const daemon = await work.findDaemon();
      isCutOff = daemon === undefined;
      if (daemon !== undefined) work.daemon = daemon;
    } else {
      isCutOff = false;
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: work.signal }).catch(() => undefined);
  }
}

/**
 * Says what may be removed. Where much is gone at once, or a root itself, a person is asked, once for what is gone and
 * again when it changes; what came back while the question stood is not removed.
 */
function removalRule(): (look: () => Promise<GoneFiles>) => Promise<Pick<GoneFiles, "gone">> {
  const nothing = { gone: [] };
  let refused = "";
  return async (look) => {
    const { known, gone, missingRoots } = await look();
    if (missingRoots.length === 0 && gone.length <= known * LARGEST_LOSS) return { gone };
    if (gone.length === 0) return nothing;
    const asked = JSON.stringify([gone, missingRoots]);
    if (asked === refused) return nothing;
    const what =
      missingRoots.length > 0
        ? `${missingRoots.join(", ")} is gone, with ${gone.length} of ${plural(known, "file")}.`
        : `${gone.length} of ${plural(known, "file")} ${gone.length === 1 ? "is" : "are"} gone at once.`;
    const answer = await ask(`${what} Remove them from memory too? [y/N] `);
    if (answer === undefined)
      complain(`${what} Nothing was removed; run this at a terminal to be asked, or delete their documents.`);
    if (answer !== true) {
      refused = asked;
      return nothing;
    }
    const now = new Set((await look()).gone);
    return { gone: gone.filter((path) => now.has(path)) };
  };
}
