import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { clockTime, ownTimeZone } from "../../core/text/calendar.ts";
import type { Match, Memory, MemorydClient, NewMemory } from "../../client/client.ts";
import { isObject, messageOf } from "../../config/narrow.ts";
import { CLIENT_NAME, DEFAULT_MATCHES, MAX_CONTENT_CHARS, MOST_MATCHES } from "../../schemas/text-rules.ts";
import { connect, memoryId } from "../connect.ts";
import {
  ask,
  beginning,
  CliFailure,
  lines,
  oneLine,
  paint,
  plural,
  print,
  printJson,
  printTable,
  tagWords,
  textIn,
  usageFailure,
  day,
  minute,
} from "../output/output.ts";
import { shortId } from "../../core/text/text-size.ts";
import { doubt, period, statement } from "../output/draw-timeline.ts";
import * as options from "../output/options.ts";
import { present } from "../../schemas/wire.ts";
import { jsonOf } from "../../files/own-files.ts";

const { addCommand, wholeNumber } = options;
type Flags = options.Flags;

export const ID = "the id, or its last 6 or more characters";
const DEFAULT_LIMIT = 20;
/** Enough to recognise a memory by, and a few lines of a terminal. */
const SNIPPET_CHARS = 240;

export function addMemoryCommands(memoryd: Command): void {
  options
    .withNewOwner(addCommand(memoryd, "add", "add a memory; start memoryd if it does not run"), "memory")
    .argument("[text...]", "the text (default: standard input, as is -)")
    .option("-f, --file <file>", "read the text from this file")
    .option("-t, --tag <tag>", "add a tag; may be given several times", options.tags)
    .option("-s, --session <id>", "name the conversation or piece of work", options.sessionId)
    .option("--occurred-at <time>", "say when it happened, such as 2026-11-21, yesterday or 2h", options.time)
    .option("--supersedes <id...>", "name memories that this one replaces; they stay, and rank behind it")
    .option("--metadata <json>", "keep a JSON object with it")
    .option("--json", "print the record as JSON")
    .action(add);

  options
    .withPeriod(addCommand(memoryd, "query", "find the memories that answer a question"), "what happened")
    .alias("search")
    .option("-u, --user <id>", "only this user's memories", options.userId)
    .option("-p, --project <name>", "only memories of this project", options.project)
    .argument("<text...>", "the question")
    .option(
      "-k, --k <number>",
      `maximum number of memories, 1 to ${MOST_MATCHES} (default: ${DEFAULT_MATCHES})`,
      wholeNumber(1, MOST_MATCHES),
    )
    .option("-s, --session <id>", "only memories of this session", options.sessionId)
    .option("-t, --tag <tag>", "only memories with this tag; several: with all of them", options.tags)
    .addOption(options.sectorOption())
    .option("--min-score <number>", "only matches with this score or better, 0 to 1", options.part)
    .option("-a, --all", "print the nearest memories too, which do not answer")
    .option("--as-of <time>", "answer as of this time, without later memories", options.time)
    .option("--time-zone <zone>", 'say where the question means "yesterday" (default: this machine\'s zone)')
    .option("--json", "print the answer as JSON")
    .action(query);

  addCommand(memoryd, "context", "print what an agent should know at the start of a piece of work")
    .option("-u, --user <id>", "only what is known of this user", options.userId)
    .option(
      "-p, --project <name>",
      "this project and what has none (default: every project)",
      options.project,
    )
    .option("-q, --query <text>", "say what the work is about; what answers it comes first")
    .option(
      "--max-tokens <number>",
      "maximum length of the text, 100 to 20000 (default: 1200)",
      wholeNumber(100, 20_000),
    )
    .option("--json", "print the answer as JSON")
    .action(context);

  addCommand(memoryd, "show", "print a memory with everything known of it")
    .argument("<id>", ID)
    .option("--json", "print JSON")
    .action(show);

  options
    .withPeriod(
      options.withOwner(addCommand(memoryd, "list", "list memories, last added first"), "memories"),
      "what happened",
    )
    .option("-l, --limit <number>", "maximum number, 1 to 10000 (default: 20)", wholeNumber(1, 10_000))
    .option("--cursor <text>", "continue where an earlier list ended")
    .option("-s, --session <id>", "only memories of this session", options.sessionId)
    .option("-t, --tag <tag>", "only memories with this tag; several: with all of them", options.tags)
    .addOption(options.sectorOption())
    .option("-c, --client <name>", "only memories that this client added", options.textOf(CLIENT_NAME))
    .option("--by-time", "what happened last first")
    .option("--json", "print the answer as JSON")
    .action(list);

  addCommand(memoryd, "rm", "move memories to the trash; asks first")
    .aliases(["delete", "remove"])
    .argument("<id...>", `${ID}; the root of a document takes the document along`)
    .option("--erase", "delete for good, with the earlier versions")
    .option("-y, --yes", "delete without asking")
    .action(remove);
}

