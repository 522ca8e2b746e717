import { inPieces } from "../../core/at-once.ts";
import { basename } from "node:path";
import { stat } from "node:fs/promises";
import { type MemorydClient, MemorydError, type NewMemory } from "../../client/client.ts";
import { present } from "../../schemas/wire.ts";
import { agentsHere } from "../agents/known-agents.ts";
import { connect, type Daemon } from "../connect.ts";
import { forgetEnded } from "../hooks/capture.ts";
import { readHookState } from "../hooks/hook-state.ts";
import { timeOf } from "../../files/front-matter.ts";
import { checkItem, type Owners, type Sendable } from "../import/check-item.ts";
import { type ImportItem, memory, type TranscriptAgentId } from "../import/import-item.ts";
import { ImportReport } from "../import/import-report.ts";
import { requireFile } from "../import/open-source.ts";
import { sendItems } from "../import/send.ts";
import { namedByPath, projectOfFolder } from "../mcp/project-of-folder.ts";
import { CliFailure, EXIT, showProgress } from "../output/output.ts";
import { type Flags, settingsOf } from "../output/options.ts";
import {
  findTranscripts,
  TRANSCRIPTS,
  openTranscript,
  type OpenTranscript,
  type TranscriptMark,
} from "../transcripts/agents.ts";
import { type Correction, isEndedBy, withBefore } from "../transcripts/corrections.ts";
import { remarkMemory, SessionCapture } from "../transcripts/capture-session.ts";
import type { Captured, Remark } from "../transcripts/capture-session.ts";

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
 * Takes what was written since the last run. All of a conversation is noted before any of it is sent, so that a run that
 * was killed is finished by the next one, which loses nothing and adds nothing twice.
 */
export async function importTranscripts(id: TranscriptAgentId, flags: TranscriptFlags): Promise<void> {
  const { title, transcripts = "" } = agentsHere()[id];
  const given = flags.file ?? flags.from;
  const place = given ?? transcripts;
  const found = await stat(place).catch(() => undefined);
  if (found === undefined) {
    const what = given === undefined ? `conversation of ${title} in` : "file or folder";
    throw new CliFailure(`There is no ${what} ${place}; name their folder with --from.`);
  }
  await requireFile(place);
  const { dataDir } = settingsOf(flags);
  const run: Run = {
    flags,
    dataDir,
    excluded: readHookState(dataDir).excluded,
    daemon: flags.dryRun === true ? undefined : await connect(flags, id),
    report: new ImportReport(),
  };
  const { report, daemon } = run;
  for (const path of found.isDirectory() ? await findTranscripts(place, TRANSCRIPTS[id].file) : [place]) {
    await importTranscript(path, id, run);
    if (flags.file === undefined) showProgress(report.inWords());
  }
  showProgress("");
  if (flags.file === undefined) report.print({ json: flags.json === true, dryRun: daemon === undefined });
  if (report.counts.failed > 0) process.exitCode = EXIT.failure;
  else if (flags.file !== undefined && daemon !== undefined) forgetEnded(dataDir, flags.file);
}

interface Run {
  readonly flags: TranscriptFlags;
  readonly dataDir: string;
  /** Projects of which hooks, and this, capture nothing. */
  readonly excluded: readonly string[];
  /** Undefined: nothing is sent or noted. */
  readonly daemon: Daemon | undefined;
  readonly report: ImportReport;
}

async function importTranscript(path: string, id: TranscriptAgentId, run: Run): Promise<void> {
  const { flags, report, daemon } = run;
  const agent = TRANSCRIPTS[id];
  const transcript = await openTranscript(run.dataDir, path);
  const mark = await sendPending(transcript, transcript.mark, run);
  if (mark?.look === transcript.look || mark?.pending !== undefined) return;
  const capture = new SessionCapture(mark?.seen);
  capture.folder = await agent.workFolder?.(transcript.path);
  const began = await firstTime(transcript);
  const remarks: Remark[] = [];
  for await (const line of transcript.lines()) {
    if (line === undefined) report.skipped("lines that are no JSON object");
    else remarks.push(...capture.take({ at: line["timestamp"], events: agent.read(line) }, began));
  }
  const { conversation, folder } = capture;
  const captured: Captured = {
    origin: id,
    conversation: conversation ?? basename(transcript.path).replace(/\.jsonl?$/, ""),
    project: folder === undefined ? undefined : (projectOfFolder(folder) ?? namedByPath(folder)),
  };
  if ([captured.project, flags.project].some((name) => name !== undefined && run.excluded.includes(name)))
    return report.skipped("conversations in projects that `memoryd hooks exclude` names");

  const items: Sendable[] = [];
  for (const given of remarks) {
    if (isCorrectedLater(given, remarks)) continue;
    const remark =
      given.correction === undefined
        ? { ...given, supersedes: undefined }
        : await resolved(given, given.correction, captured, run);
    if (remark === undefined) continue;
    const item = checked(memory(path, remarkMemory(remark, captured, remark.supersedes)), run);
    if (item !== undefined) items.push(item);
  }
  const written = capture.summary(captured, agentsHere()[id].title);
  const summary = written && checked(memory(path, written), run);
  if (daemon === undefined) return;
  const pending = { items, ...(summary && { summary: summary.body }) };
  const next: TranscriptMark = { ...mark, look: transcript.look, seen: capture.seen, pending };
  transcript.save(next);
  await sendPending(transcript, next, run);
}

