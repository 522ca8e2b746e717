import { basename } from "node:path";
import { stat } from "node:fs/promises";
import { type MemorydClient, MemorydError, type NewMemory } from "../../client/client.ts";
import { llmKey } from "../../config/config.ts";
import { isObject } from "../../config/narrow.ts";
import { ChatFault, type ChatModel } from "../../models/chat-completions.ts";
import { present } from "../../schemas/wire.ts";
import { connect, type Daemon } from "../connect.ts";
import { hookState } from "../hooks/hook-commands.ts";
import { checkItem, type Owners, type Sendable } from "../import/check-item.ts";
import type { ImportItem, MemoryFields, TranscriptAgentId } from "../import/import-item.ts";
import { ImportReport } from "../import/import-report.ts";
import { sendItems } from "../import/send.ts";
import { namedByPath, projectOfFolder } from "../mcp/project-of-folder.ts";
import { CliFailure, complain, EXIT } from "../output/output.ts";
import { type Flags, settingsOf } from "../output/options.ts";
import { findTranscripts, TRANSCRIPTS } from "../transcripts/agents.ts";
import { askWhatLasts } from "../transcripts/ask-model.ts";
import { factFields, remarkMemory, SessionCapture, summaryMemory } from "../transcripts/capture-session.ts";
import type { Captured, Remark, SessionDigest } from "../transcripts/capture-session.ts";
import { openTranscript } from "../transcripts/transcript-file.ts";
import type { OpenTranscript, TranscriptProgress } from "../transcripts/transcript-file.ts";

export interface TranscriptFlags extends Flags, Owners {
  /** A folder to look for transcripts in, or one transcript. */
  readonly from?: string;
  /** One transcript, for hooks: nothing is printed. */
  readonly file?: string;
  readonly dryRun?: boolean;
  /** Address of a language model's chat completions. */
  readonly llmUrl?: string;
  readonly llmModel?: string;
  readonly llmTimeout?: number;
}

const BATCH_ITEMS = 64;
const LLM_TIMEOUT_S = 180;
/** In a row: then no other is asked. */
const MAX_LLM_FAULTS = 3;

/**
 * Keeps what lasts of the conversations with an agent: what the person said, what was done, and a summary a session.
 * Takes what was written since the last run. All of a conversation is noted before any of it is sent, so that a run that
 * was killed is finished by the next one, which loses nothing and adds nothing twice.
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
  const { dataDir } = settingsOf(flags);
  const run: Run = {
    flags,
    dataDir,
    excluded: hookState(dataDir).excluded,
    model: modelOf(flags),
    daemon,
    report,
  };
  if (run.model !== undefined)
    complain(`What you wrote in these conversations is sent to ${run.model.url}, without text with secrets.`);
  let faults = 0;
  for (const path of paths) {
    try {
      await importTranscript(path, id, run);
      faults = 0;
    } catch (error) {
      if (!(error instanceof ChatFault)) throw error;
      report.fault(path, `the language model ${error.message}; left for the next run`);
      faults += 1;
      if (faults === MAX_LLM_FAULTS) break;
    }
  }
  if (flags.file === undefined) report.print({ json: flags.json === true, dryRun: daemon === undefined });
  if (faults === MAX_LLM_FAULTS)
    throw new CliFailure(
      "The language model was asked for no other conversation; try again when it answers.",
    );
  if (report.counts.failed > 0) process.exitCode = EXIT.failure;
}

interface Run {
  readonly flags: TranscriptFlags;
  readonly dataDir: string;
  /** Projects of which hooks, and this, capture nothing. */
  readonly excluded: readonly string[];
  readonly model: ChatModel | undefined;
  /** Undefined: nothing is sent or noted. */
  readonly daemon: Daemon | undefined;
  readonly report: ImportReport;
}

function modelOf({ llmUrl: url, llmModel, llmTimeout }: TranscriptFlags): ChatModel | undefined {
  const timeoutMs = (llmTimeout ?? LLM_TIMEOUT_S) * 1_000;
  return url === undefined ? undefined : { url, model: llmModel ?? "default", key: llmKey(), timeoutMs };
}