async function add(words: readonly string[], flags: Flags): Promise<void> {
  const { metadata, tag, session, user, project, occurredAt } = flags;
  const kept = metadata === undefined ? undefined : parseMetadata(metadata);
  const content = await contentOf(words, flags.file);
  if (content.trim() === "")
    throw usageFailure(
      "There is nothing to add; give the text as arguments, on standard input or with --file.",
    );
  if (Array.from(content).length > MAX_CONTENT_CHARS)
    throw usageFailure(
      `The text has more than ${MAX_CONTENT_CHARS.toLocaleString("en")} characters; \`memoryd ingest FILE\` stores it as a document.`,
    );
  const { api } = await (await import("../mcp/daemon-link.ts")).connectOrStart(flags, "writing");
  const supersedes = flags.supersedes && (await Promise.all(flags.supersedes.map((id) => memoryId(api, id))));
  const added = await api.memories.add({
    content,
    ...present({
      tags: tag,
      metadata: kept,
      user_id: user,
      project,
      session_id: session,
      occurred_at: occurredAt,
      supersedes,
    }),
  });
  if (flags.json === true) return printJson(added);
  const verb = added.deduplicated ? "already remembered" : "remembered";
  print(`${verb} ${shortId(added.id)} (${added.primary_sector})`);
}

export function parseMetadata(text: string): NonNullable<NewMemory["metadata"]> {
  const value = jsonOf(text);
  if (isObject(value)) return value as NonNullable<NewMemory["metadata"]>;
  throw usageFailure(`--metadata must be a JSON object, such as '{"source":"diary"}'; got ${text}.`);
}

async function contentOf(words: readonly string[], file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (words.length > 0) throw usageFailure("Give either a text or --file, not both.");
    const bytes = await readFile(file).catch((cause: Error) => {
      throw new CliFailure(`${file} cannot be read (${messageOf(cause)}), so nothing was added.`, { cause });
    });
    return decoded(bytes, file);
  }
  const isAsked = words.length === 1 && words[0] === "-";
  if (words.length > 0 && !isAsked) return words.join(" ");
  // A person who has not asked for it would wait for nothing.
  if (process.stdin.isTTY && !isAsked) return "";
  return decoded(Buffer.concat(await process.stdin.toArray()), "Standard input");
}

function decoded(bytes: Uint8Array, what: string): string {
  const text = textIn(bytes, `${what} is not text in UTF-8, so nothing was added.`);
  return text.replace(/^\ufeff/, "").replace(/\r?\n$/, "");
}