/** The time of the first line that has a readable one; that of the file if none has. */
async function firstTime({ lines, began }: OpenTranscript): Promise<number> {
  for await (const line of lines()) {
    const time = timeOf(line?.["timestamp"]);
    if (typeof time === "number") return time;
  }
  return began;
}

/** Memories that are looked through for what a correction is about. */
const LOOKED_AT = 8;

/**
 * A correction with the id of the memory that it corrects, and that memory's text where the conversation does not have what was said
 * before; undefined where nothing tells what it is about.
 */
async function resolved(
  remark: Remark,
  correction: Correction,
  { project }: Captured,
  { daemon, flags }: Run,
): Promise<(Remark & { readonly supersedes: string | undefined }) | undefined> {
  const owner = flags.project ?? project;
  const found =
    daemon === undefined || correction.old === undefined
      ? undefined
      : await daemon.api.query(correction.text, {
          k: LOOKED_AT,
          include_facts: false,
          filters: { project: owner === undefined ? [null] : [owner, null] },
          ...present({ user_id: flags.user }),
        });
  const corrected = found?.matches.find(
    ({ content, source, metadata, superseded_how: how }) =>
      source === null && how !== "told" && metadata["kind"] !== "summary" && isEndedBy(content, correction),
  );
  if (corrected === undefined) return correction.isAlone ? { ...remark, supersedes: undefined } : undefined;
  const text = remark.text === correction.text ? withBefore(correction, corrected.content) : remark.text;
  return { ...remark, text, supersedes: corrected.id };
}

/** Whether a later remark of the same conversation corrects this one, and so tells it. */
const isCorrectedLater = (remark: Remark, remarks: readonly Remark[]): boolean =>
  remarks
    .slice(remarks.indexOf(remark) + 1)
    .some(
      ({ correction, text }) =>
        correction !== undefined &&
        text.includes(`(Before: ${remark.text})`) &&
        isEndedBy(remark.text, correction),
    );

/** Sends what an import found, and notes that; what was refused stays pending. Returns the mark of then. */
async function sendPending(
  transcript: OpenTranscript,
  mark: TranscriptMark | undefined,
  { daemon, report }: Run,
): Promise<TranscriptMark | undefined> {
  if (daemon === undefined || mark?.pending === undefined) return mark;
  const { pending, ...sent } = mark;
  const refused: Sendable[] = [];
  for (const batch of inPieces(pending.items, BATCH_ITEMS)) {
    const outcomes = await sendItems(daemon, "/memory/add/batch", batch, new Set());
    for (const [i, item] of batch.entries()) {
      const outcome = outcomes[i];
      report.count(item.where, outcome);
      if (typeof outcome !== "string") refused.push(item);
    }
  }
  const summary = await keepSummary(daemon.api, pending.summary, sent.summary, report);
  const left = refused.length > 0 && { pending: { items: refused } };
  const after: TranscriptMark = { ...sent, ...present({ summary }), ...left };
  transcript.save(after);
  return after;
}

/** Adds the summary of a session, or brings it up to date; one that was deleted stays so. Returns its id. */
async function keepSummary(
  api: MemorydClient,
  summary: Sendable["body"] | undefined,
  known: string | undefined,
  report: ImportReport,
): Promise<string | undefined> {
  if (summary === undefined) return known;
  const { content, metadata = {}, ...rest } = summary as unknown as NewMemory;
  if (known === undefined) {
    const { id, deduplicated } = await api.memories.add({ content, metadata, ...rest });
    report.count("", deduplicated ? "known" : "added");
    return id;
  }
  try {
    await api.memories.update(known, { content, metadata });
  } catch (error) {
    if (!(error instanceof MemorydError && error.status === 404)) throw error;
  }
  return known;
}

function checked(given: ImportItem, { flags, report }: Run): Sendable | undefined {
  const item = checkItem(given, flags);
  if ("route" in item) {
    report.found(item);
    return item;
  }
  if ("reason" in item) report.leftOut(item);
  return undefined;
}
