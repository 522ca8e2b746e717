import { MemorydError } from "../../client/client.ts";
import { connect, type Daemon } from "../connect.ts";
import { type Checked, checkItem, type Owners, refusedOwners, type Sendable } from "../import/check-item.ts";
import { datedByFile, type ImportFormat, skipped } from "../import/import-item.ts";
import { ImportReport } from "../import/import-report.ts";
import { type ImportSource, openSource } from "../import/open-source.ts";
import { KNOWN_FORMATS } from "../import/read-record.ts";
import { sendFile, sendItems } from "../import/send.ts";
import type { Flags } from "../output/options.ts";
import { CliFailure, EXIT, showProgress } from "../output/output.ts";
import { createHash } from "node:crypto";
import { type Fields, isObject } from "../../config/narrow.ts";
import { parseTime } from "../../schemas/wire.ts";

export interface ImportOptions extends Flags, Owners {
  readonly format?: ImportFormat;
  readonly dateFormat?: string;
  readonly encoding?: string;
  readonly allBranches?: boolean;
  readonly onlyMine?: boolean;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
}

type Link = Extract<Checked, { kind: "link" }>;

/** Records in one request: few enough that progress is seen. */
const BATCH_ITEMS = 64;
const BATCH_CHARS = 1_024 * 1_024;
/** Of the waypoint for a link between notes; it grows with use. */
const LINK_WEIGHT = 0.5;
const CUT_OFF =
  "memoryd stopped answering; look at `memoryd status` and its log. Run the same command again to complete the import; nothing is added twice.";

/** Imports from other programs or another memoryd; what is there already is not added again. */
export async function importFrom(path: string, options: ImportOptions): Promise<void> {
  const { dryRun = false } = options;
  const source = await openSource(path, options.format, options);
  const report = new ImportReport(options.strict);
  try {
    await run(source, options, report, dryRun ? undefined : await connect(options));
  } catch (cause) {
    const isCutOff = cause instanceof MemorydError && /^(?:UNREACHABLE|TIMEOUT)$/.test(cause.code);
    throw isCutOff ? new CliFailure(CUT_OFF, { cause }) : cause;
  } finally {
    showProgress("");
  }
  report.print({ json: options.json === true, dryRun });
  if (report.counts.failed > 0) process.exitCode = EXIT.failure;
}

/** @param daemon undefined: nothing is sent. @throws {CliFailure} where nothing at all was found. */
async function run(
  { format, items, changedAt }: ImportSource,
  options: ImportOptions,
  report: ImportReport,
  daemon: Daemon | undefined,
): Promise<void> {
  const leaveOut = refusedOwners();
  const created_at = new Date().toISOString();
  const made = new Set<string>();
  /** Ids of notes by their places, for the links between them. */
  const notes = new Map<string, string>();
  const isNotes = format === "markdown";
  let findStored: FindStored | undefined;
  let batch: Sendable[] = [];
  let batchChars = 0;

  const flush = async (): Promise<void> => {
    const [sent, [first]] = [batch, batch];
    batch = [];
    batchChars = 0;
    if (daemon === undefined || first === undefined) return;
    const isOfNotes = isNotes && first.route === "/memory/add/batch";
    const onStored = ({ where }: Sendable, id: string) => void (isOfNotes && notes.set(where, id));
    const outcomes = await sendItems(daemon, first.route, sent, made, onStored);
    for (const [i, { where }] of sent.entries()) report.count(where, outcomes[i]);
    showProgress(report.inWords());
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

  let isEmpty = true;
  for await (const found of items) {
    const item = datedByFile(found, changedAt);
    isEmpty = false;
    const fitting = leaveOut(item, checkItem(item, options));
    const checked = "kind" in fitting && fitting.kind === "link" ? await waypointOf(fitting) : fitting;
    if ("reason" in checked) {
      // With --strict the first fault ends the import, but not before those that came before it.
      if (checked.kind === "faulty" && options.strict === true) await flush();
      report.leftOut(checked);
      continue;
    }
    report.found(checked);
    if ("kind" in checked) {
      // The document that it belongs to goes first.
      await flush();
      if (daemon === undefined) continue;
      report.count(checked.where, await sendFile(daemon, checked, options));
      showProgress(report.inWords());
      continue;
    }
    const isDated = !(item.kind === "memory" && item.isDatedByFile);
    // Records before the first one without a time have times, and are not looked for.
    if (daemon !== undefined && (isNotes || !isDated))
      findStored ??= await readStored(daemon, options.project);
    const stored =
      item.kind === "memory" && (isNotes || !isDated) ? findStored?.(checked.body, isDated) : undefined;
    if (stored !== undefined) {
      notes.set(checked.where, stored);
      report.count(checked.where, "known");
      continue;
    }
    const chars = JSON.stringify(checked.body).length;
    const isOther = batch[0] !== undefined && batch[0].route !== checked.route;
    if (isOther || batch.length >= BATCH_ITEMS || batchChars + chars > BATCH_CHARS) await flush();
    batch.push(checked);
    batchChars += chars;
  }
  if (isEmpty)
    throw new CliFailure(`There is nothing in it that can be imported. Known are ${KNOWN_FORMATS}.`);
  await flush();
}

interface Stored {
  readonly id: string;
  /** The note's; empty for other memories. */
  readonly path: string;
  readonly time: number | undefined;
  /** The note of this import that it is. */
  takenBy?: string;
}

/** Finds the memory of a note or record that is stored already. @param isDated false where its time is that of its file, which copying changes. */
export type FindStored = (body: Fields, isDated: boolean) => string | undefined;

/**
 * Reads what was imported before. Which folder was named decides how long a note's path is, so it is the same note where one
 * path ends in the other and all else is equal; each is the memory of one note at most.
 */
export async function readStored({ api }: Daemon, project: string | undefined): Promise<FindStored> {
  const notes = new Map<string, Stored[]>();
  const filter = { created_by: "memoryd-cli", ...(project !== undefined && { project }) };
  for await (const { id, occurred_at, ...memory } of api.memories.list(filter)) {
    const { key, path } = placeOf(memory);
    notes.set(key, [...(notes.get(key) ?? []), { id, path, time: parseTime(occurred_at) }]);
  }
  return (body, isDated) => {
    const { key, path } = placeOf(body);
    const time = parseTime(body["occurred_at"]);
    const alike = (notes.get(key) ?? []).filter(
      (note) => (note.takenBy ?? path) === path && (!isDated || note.time === time),
    );
    const found =
      alike.find((note) => note.path === path) ??
      alike.find((note) => note.path.endsWith(`/${path}`) || path.endsWith(`/${note.path}`));
    if (found !== undefined) found.takenBy = path;
    return found?.id;
  };
}

/** The path of a note, and a hash of all that is equal for memories that differ in their paths and times alone. */
function placeOf(memory: Fields): { readonly key: string; readonly path: string } {
  const { content, tags = [], metadata, user_id = null, project = null, session_id = null } = memory;
  const all = isObject(metadata) ? metadata : {};
  const isNote = /^(?:markdown|basic-memory)$/.test(String(all["source"])) && typeof all["path"] === "string";
  const fields = Object.entries(all)
    .filter(([name]) => !isNote || name !== "path")
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const equal = [String(content).trim(), tags, fields, user_id, project, session_id];
  return {
    path: isNote ? String(all["path"]) : "",
    key: createHash("sha256").update(JSON.stringify(equal)).digest("base64"),
  };
}