async function query(words: readonly string[], flags: Flags) {
  const text = words.join(" ");
  if (text.trim() === "") throw usageFailure("There is nothing to look for; give the question as arguments.");
  const { project, session, tag, sector, from, to, minScore } = flags;
  const { api } = await (await import("../mcp/daemon-link.ts")).connectOrStart(flags, "reading");
  const filters = { project, session_id: session, tags: tag, sector, from, to, min_score: minScore };
  const snippet = flags.json === true ? undefined : SNIPPET_CHARS;
  const { k = DEFAULT_MATCHES, user: user_id, timeZone: time_zone = ownTimeZone(), asOf: as_of } = flags;
  // One more than is printed tells whether there are more.
  const asked = flags.json === true ? k : Math.min(k + 1, MOST_MATCHES);
  const answer = await api.query(
    text,
    present({ k: asked, user_id, time_zone, as_of, snippet, filters: present(filters) }),
  );
  if (flags.json === true) return printJson(answer);
  const { facts = [] } = answer;
  const matches = answer.matches.slice(0, k);
  const [relevant, plausible] = [Math.min(k, answer.relevant), Math.min(k, answer.plausible)];
  for (const fact of facts) {
    print(`  = ${paint("strong", fact.score.toFixed(2))}  ${statement(fact)}`);
    print(paint("faint", `          ${period(fact)}${doubt(fact)} · ${shortId(fact.id)}`));
  }
  // The facts are an answer.
  if (facts.length > 0 && plausible === 0 && flags.all !== true) return;
  if (flags.all === true || minScore !== undefined) return printMatches(matches);
  // What perhaps answers is printed only where nothing surely does.
  const isSure = relevant > 0 || facts.length > 0;
  if (relevant === 0 && plausible > 0) print(isSure ? "Perhaps also:" : "Nothing sure. Perhaps:");
  printMatches(matches, relevant > 0 ? relevant : plausible);
  if (answer.relevant > k)
    print(paint("faint", `more answer; print them with -k ${Math.min(4 * k, MOST_MATCHES)}`));
}

async function context(flags: Flags): Promise<void> {
  const { user: user_id, project, query, maxTokens: max_tokens } = flags;
  const { api } = await connect(flags);
  const answer = await api.context(present({ user_id, project, query, max_tokens }));
  if (flags.json === true) return printJson(answer);
  print(answer.text === "" ? "Nothing to tell yet." : answer.text);
}

function printMatches(matches: readonly Match[], shown = matches.length): void {
  if (matches.length === 0) return print("Nothing found.");
  if (shown === 0) print("Nothing that answers.");
  matches.slice(0, shown).forEach(printMatch);
  const rest = matches.length - shown;
  if (rest > 0) print(paint("faint", `${rest} more found, less sure; print them with --all`));
}

function printMatch(match: Match, index: number): void {
  const score = paint("strong", match.score.toFixed(2));
  print(`${`${index + 1}.`.padStart(3)} ${score}  ${oneLine(match.snippet ?? match.content)}`);
  const parts = [
    day(match.occurred_at),
    `${match.primary_sector}${tagWords(match.tags)}`,
    placeOf(match),
    replacedBy(match),
    shortId(match.id),
  ];
  print(paint("faint", `          ${parts.filter((part) => part !== "").join(" · ")}`));
}

/** "superseded", or for a guess "perhaps replaced by", with the later note; "" for a note that holds. */
function replacedBy({ superseded_by: by, superseded_how: how }: Memory): string {
  const words = how === "inferred" ? "perhaps replaced by" : "superseded by";
  return by ? `${words} ${shortId(by)}` : "";
}

/** The place in a document: "talk.mp4 12:31", "report.pdf p. 4". */
function placeOf({ source }: Match): string {
  if (source === undefined || source === null) return "";
  const { filename, url, chunk_index: index, page, start_ms: startMs } = source;
  const time = startMs === undefined ? undefined : clockTime(startMs);
  // The root stands for the whole.
  const where = index < 0 ? undefined : (time ?? (page === undefined ? undefined : `p. ${page}`));
  return [oneLine(filename ?? url ?? ""), where ?? ""].filter((word) => word !== "").join(" ");
}

async function show(given: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const memory = await readMemory(api, given);
  if (flags.json === true) return printJson(memory);
  print(lines(memory.content));
  print("");
  printTable(propertiesOf(memory));
  if (memory.superseded_by === null) return;
  const { content } = await api.memories.get(memory.superseded_by);
  print(`\n${replacedBy(memory)}: ${beginning(content)}`);
}

