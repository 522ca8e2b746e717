import { anything, arrayOf, type Formed, nullable, record, string } from "../json-form.ts";
import { parseTime } from "../schemas/time.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect, type DaemonClient } from "./daemon-client.ts";
import { pathOf, SHOWN_FIELDS, statement } from "./facts.ts";
import { ask, oneLine, print, printJson } from "./output.ts";
import { plural } from "./plural.ts";
import { MemoryPage, type ShownMemory } from "./shown-memory.ts";

export interface ReviewOptions {
  readonly client?: string;
  /** As the API takes times. */
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

const ListedFact = record({
  ...SHOWN_FIELDS,
  project: nullable(string),
  recorded_at: string,
  created_by: nullable(string),
});
const FactPage = record({ facts: arrayOf(ListedFact), next_cursor: nullable(string) });

/** A note, a document with all of its notes, or a fact: what is shown on a line, and removed as one. */
interface Entry {
  readonly id: string;
  readonly kind: "note" | "document" | "fact";
  readonly client: string | null;
  readonly created_at: string;
  readonly project: string | null;
  readonly tags: readonly string[];
  /** The beginning of a note; where a document is from; what a fact states. */
  readonly text: string;
  /** Of a document those that were found; of a fact none. */
  readonly noteIds: string[];
}

/** Shows what was added, by client and day, the newest first; with `remove` takes it away again, after asking. */
export async function review(dataDir: string, options: ReviewOptions): Promise<void> {
  const since = parseTime(options.since) ?? Date.now() - DEFAULT_SINCE_MS;
  const daemon = await connect(dataDir);
  const shown = await entriesSince(daemon, since, options.client);
  if (options.remove !== undefined) return remove(daemon, chosen(shown, options.remove), options);
  if (options.json === true)
    return printJson({ since: new Date(since).toISOString(), entries: shown.map(entryRecord) });
  if (shown.length === 0) return print(`Nothing was added since ${day(new Date(since).toISOString())}.`);
  for (const [client, ofClient] of groups(shown, ({ client }) => client ?? NO_CLIENT)) {
    print(oneLine(client));
    for (const [date, entries] of groups(ofClient, ({ created_at }) => day(created_at))) {
      const notes = entries.reduce((sum, entry) => sum + entry.noteIds.length, 0);
      const facts = entries.filter(({ kind }) => kind === "fact").length;
      print(`  ${date}  ${counted({ note: notes, fact: facts }).join(", ")}`);
      entries.forEach(printEntry);
    }
  }
}

async function entriesSince(
  daemon: DaemonClient,
  since: number,
  client: string | undefined,
): Promise<Entry[]> {
  const time = new Date(since).toISOString();
  const entries: Entry[] = [];
  const documents = new Map<string, Entry>();
  const places = { l: PAGE, created_by: client };
  for (let cursor: string | undefined; ;) {
    const path = pathOf("/memory/all", { ...places, created_from: time, cursor });
    const page: Formed<typeof MemoryPage> = await daemon.call(MemoryPage, "GET", path);
    for (const memory of page.items) {
      const known = memory.source === null ? undefined : documents.get(memory.source.document_id);
      if (known !== undefined) {
        known.noteIds.push(memory.id);
        continue;
      }
      const entry = memoryEntry(memory);
      if (entry.kind === "document") documents.set(entry.id, entry);
      entries.push(entry);
    }
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  for (let cursor: string | undefined; ;) {
    const path = pathOf("/api/temporal/fact", { ...places, recorded_from: time, cursor });
    const page: Formed<typeof FactPage> = await daemon.call(FactPage, "GET", path);
    entries.push(...page.facts.map(factEntry));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return entries.sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0));
}

function factEntry(fact: Formed<typeof ListedFact>): Entry {
  const { id, project, created_by: client, recorded_at: created_at } = fact;
  const text = beginning(statement(fact));
  return { id, kind: "fact", client, created_at, project, tags: [], text, noteIds: [] };
}

function memoryEntry({ id, content, source, created_by: client, ...rest }: ShownMemory): Entry {
  const { created_at, project, tags } = rest;
  const common = { client, created_at, project, tags, noteIds: [id] };
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
  const removed = { note: 0, document: 0, fact: 0 };
  let gone = 0;
  try {
    for (const entry of entries) {
      const { kind, noteIds } = entry;
      if (await isRemoved(daemon, REMOVAL[kind](entry.id))) removed[kind] += 1;
      else {
        let notes = 0;
        // A note that was imported can name a document that never was here.
        if (kind === "document")
          for (const id of noteIds) if (await isRemoved(daemon, REMOVAL.note(id))) notes += 1;
        removed.note += notes;
        if (notes === 0) gone += 1;
      }
    }
  } finally {
    const what = listed(counted(removed));
    const missing = gone === 0 ? "" : ` ${gone} ${gone === 1 ? "was" : "were"} gone already.`;
    print(`${what === "" ? "Nothing was removed." : `Removed ${what}.`}${missing}`);
  }
}

/** False where there is nothing to remove any more. */
async function isRemoved(daemon: DaemonClient, path: string): Promise<boolean> {
  try {
    await daemon.call(anything, "DELETE", path);
    return true;
  } catch (error) {
    if (error instanceof CliFailure && error.status === 404) return false;
    throw error;
  }
}

const REMOVAL: { readonly [Kind in Entry["kind"]]: (id: string) => string } = {
  note: (id) => `/memory/${id}`,
  document: (id) => `/documents/${id}`,
  fact: (id) => `/api/temporal/fact/${id}?erase=true`,
};

function count(entries: readonly Entry[]): string {
  const of = (kind: Entry["kind"]) => entries.filter((entry) => entry.kind === kind).length;
  return listed(counted({ note: of("note"), document: of("document"), fact: of("fact") }));
}

function listed(parts: readonly string[]): string {
  return parts.join(parts.length > 2 ? ", " : " and ");
}

/** "2 notes", "1 fact"; what there is none of is left out. */
function counted(numbers: { readonly [kind: string]: number }): string[] {
  return Object.entries(numbers).flatMap(([kind, number]) => (number === 0 ? [] : [plural(number, kind)]));
}

/** As `--json` shows it. */
function entryRecord({ noteIds, ...rest }: Entry): object {
  return { ...rest, notes: noteIds.length };
}

function printEntry({ id, kind, text, noteIds, project, tags }: Entry): void {
  const what =
    kind === "document"
      ? `document ${text} (${plural(noteIds.length, "note")})`
      : kind === "fact"
        ? `fact ${text}`
        : text;
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