/** @throws {ChatFault} if the language model does not answer; then nothing of the conversation was kept or noted. */
async function importTranscript(path: string, id: TranscriptAgentId, run: Run): Promise<void> {
  const { flags, dataDir, model, report } = run;
  const agent = TRANSCRIPTS[id];
  const transcript = await openTranscript(dataDir, path);
  let mark: TranscriptProgress | undefined = transcript.mark;
  if (mark?.pending !== undefined) mark = await sendPending(transcript, mark, run);
  if (transcript.isRead || mark?.pending !== undefined) return;
  const capture = new SessionCapture(mark?.seen, model !== undefined);
  capture.conversation = mark?.conversation;
  capture.folder = mark?.folder ?? (await agent.workFolder?.(transcript.path));
  const remarks: Remark[] = [];
  for await (const { fields } of transcript.lines()) {
    if (fields === undefined) report.skipped("lines that are no JSON object");
    else
      remarks.push(
        ...capture.take({ at: fields["timestamp"], events: agent.read(fields) }, transcript.began),
      );
  }
  const captured: Captured = {
    origin: id,
    conversation: capture.conversation ?? basename(transcript.path).replace(/\.jsonl?$/, ""),
    project: projectOf(capture.folder),
  };
  if ([captured.project, flags.project].some((name) => name !== undefined && run.excluded.includes(name)))
    return report.skipped("conversations in projects that `memoryd hooks exclude` names");

  const bodies: ImportItem[] = remarks.map((remark) => memoryItem(path, remarkMemory(remark, captured)));
  if (model !== undefined) {
    const lasting = await askWhatLasts(model, capture.lines);
    for (const remark of lasting.remarks)
      bodies.push(memoryItem(path, remarkMemory(remark, captured, model.model)));
    for (const fact of lasting.facts)
      bodies.push({ kind: "fact", where: path, body: factFields(fact, captured, model.model) });
    for (let count = 0; count < lasting.refused; count += 1)
      report.skipped("answers of the language model that nothing in the conversation bears out");
  }
  const items = bodies.flatMap((item) => checked(item, run) ?? []);
  const digest = capture.digest(await readDigest(run.daemon?.api, mark?.summary));
  const summary = digest && checked(memoryItem(path, summaryMemory(digest, captured, agent.title)), run);
  if (run.daemon === undefined) return;
  const { seen, conversation, folder } = capture;
  const next: TranscriptProgress = {
    ...mark,
    ...present({ conversation, folder }),
    seen,
    pending: { items, ...(summary && { summary: summary.body }) },
  };
  await transcript.save(next);
  await sendPending(transcript, next, run);
}

/** Sends what an import found, and notes that; what was refused stays pending. Returns the mark of then. */
async function sendPending(
  transcript: OpenTranscript,
  { pending, ...mark }: TranscriptProgress,
  { daemon, report }: Run,
): Promise<TranscriptProgress> {
  if (daemon === undefined || pending === undefined) return mark;
  const refused: Sendable[] = [];
  for (const route of ["/memory/add/batch", "/api/temporal/fact/batch"] as const) {
    const ofRoute = pending.items.filter((item) => item.route === route);
    for (let from = 0; from < ofRoute.length; from += BATCH_ITEMS) {
      const batch = ofRoute.slice(from, from + BATCH_ITEMS);
      const outcomes = await sendItems(daemon, route, batch, new Set());
      for (const [i, item] of batch.entries()) {
        const outcome = outcomes[i];
        if (outcome === "repeated") report.counts.known += 1;
        else if (typeof outcome === "string") report.counts[outcome] += 1;
        else {
          report.fault(item.where, outcome?.fault ?? "the daemon did not answer for it");
          refused.push(item);
        }
      }
    }
  }
  const id = await keepSummary(daemon.api, pending.summary, mark.summary, report);
  const after: TranscriptProgress = {
    ...mark,
    ...present({ summary: id }),
    ...(refused.length > 0 && { pending: { items: refused } }),
  };
  await transcript.save(after);
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
  const body = summary as unknown as NewMemory;
  if (known === undefined) {
    const added = await api.memories.add(body);
    report.counts[added.deduplicated ? "known" : "added"] += 1;
    return added.id;
  }
  await orGone(api.memories.update(known, { content: body.content, metadata: body.metadata ?? {} }));
  return known;
}

async function readDigest(
  api: MemorydClient | undefined,
  id: string | undefined,
): Promise<SessionDigest | undefined> {
  if (api === undefined || id === undefined) return undefined;
  const digest = (await orGone(api.memories.get(id)))?.metadata["digest"];
  return isObject(digest) && Array.isArray(digest["asked"])
    ? (digest as unknown as SessionDigest)
    : undefined;
}

async function orGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof MemorydError && error.status === 404) return undefined;
    throw error;
  }
}

const memoryItem = (where: string, body: MemoryFields): ImportItem => ({ kind: "memory", where, body });

function checked(given: ImportItem, { flags, report }: Run): Sendable | undefined {
  const item = checkItem(given, flags);
  if ("route" in item) {
    report.found(item);
    return item;
  }
  if (item.kind === "faulty") report.fault(item.where, item.reason);
  return undefined;
}

const projectOf = (folder: string | undefined): string | undefined =>
  folder === undefined ? undefined : (projectOfFolder(folder) ?? namedByPath(folder));
