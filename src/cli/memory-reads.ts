import { connect, type DaemonClient } from "./daemon-client.ts";
import { pathOf } from "./facts.ts";
import { lines, oneLine, paint, print, printJson, printTable } from "./output.ts";
import { MemoryPage, ShownMemory } from "./shown-memory.ts";

const DEFAULT_LIMIT = 20;
const LINE_CHARS = 100;

export interface ShowOptions {
  readonly json?: boolean;
}

/** Prints a memory with all that is known of it. */
export async function showMemory(dataDir: string, id: string, options: ShowOptions): Promise<void> {
  const memory = await readMemory(await connect(dataDir), id);
  if (options.json === true) return printJson(memory);
  print(lines(memory.content));
  print("");
  printTable(propertiesOf(memory));
}

/** @throws {CliFailure} when there is none with that id. */
export async function readMemory(daemon: DaemonClient, id: string): Promise<ShownMemory> {
  return await daemon.call(ShownMemory, "GET", `/memory/${encodeURIComponent(id)}`);
}

export interface ListMemoriesOptions {
  readonly limit?: number;
  readonly cursor?: string;
  readonly user?: string;
  readonly project?: string;
  readonly session?: string;
  readonly tag?: string;
  readonly sector?: string;
  readonly client?: string;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Prints a page of memories, a line each and the newest first, and how to go on. */
export async function listMemories(dataDir: string, options: ListMemoriesOptions): Promise<void> {
  const { limit = DEFAULT_LIMIT, cursor, project, tag, sector, from, to } = options;
  const daemon = await connect(dataDir);
  const path = pathOf("/memory/all", {
    l: limit,
    cursor,
    user_id: options.user,
    project,
    session_id: options.session,
    tag,
    sector,
    created_by: options.client,
    from,
    to,
  });
  const page = await daemon.call(MemoryPage, "GET", path);
  if (options.json === true) return printJson(page);
  if (page.items.length === 0) return print("Nothing found.");
  for (const memory of page.items) print(lineOf(memory));
  if (page.next_cursor === null) return;
  const rest = page.total - page.offset - page.items.length;
  print(`… ${rest} more; go on with --cursor ${page.next_cursor}`);
}

/** A memory on one line: its id, its day, how it begins, its tags. */
export function lineOf({ id, occurred_at, content, tags }: ShownMemory): string {
  const text = oneLine(content);
  const beginning =
    text.length <= LINE_CHARS ? text : `${text.slice(0, LINE_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
  const day = occurred_at.slice(0, "YYYY-MM-DD".length);
  const words = tags.map((tag) => ` #${oneLine(tag)}`).join("");
  return `${paint("faint", `${id}  ${day}`)}  ${beginning}${paint("faint", words)}`;
}

function propertiesOf(memory: ShownMemory): [string, string][] {
  const { source } = memory;
  const rows: [string, string | null | undefined][] = [
    ["id", memory.id],
    ["tags", memory.tags.join(", ")],
    ["user", memory.user_id],
    ["project", memory.project],
    ["session", memory.session_id],
    ["happened", memory.occurred_at],
    ["sectors", memory.sectors.join(", ")],
    ["salience", memory.salience.toFixed(2)],
    ["added", memory.created_at],
    ["by", memory.created_by],
    ["changed", memory.version === 1 ? undefined : `${memory.updated_at} (version ${memory.version})`],
    ["document", source?.document_id],
    ["file", source?.filename ?? source?.url],
    ["page", source?.page === undefined ? undefined : String(source.page)],
    ["section", source?.section],
    ["metadata", Object.keys(memory.metadata).length === 0 ? undefined : JSON.stringify(memory.metadata)],
  ];
  return rows.flatMap(([name, value]) =>
    value === null || value === undefined || value === "" ? [] : [[name, oneLine(value)]],
  );
}
