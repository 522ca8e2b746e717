import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { arrayOf, boolean, either, type Formed, integer, optional, record, string } from "../../json-form.ts";
import { CliFailure } from "../cli-failure.ts";
import type { DaemonClient } from "../daemon-client.ts";
import { progressLines } from "../job-progress.ts";

/** What goes with every file. */
export interface SendOptions {
  readonly user?: string;
  readonly project?: string;
  readonly tag?: readonly string[];
  /** What is spoken in recordings. */
  readonly language?: string;
}

const Ingested = record({
  deduplicated: boolean,
  memory_ids: arrayOf(string),
  document: record({ id: string, sha256: string }),
});
export type Ingested = Formed<typeof Ingested>;

const Progress = record({ stage: string, done: integer, total: integer });

const Job = record({
  id: string,
  status: string,
  progress: Progress,
  result: optional(Ingested),
  problem: optional(record({ status: integer, detail: string })),
});

/** Most files are done by then, without a further question. */
const WAIT_S = 1;
const ASK_JOB_EVERY_MS = 500;

/**
 * Sends a file and waits until it can be found by a query.
 *
 * @throws {CliFailure} when the daemon refuses it, with the status; the signal's reason when that is aborted, and the
 *   job is cancelled then.
 */
export async function sendDocument(
  daemon: DaemonClient,
  path: string,
  { user, project, tag, language }: SendOptions,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (line: string) => void },
): Promise<Ingested> {
  const form = new FormData();
  form.set("metadata", JSON.stringify({ path }));
  if (user !== undefined) form.set("user_id", user);
  if (project !== undefined) form.set("project", project);
  if (tag !== undefined) form.set("tags", JSON.stringify(tag));
  if (language !== undefined) form.set("language", language);
  form.set("file", await openAsBlob(path), basename(path));
  const answer = await daemon.call(either(Ingested, Job), "POST", "/ingest", form, {
    prefer: `wait=${WAIT_S}`,
  });
  if ("document" in answer) return answer;
  const lineOf = progressLines(() => performance.now());
  for (let job = answer; ; job = await daemon.call(Job, "GET", `/jobs/${answer.id}`)) {
    if (job.result !== undefined) return job.result;
    if (job.status !== "queued" && job.status !== "running") {
      const { status, detail = `The job was ${job.status}.` } = job.problem ?? {};
      throw new CliFailure(detail, status === undefined ? {} : { status });
    }
    if (signal.aborted) {
      await daemon.call(Job, "DELETE", `/jobs/${answer.id}`);
      throw signal.reason;
    }
    onProgress(lineOf(job.progress));
    await sleep(ASK_JOB_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
