import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Static, Type } from "typebox";
import { CliFailure } from "./cli-failure.ts";
import { connect, type DaemonClient } from "./daemon-client.ts";
import { findDocuments, type FoundDocuments, type FoundFile } from "./find-documents.ts";
import { progressLines } from "./job-progress.ts";
import { ask, complain, oneLine, print, printJson, showProgress } from "./output.ts";

export interface IngestOptions {
  readonly user?: string;
  readonly project?: string;
  readonly tag?: readonly string[];
  readonly watch?: boolean;
  readonly json?: boolean;
}

const Known = Type.Object({
  id: Type.String(),
  sha256: Type.String(),
  user_id: Type.Union([Type.String(), Type.Null()]),
  project: Type.Union([Type.String(), Type.Null()]),
  metadata: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
});
const KnownPage = Type.Object({
  items: Type.Array(Known),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
const Ingested = Type.Object({
  deduplicated: Type.Boolean(),
  memory_ids: Type.Array(Type.String()),
  document: Type.Object({ id: Type.String() }),
});
const Job = Type.Object({
  id: Type.String(),
  status: Type.String(),
  result: Type.Optional(Ingested),
  progress: Type.Object({ stage: Type.String(), done: Type.Integer(), total: Type.Integer() }),
  problem: Type.Optional(Type.Object({ detail: Type.String() })),
});
const Removed = Type.Object({ deleted: Type.Integer() });

/** What was done with the files of one look at the folders. */
interface Tally {
  added: number;
  replaced: number;
  unchanged: number;
  removed: number;
  memories: number;
  readonly failed: { readonly path: string; readonly reason: string }[];
}

const LOOK_EVERY_MS = 2_000;
const ASK_JOB_EVERY_MS = 500;
/** What takes longer is watched. */
const ANSWER_SOON = { prefer: "wait=1" };
/** More than this part of what was known gone at once looks like a disk that is not there. */
const LARGEST_LOSS = 1 / 5;

/**
 * Takes in files and folders; what has changed since last time takes the place of what was there. With `watch` it goes
 * on looking until it is ended, and removes what was deleted.
 */
export async function ingest(
  dataDir: string,
  paths: readonly string[],
  options: IngestOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const known = await knownFiles(daemon, options);
  const seen = new Map<string, string>();
  const found = await findDocuments(paths);
  if (found.missing.length > 0) throw new CliFailure(`There is no ${found.missing.join(", ")}.`);
  const tally = await takeIn(daemon, found.files, { known, seen, options });
  report(found, tally, options);
  if (options.watch !== true) {
    if (tally.failed.length > 0) process.exitCode = 1;
    return;
  }
  complain("Watching for changes; end with Ctrl-C.");
  let refused = 0;
  for (;;) {
    await sleep(LOOK_EVERY_MS);
    const now = await findDocuments(paths);
    const gone = [...seen.keys()].filter((path) => !now.files.some((file) => file.path === path));
    const changes = await takeIn(daemon, now.files, { known, seen, options });
    const isTooMuch = now.missing.length > 0 || gone.length > seen.size * LARGEST_LOSS;
    // Asked once for what is gone, and again when more is.
    const mayRemove = !isTooMuch || (gone.length > refused && (await agrees(gone.length, seen.size)));
    if (mayRemove) for (const path of gone) changes.removed += await remove(daemon, path, known, seen);
    refused = mayRemove ? 0 : gone.length;
    if (changes.added + changes.replaced + changes.removed + changes.failed.length > 0)
      report(now, changes, options);
  }
}

/** Whether to remove so much at once; where nobody can be asked, not. */
async function agrees(gone: number, known: number): Promise<boolean> {
  const loss = `${gone} of ${known} files are gone at once.`;
  const answer = await ask(`${loss} Remove them from memory too? [y/N] `);
  if (answer === undefined) {
    complain(`${loss} Nothing was removed; run this at a terminal to be asked, or delete their documents.`);
  }
  return answer ?? false;
}

interface Work {
  /** By path: what an earlier run took in from there. */
  readonly known: Map<string, Static<typeof Known>>;
  /** By path: size and time as last looked at. */
  readonly seen: Map<string, string>;
  readonly options: IngestOptions;
}

async function takeIn(daemon: DaemonClient, files: readonly FoundFile[], work: Work): Promise<Tally> {
  const { known, seen, options } = work;
  const tally: Tally = { added: 0, replaced: 0, unchanged: 0, removed: 0, memories: 0, failed: [] };
  for (const [i, file] of files.entries()) {
    const look = `${file.bytes}/${file.modifiedMs}`;
    if (seen.get(file.path) === look) continue;
    seen.set(file.path, look);
    const name = `${i + 1}/${files.length} ${basename(file.path)}`;
    showProgress(name);
    try {
      const before = known.get(file.path);
      const sha256 = await hashOf(file.path);
      if (before?.sha256 === sha256) {
        tally.unchanged += 1;
        continue;
      }
      const {
        document,
        memory_ids: memories,
        deduplicated,
      } = await send(daemon, file.path, options, (line) => showProgress(`${line}  ${name}`));
      known.set(file.path, {
        id: document.id,
        sha256,
        user_id: options.user ?? null,
        project: options.project ?? null,
        metadata: { path: file.path },
      });
      if (!deduplicated) tally.memories += memories.length;
      if (before === undefined && deduplicated) tally.unchanged += 1;
      else if (before === undefined) tally.added += 1;
      else {
        tally.replaced += 1;
        // The same bytes at another place are the same document.
        const isElsewhere = [...known.values()].some(({ id }) => id === before.id);
        if (!isElsewhere) await daemon.call(Removed, "DELETE", `/documents/${before.id}`);
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      tally.failed.push({ path: file.path, reason: error.message });
    }
  }
  showProgress("");
  return tally;
}

async function remove(
  daemon: DaemonClient,
  path: string,
  known: Work["known"],
  seen: Work["seen"],
): Promise<number> {
  const document = known.get(path);
  seen.delete(path);
  known.delete(path);
  // The same bytes at another place are the same document.
  const isElsewhere = [...known.values()].some(({ id }) => id === document?.id);
  if (document === undefined || isElsewhere) return 0;
  await daemon.call(Removed, "DELETE", `/documents/${document.id}`);
  return 1;
}

async function send(
  daemon: DaemonClient,
  path: string,
  { user, project, tag }: IngestOptions,
  onProgress: (line: string) => void,
) {
  const form = new FormData();
  form.set("metadata", JSON.stringify({ path }));
  if (user !== undefined) form.set("user_id", user);
  if (project !== undefined) form.set("project", project);
  if (tag !== undefined) form.set("tags", JSON.stringify(tag));
  form.set("file", await openAsBlob(path), basename(path));
  const answer = await daemon.call(Type.Union([Ingested, Job]), "POST", "/ingest", form, ANSWER_SOON);
  if ("document" in answer) return answer;
  const lineOf = progressLines(() => performance.now());
  for (;;) {
    const job = await daemon.call(Job, "GET", `/jobs/${answer.id}`);
    if (job.result !== undefined) return job.result;
    if (job.status !== "queued" && job.status !== "running")
      throw new Error(job.problem?.detail ?? `the job was ${job.status}`);
    onProgress(lineOf(job.progress));
    await sleep(ASK_JOB_EVERY_MS);
  }
}

/** What earlier runs took in for the same user and project, by the path it came from. */
async function knownFiles(daemon: DaemonClient, { user, project }: IngestOptions): Promise<Work["known"]> {
  const known = new Map<string, Static<typeof Known>>();
  const query = new URLSearchParams({
    l: "1000",
    project: project ?? "",
    ...(user === undefined ? {} : { user_id: user }),
  });
  for (let cursor: string | null = ""; cursor !== null;) {
    if (cursor !== "") query.set("cursor", cursor);
    const page: Static<typeof KnownPage> = await daemon.call(
      KnownPage,
      "GET",
      `/documents?${query.toString()}`,
    );
    for (const document of page.items) {
      const { path } = document.metadata;
      // Newest first: the newest of a path counts.
      if (typeof path === "string" && document.user_id === (user ?? null) && !known.has(path))
        known.set(path, document);
    }
    cursor = page.next_cursor;
  }
  return known;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function report({ skipped }: FoundDocuments, tally: Tally, { json }: IngestOptions): void {
  const { added, replaced, unchanged, removed, memories, failed } = tally;
  if (json === true) {
    printJson({
      added,
      replaced,
      unchanged,
      removed,
      memories,
      failed,
      skipped: Object.fromEntries(skipped),
    });
    return;
  }
  print(
    `${added} added, ${replaced} replaced, ${unchanged} unchanged, ${removed} removed; ${memories} new memories`,
  );
  for (const [reason, count] of skipped) print(`  skipped ${count}: ${reason}`);
  for (const { path, reason } of failed) print(`  failed ${oneLine(path)}: ${oneLine(reason)}`);
}