/** @throws {CliFailure} when the id names no memory. */
export const readMemory = async (api: MemorydClient, given: string): Promise<Memory> =>
  await api.memories.get(await memoryId(api, given));

function propertiesOf(memory: Memory): [string, string][] {
  const { source, metadata } = memory;
  const rows: [string, string | null | undefined][] = [
    ["id", memory.id],
    ["tags", memory.tags.join(", ")],
    ["user", memory.user_id],
    ["project", memory.project],
    ["session", memory.session_id],
    ["happened", minute(memory.occurred_at)],
    ["sectors", memory.sectors.join(", ")],
    ["salience", memory.salience.toFixed(2)],
    ["added", minute(memory.created_at)],
    ["by", memory.created_by],
    ["changed", memory.version === 1 ? "" : `${minute(memory.updated_at)} (version ${memory.version})`],
    ["document", source?.document_id],
    ["file", source?.filename ?? source?.url],
    ["page", source?.page === undefined ? "" : String(source.page)],
    ["section", source?.section],
    ["metadata", Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata)],
  ];
  return rows.flatMap(([name, value]) => (value ? [[name, oneLine(value)]] : []));
}

async function list(flags: Flags): Promise<void> {
  const { limit = DEFAULT_LIMIT, cursor, user, project, session, tag = [], sector, client, from, to } = flags;
  const { api } = await connect(flags);
  const filter = { user_id: user, project, session_id: session, sector, created_by: client };
  const tags = tag.length === 0 ? undefined : tag;
  const order = flags.byTime === true ? "happened" : undefined;
  const page = await api.memories.page(present({ l: limit, cursor, ...filter, tags, order, from, to }));
  if (flags.json === true) return printJson(page);
  if (page.items.length === 0) return print("Nothing found.");
  for (const memory of page.items) print(lineOf(memory, flags.byTime));
  const rest = page.total - page.offset - page.items.length;
  if (page.next_cursor !== null) print(`… ${rest} more; continue with --cursor ${page.next_cursor}`);
}

/** With the day by which lists are sorted, and beside the day of adding the one it happened on where that is another. */
function lineOf(memory: Memory, isByTime = false): string {
  const { id, created_at, occurred_at, content, tags } = memory;
  const [added, happened] = [day(created_at), day(occurred_at)];
  const days = isByTime ? happened : `${added}${happened === added ? "" : ` (of ${happened})`}`;
  const head = paint("faint", `${shortId(id)}  ${days}`);
  const replaced = memory.superseded_by === null ? "" : ` · ${replacedBy(memory)}`;
  return `${head}  ${beginning(content)}${paint("faint", tagWords(tags) + replaced)}`;
}

async function remove(given: readonly string[], flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const memories = new Map<string, Memory>();
  for (const text of given) {
    const memory = await readMemory(api, text);
    memories.set(memory.id, memory);
  }
  const what = plural(memories.size, "memory");
  if (flags.yes !== true) {
    for (const memory of memories.values()) {
      const isRoot = memory.source?.chunk_index === -1;
      print(lineOf(memory) + (isRoot ? " (a document, with all its memories)" : ""));
    }
    const how = flags.erase === true ? " for good" : "";
    if (!(await confirmed(`Delete ${what}${how}?`, "Nothing was deleted"))) return;
  }
  const trash = flags.erase !== true;
  let count = 0;
  for (const id of memories.keys()) count += (await api.memories.delete(id, { trash })).deleted;
  const back = trash ? "; `memoryd trash` lists it" : " for good";
  print(`deleted ${plural(count, "memory")}${back}`);
}

/** Asks; prints `otherwise` where the answer is no. @throws {CliFailure} without a terminal. */
export async function confirmed(question: string, otherwise: string): Promise<boolean> {
  const answer = await ask(`${question} [y/N] `);
  if (answer === undefined)
    throw usageFailure(`${otherwise}: there is no terminal to ask at. Give --yes to go on without asking.`);
  if (!answer) print(`${otherwise}.`);
  return answer;
}
