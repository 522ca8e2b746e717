import { basename } from "node:path";
import { stat } from "node:fs/promises";
import { type MemorydClient, MemorydError, type NewMemory } from "../../client/client.ts";
import { isObject } from "../../config/is-object.ts";
import { connect, type Daemon } from "../connect.ts";
import { checkItem, type Owners, type Sendable } from "../import/check-item.ts";
import type { MemoryFields, TranscriptAgentId } from "../import/import-item.ts";
import { ImportReport } from "../import/import-report.ts";
import { sendItems } from "../import/send.ts";
import { namedByPath, projectOfFolder } from "../mcp/project-of-folder.ts";
import { CliFailure, EXIT } from "../output/output.ts";
import { type Flags, settingsOf } from "../output/options.ts";
import { findTranscripts, TRANSCRIPTS } from "../transcripts/agents.ts";
import {
  type Captured,
  remarkMemory,
  SessionCapture,
  type SessionDigest,
  summaryMemory,
} from "../transcripts/capture-session.ts";
import { openTranscript } from "../transcripts/transcript-file.ts";

export interface TranscriptFlags extends Flags, Owners {
  /** A folder to look for transcripts in, or one transcript. */
  readonly from?: string;
  /** One transcript, for hooks: nothing is printed. */
  readonly file?: string;
  readonly dryRun?: boolean;
}

const BATCH_ITEMS = 64;

/**
 * Keeps what lasts of the conversations with an agent: what the person said, what was done, and a summary a session.
 * Takes what was written since the last run; repeated after an interruption, it adds nothing twice.
 */
export async function importTranscripts(id: TranscriptAgentId, flags: TranscriptFlags): Promise<void> {
  const agent = TRANSCRIPTS[id];
  const given = flags.file ?? flags.from;
  const place = given ?? agent.folder();
  const found = await stat(place).catch(() => undefined);
  if (found === undefined)
    throw new CliFailure(
      given === undefined
        ? `There are no conversations of ${agent.title} in ${place}; name their folder with --from.`
        : `There is no ${place}.`,
    );
  const paths = found.isDirectory() ? await findTranscripts(place, agent.file) : [place];
  const daemon = flags.dryRun === true ? undefined : await connect(flags);
  const report = new ImportReport();
  for (const path of paths) await importTranscript(path, id, { flags, daemon, report });
  if (flags.file === undefined) report.print({ json: flags.json === true, dryRun: daemon === undefined });
  if (report.counts.failed > 0) process.exitCode = EXIT.failure;
}

interface Run {
  readonly flags: TranscriptFlags;
  /** Undefined: nothing is sent or noted. */
  readonly daemon: Daemon | undefined;
  readonly report: ImportReport;
}

async function importTranscript(path: string, id: TranscriptAgentId, run: Run): Promise<void> {
  const { flags, daemon, report } = run;
  const agent = TRANSCRIPTS[id];
  const transcript = await openTranscript(settingsOf(flags).dataDir, path);
  if (transcript.isRead) return;
  const { mark } = transcript;
  const capture = new SessionCapture(mark?.seen);
  capture.conversation = mark?.conversation;
  capture.folder = mark?.folder ?? (await agent.workFolder?.(transcript.path));
  const captured = (): Captured => ({
    origin: id,
    conversation: capture.conversation ?? basename(transcript.path).replace(/\.jsonl?$/, ""),
    project: projectOf(capture.folder),
  });

  let batch: Sendable[] = [];
  const send = async (): Promise<void> => {
    const sent = batch;
    batch = [];
    if (daemon === undefined || sent.length === 0) return;
    const outcomes = await sendItems(daemon, "/memory/add/batch", sent);
    for (const [i, { where }] of sent.entries()) {
      const outcome = outcomes[i];
      if (typeof outcome === "string") report.counts[outcome] += 1;
      else report.fault(where, outcome?.fault ?? "the daemon did not answer for it");
    }
  };
  for await (const { fields } of transcript.lines()) {
    if (fields === undefined) {
      report.skipped("lines that are no JSON object");
      continue;
    }
    const line = { at: fields["timestamp"], events: agent.read(fields) };
    for (const remark of capture.take(line, transcript.began)) {
      const item = checked(remarkMemory(remark, captured()), transcript.path, run);
      if (item !== undefined) batch.push(item);
    }
    if (batch.length >= BATCH_ITEMS) await send();
  }
  await send();
  const failed = report.counts.failed;
  const summary = await keepSummary(capture, captured(), mark?.summary, agent.title, transcript.path, run);
  // The next run tries again to send the rest.
  if (daemon === undefined || failed > 0) return;
  const { seen, conversation, folder } = capture;
  await transcript.save({
    seen,
    ...(conversation !== undefined && { conversation }),
    ...(folder !== undefined && { folder }),
    ...(summary !== undefined && { summary }),
  });
}

/** Adds the summary of a session, or brings it up to date; one that was deleted stays so. Returns its id. */
async function keepSummary(
  capture: SessionCapture,
  captured: Captured,
  known: string | undefined,
  title: string,
  where: string,
  run: Run,
): Promise<string | undefined> {
  const api = run.daemon?.api;
  const before = api === undefined || known === undefined ? undefined : await readDigest(api, known);
  if (before === "gone") return known;
  const digest = capture.digest(before);
  if (digest === undefined) return known;
  const item = checked(summaryMemory(digest, captured, title), where, run);
  if (item === undefined || api === undefined) return known;
  const body = item.body as unknown as NewMemory;
  if (known !== undefined) {
    await api.memories.update(known, { content: body.content, metadata: body.metadata ?? {} });
    return known;
  }
  const added = await api.memories.add(body);
  run.report.counts[added.deduplicated ? "known" : "added"] += 1;
  return added.id;
}

async function readDigest(api: MemorydClient, id: string): Promise<SessionDigest | "gone" | undefined> {
  try {
    const { digest } = (await api.memories.get(id)).metadata;
    return isObject(digest) && Array.isArray(digest["asked"])
      ? (digest as unknown as SessionDigest)
      : undefined;
  } catch (error) {
    if (error instanceof MemorydError && error.status === 404) return "gone";
    throw error;
  }
}

function checked(body: MemoryFields, where: string, { flags, report }: Run): Sendable | undefined {
  const item = checkItem({ kind: "memory", where, body }, flags);
  if ("route" in item) {
    report.found(item);
    return item;
  }
  if (item.kind === "faulty") report.fault(where, item.reason);
  return undefined;
}

const projects = new Map<string, string>();

function projectOf(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const project = projects.get(folder) ?? projectOfFolder(folder) ?? namedByPath(folder);
  projects.set(folder, project);
  return project;
}
