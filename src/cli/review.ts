import { type Static, Type } from "typebox";
import { parseTime } from "../schemas/time.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect, type DaemonClient } from "./daemon-client.ts";
import { ask, oneLine, print, printJson } from "./output.ts";

export interface ReviewOptions {
  readonly client?: string;
  readonly since?: string;
  /** True: all that is shown; else ids of what is shown. */
  readonly remove?: true | readonly string[];
  readonly yes?: boolean;
  readonly json?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Looked back where nobody says. */
const DEFAULT_SINCE_MS = 30 * DAY_MS;
const PAGE = 1_000;
const SNIPPET_CHARS = 100;
const NO_CLIENT = "(no name)";

const Listed = Type.Object({
  id: Type.String(),
  content: Type.String(),
  tags: Type.Array(Type.String()),
  project: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.String(),
  created_by: Type.Union([Type.String(), Type.Null()]),
  source: Type.Union([
    Type.Object({
      document_id: Type.String(),
      filename: Type.Union([Type.String(), Type.Null()]),
      url: Type.Optional(Type.String()),
    }),
    Type.Null(),
  ]),
});
const Page = Type.Object({
  items: Type.Array(Listed),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

/** A note, or a document with all of its notes: what is shown on a line, and removed as one. */
interface Entry {
  readonly id: string;
  readonly kind: "note" | "document";
  readonly client: string | null;
  readonly created_at: string;
  readonly project: string | null;
  readonly tags: readonly string[];
  /** The beginning of a note; where a document is from. */
  readonly text: string;
  /** Notes: of a document those that were found. */
  notes: number;
}

/** Shows what was added, by client and day, the newest first; with `remove` takes it away again, after asking. */
export async function review(dataDir: string, options: ReviewOptions): Promise<void> {
  const since = sinceOf(options.since);
  const daemon = await connect(dataDir);
  const shown = await entriesSince(daemon, since, options.client);
  if (options.remove !== undefined) return remove(daemon, chosen(shown, options.remove), options);
  if (options.json === true) return printJson({ since: new Date(since).toISOString(), entries: shown });
  if (shown.length === 0) return print(`Nothing was added since ${day(new Date(since).toISOString())}.`);
  for (const [client, ofClient] of groups(shown, ({ client }) => client ?? NO_CLIENT)) {
    print(oneLine(client));
    for (const [date, entries] of groups(ofClient, ({ created_at }) => day(created_at))) {
      const notes = entries.reduce((sum, entry) => sum + entry.notes, 0);
      print(`  ${date}  ${notes} ${notes === 1 ? "note" : "notes"}`);
      entries.forEach(printEntry);
    }
  }
}

function sinceOf(text: string | undefined): number {
  if (text === undefined) return Date.now() - DEFAULT_SINCE_MS;
  const time = parseTime(text);
  if (time !== undefined) return time;
  throw new CliFailure(
    `--since is a date such as 2026-11-21 or a time such as 2026-11-21T10:15:00Z, not "${text}".`,
    {
      exitCode: EXIT.usage,
    },
  );
}

async function entriesSince(
  daemon: DaemonClient,
  since: number,
  client: string | undefined,
): Promise<Entry[]> {
  const documents = new Map<string, Entry>();
  const entries: Entry[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = new URLSearchParams({
      l: String(PAGE),
      ...(cursor !== "" && { cursor }),
      ...(client !== undefined && { created_by: client }),
    });
    const page: Static<typeof Page> = await daemon.call(Page, "GET", `/memory/all?${query.toString()}`);
    for (const memory of page.items) {
      if (Date.parse(memory.created_at) < since) return entries;
      const known = memory.source === null ? undefined : documents.get(memory.source.document_id);
      if (known !== undefined) {
        known.notes += 1;
        continue;
      }
      const entry = entryOf(memory);
      if (entry.kind === "document") documents.set(entry.id, entry);
      entries.push(entry);
    }
    cursor = page.next_cursor;
  }
  return entries;
}

function entryOf({ id, content, source, created_by: client, ...rest }: Static<typeof Listed>): Entry {
  const { created_at, project, tags } = rest;
  const common = { client, created_at, project, tags, notes: 1 };
  if (source === null) return { ...common, id, kind: "note", text: beginning(content) };
  const text = source.url ?? source.filename ?? beginning(content);
  return { ...common, id: source.document_id, kind: "document", text };
}

function chosen(shown: readonly Entry[], remove: true | readonly string[]): readonly Entry[] {
  if (remove === true) return shown;
  return remove.map((id) => {
    const entry = shown.find((each) => each.id === id.toLowerCase());
    if (entry !== undefined) return entry;
    throw new CliFailure(
      `${oneLine(id)} is not among what was added; widen --since, or take another --client.`,
    );
  });
}

async function remove(
  daemon: DaemonClient,
  entries: readonly Entry[],
  { yes }: ReviewOptions,
): Promise<void> {
  if (entries.length === 0) return print("Nothing to remove.");
  if (yes !== true) {
    entries.forEach(printEntry);
    const answer = await ask(`Remove ${count(entries)} for good? [y/N] `);
    if (answer === undefined) {
      throw new CliFailure(
        "Nothing was removed: nobody is there to ask. Say --yes to remove without asking.",
        {
          exitCode: EXIT.usage,
        },
      );
    }
    if (!answer) return print("Nothing was removed.");
  }
  for (const { id, kind } of entries) {
    await daemon.call(Type.Unknown(), "DELETE", kind === "note" ? `/memory/${id}` : `/documents/${id}`);
  }
  print(`Removed ${count(entries)}.`);
}

function count(entries: readonly Entry[]): string {
  const of = (kind: Entry["kind"]) => entries.filter((entry) => entry.kind === kind).length;
  const parts = (["note", "document"] as const).flatMap((kind) => {
    const number = of(kind);
    return number === 0 ? [] : [`${number} ${kind}${number === 1 ? "" : "s"}`];
  });
  return parts.join(" and ");
}

function printEntry({ id, kind, text, notes, project, tags }: Entry): void {
  const what = kind === "note" ? text : `document ${text} (${notes} notes)`;
  const where = project === null ? "" : ` · ${oneLine(project)}`;
  print(`    ${id}  ${oneLine(what)}${tags.map((tag) => ` #${oneLine(tag)}`).join("")}${where}`);
}

function groups<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = found.get(key);
    if (group === undefined) found.set(key, [item]);
    else group.push(item);
  }
  return found;
}

function beginning(text: string): string {
  const line = oneLine(text);
  return line.length <= SNIPPET_CHARS
    ? line
    : `${line.slice(0, SNIPPET_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function day(time: string): string {
  return time.slice(0, "YYYY-MM-DD".length);
}
