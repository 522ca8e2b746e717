import type { Fields } from "../../config/narrow.ts";
import { type Command, Option } from "commander";
import type { Fact, Memory, MemorydClient } from "../../client/client.ts";
import { CLIENT_NAME } from "../../schemas/text-rules.ts";
import { connect } from "../connect.ts";
import { TRANSCRIPT_AGENTS } from "../import/import-item.ts";
import {
  beginning,
  counted,
  grouped,
  oneLine,
  plural,
  print,
  printJson,
  tagWords,
  day,
} from "../output/output.ts";
import { shortId } from "../../core/text/text-size.ts";
import { statement } from "../output/draw-timeline.ts";
import { addCommand, type Flags, textOf, time } from "../output/options.ts";
import { present } from "../../schemas/wire.ts";

interface ReviewFlags extends Flags {
  readonly captured?: boolean;
  readonly origin?: string;
  readonly conversation?: string;
}

const NO_CLIENT = "(no name)";

/** A note, a document with all of its notes, or a fact: shown on a line. */
interface Entry {
  readonly id: string;
  readonly kind: "note" | "document" | "fact";
  readonly client: string | null;
  readonly created_at: string;
  readonly project: string | null;
  readonly tags: readonly string[];
  /** The beginning of a note; where a document is from; what a fact states. */
  readonly text: string;
  /** The memories of a document that were found; none for a fact. */
  notes: number;
  readonly metadata: Fields;
}

export function addReviewCommand(memoryd: Command): void {
  addCommand(
    memoryd,
    "review",
    "list what was added, by client and day; `undo`, `rm` and `fact rm` remove it",
  )
    .option("-c, --client <name>", "only records of this client", textOf(CLIENT_NAME))
    .option("--since <time>", "only what was added since, such as 2026-11-21 or 7d (default: 30d)", time)
    .option("--captured", "only what was taken from conversations with agents")
    .addOption(
      new Option(
        "--origin <name>",
        "only what was taken from conversations with this agent, of any time",
      ).choices([...TRANSCRIPT_AGENTS]),
    )
    .option("--conversation <id>", "only what was taken from this conversation, of any time")
    .option("--json", "print JSON")
    .action(review);
}

async function review(flags: ReviewFlags): Promise<void> {
  const isNamed = flags.origin !== undefined || flags.conversation !== undefined;
  const since = flags.since ?? (isNamed ? new Date(0).toISOString() : time("30d"));
  const { api } = await connect(flags);
  const all = await entriesSince(api, since, flags.client);
  const shown = (flags.captured ?? isNamed) ? all.filter(({ metadata }) => isCaptured(metadata, flags)) : all;
  if (flags.json === true)
    return printJson({ since, entries: shown.map(({ metadata: _metadata, ...entry }) => entry) });
  if (shown.length === 0) return print(`Nothing was added since ${day(since)}.`);
  for (const [client, ofClient] of grouped(shown, ({ client }) => client ?? NO_CLIENT)) {
    print(oneLine(client));
    for (const [date, entries] of grouped(ofClient, ({ created_at }) => day(created_at))) {
      const notes = entries.reduce((sum, entry) => sum + entry.notes, 0);
      const facts = entries.filter(({ kind }) => kind === "fact").length;
      print(`  ${date}  ${counted({ note: notes, fact: facts }).join(", ")}`);
      entries.forEach(printEntry);
    }
  }
}

async function entriesSince(api: MemorydClient, since: string, client: string | undefined): Promise<Entry[]> {
  const entries: Entry[] = [];
  const documents = new Map<string, Entry>();
  const by = present({ created_by: client });
  for await (const memory of api.memories.list({ ...by, created_from: since })) {
    const known = memory.source === null ? undefined : documents.get(memory.source.document_id);
    if (known !== undefined) {
      known.notes += 1;
      continue;
    }
    const entry = memoryEntry(memory);
    if (entry.kind === "document") documents.set(entry.id, entry);
    entries.push(entry);
  }
  for await (const fact of api.facts.list({ ...by, recorded_from: since })) entries.push(factEntry(fact));
  return entries.sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0));
}

/** True for what an import took from a conversation with an agent, or from the one that is named. */
function isCaptured(metadata: Entry["metadata"], { origin, conversation }: ReviewFlags): boolean {
  const from = metadata["origin"];
  if (!TRANSCRIPT_AGENTS.some((agent) => agent === from) || from !== (origin ?? from)) return false;
  return conversation === undefined || metadata["conversation_id"] === conversation;
}

function factEntry(fact: Fact): Entry {
  const { id, project, created_by: client, recorded_at: created_at, metadata } = fact;
  const text = beginning(statement(fact));
  return { id, kind: "fact", client, created_at, project, tags: [], text, notes: 0, metadata };
}

function memoryEntry(memory: Memory): Entry {
  const { id, content, source, created_by: client, created_at, project, tags, metadata } = memory;
  const common = { client, created_at, project, tags, metadata, notes: 1 };
  if (source === null) return { ...common, id, kind: "note", text: beginning(content) };
  const text = source.url ?? source.filename ?? beginning(content);
  return { ...common, id: source.document_id, kind: "document", text };
}

function printEntry({ id, kind, text, notes: count, project, tags }: Entry): void {
  const notes = kind === "document" ? ` (${plural(count, "note")})` : "";
  const what = `${kind === "note" ? "" : `${kind} `}${text}${notes}`;
  print(
    `    ${shortId(id)}  ${oneLine(what)}${tagWords(tags)}${project === null ? "" : ` · ${oneLine(project)}`}`,
  );
}
