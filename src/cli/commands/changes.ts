import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import {
  type Memory,
  type MemorydClient,
  MemorydError,
  type SupersededPair,
  type TrashedMemory,
} from "../../client/client.ts";
import { CLIENT_NAME } from "../../schemas/text-rules.ts";
import { present } from "../../schemas/wire.ts";
import { connect, fullId, memoryId } from "../connect.ts";
import {
  addCommand,
  type Flags,
  pastTime,
  textOf,
  time,
  userId,
  wholeNumber,
  withDataDir,
} from "../output/options.ts";
import {
  beginning,
  CliFailure,
  complain,
  oneLine,
  paint,
  plural,
  print,
  printJson,
  tagWords,
  textIn,
  usageFailure,
  minute,
  day,
} from "../output/output.ts";
import { shortId } from "../../core/text/text-size.ts";
import { confirmed, ID, readMemory } from "./memories.ts";

export function addChangeCommands(memoryd: Command): void {
  addCommand(memoryd, "edit", "change the text of a memory in your editor (VISUAL or EDITOR)")
    .argument("<id>", ID)
    .option("--json", "print the record as JSON")
    .action(edit);

  addCommand(memoryd, "tag", "add tags to a memory and remove others")
    .argument("<id>", ID)
    .argument("<change...>", "+tag adds a tag, -tag removes it")
    .option("--json", "print the record as JSON")
    // A change that begins with a dash is no option.
    .allowUnknownOption()
    .action(tag);
}

/** Stores the edited text, unless the memory changed meanwhile; a text that could not be stored stays in its file. */
async function edit(given: string, flags: Flags): Promise<void> {
  const editor = [process.env["VISUAL"], process.env["EDITOR"]].find((set) => set?.trim()) ?? usualEditor();
  if (editor === undefined)
    throw new CliFailure("There is no editor to open; set VISUAL or EDITOR, such as `export EDITOR=nano`.");
  const { api } = await connect(flags);
  const { id, content, version } = await readMemory(api, given);
  const folder = await mkdtemp(join(tmpdir(), "memoryd-edit-"));
  const file = join(folder, "memory.md");
  let isDone = false;
  try {
    // Editors end a file with a newline; the text has one only where it had one before.
    const isEnded = content.endsWith("\n");
    await writeFile(file, isEnded ? content : `${content}\n`, { mode: 0o600 });
    await runEditor(editor, file);
    const text = textIn(await readFile(file), "The file is no longer text in UTF-8; save it so.");
    const edited = isEnded ? text : text.replace(/\r?\n$/, "");
    isDone = edited === content || edited.trim() === "";
    if (edited === content) return print("Nothing was changed.");
    if (isDone)
      throw new CliFailure(
        `Nothing was changed: the text is empty. Delete it with \`memoryd rm ${shortId(id)}\`.`,
      );
    const changed = await api.memories.update(id, { content: edited }, { ifVersion: version });
    isDone = true;
    if (flags.json === true) printJson(changed);
    else print(`changed ${shortId(id)} (version ${changed.version})`);
  } finally {
    if (isDone) await rm(folder, { recursive: true, force: true });
    else complain(`Nothing was changed. Your text is in ${file}; remove it when you have it elsewhere.`);
  }
}

function usualEditor(): string | undefined {
  if (!process.stdin.isTTY) return undefined;
  return process.platform === "win32" ? "notepad" : "vi";
}

/** Runs VISUAL or EDITOR, which may have arguments, as git does. */
async function runEditor(editor: string, file: string): Promise<void> {
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" })
      : spawn("sh", ["-c", `${editor} "$@"`, "sh", file], { stdio: "inherit" });
  const code = await new Promise<number | null>((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  if (code !== 0)
    throw new CliFailure(
      `The editor \`${editor}\` ended with code ${code}; set VISUAL or EDITOR to one that works.`,
    );
}

async function tag(given: string, changes: readonly string[], flags: Flags): Promise<void> {
  const wrong = changes.find((change) => !/^[+-][^]/.test(change));
  if (wrong !== undefined)
    throw usageFailure(
      `${oneLine(wrong)} is neither +tag nor -tag; give for example \`memoryd tag ${oneLine(given)} +garden -todo\`.`,
    );
  const named = (sign: string) =>
    changes.filter((change) => change.startsWith(sign)).map((change) => change.slice(1));
  const [added, removed] = [named("+"), named("-")];
  const both = added.find((each) => removed.includes(each));
  if (both !== undefined)
    throw usageFailure(`The tag ${oneLine(both)} cannot be both added and removed; give one of the two.`);
  const { api } = await connect(flags);
  const id = await memoryId(api, given);
  const [result] = (await api.memories.tag({ memories: [{ id }], add: added, remove: removed })).results;
  if (result === undefined || "detail" in result)
    throw new CliFailure(result?.detail ?? "Nothing was tagged.");
  if (flags.json === true) return printJson(await api.memories.get(id));
  print(`${result.changed ? "tagged" : "nothing to change:"} ${shortId(id)}${tagWords(result.tags)}`);
}

/** Entries of the trash asked for at a time. */
const PAGE = 1_000;
/** Thousands of memories may be embedded again. */
const UNDO_TIMEOUT_MS = 3_600_000;

export function addHistoryCommands(memoryd: Command): void {
  addCommand(memoryd, "history", "list the versions of a memory, bring one back, or erase the earlier ones")
    .argument("<id>", ID)
    .option("--restore <version>", "make this version the present one", wholeNumber(1, 1e9))
    .option("--erase", "remove the earlier versions for good")
    .option("--json", "print JSON")
    .action(history);

  const trash = memoryd.command("trash").description("list what was deleted, restore it, or empty the trash");
  withDataDir(trash.command("list", { isDefault: true }))
    .description("list what is in the trash, last deleted first")
    .option("-u, --user <id>", "only this user's memories", userId)
    .option("--json", "print JSON")
    .action(list);
  addCommand(trash, "restore", "bring deleted memories back")
    .argument("<id...>", `${ID}; the root of a document brings the document back`)
    .option("--json", "print the records as JSON")
    .action(restore);
  addCommand(trash, "empty", "remove what is in the trash for good; asks first")
    .argument("[id...]", `${ID} (default: all of it)`)
    .option("-u, --user <id>", "only this user's memories", userId)
    .option("-y, --yes", "remove without asking")
    .action(empty);

  addCommand(memoryd, "undo", "take back what was done to memories; shows it and asks first")
    .option("-c, --client <name>", "only what this client did (default: everybody)", textOf(CLIENT_NAME))
    .option("--since <time>", "only since this time, such as 30min, 2h or yesterday (default: 2h)", pastTime)
    .option("-u, --user <id>", "only this user's memories", userId)
    .option("-y, --yes", "take it back without asking")
    .option("--json", "print what was taken back as JSON")
    .action(undo);
}

async function history(given: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const id = await memoryId(api, given);
  if (flags.restore !== undefined) {
    const memory = await api.memories.restore(id, { version: flags.restore });
    if (flags.json === true) return printJson(memory);
    return print(`restored ${shortId(id)} (version ${memory.version})`);
  }
  if (flags.erase === true) {
    const { deleted } = await api.memories.eraseHistory(id);
    return print(`erased ${plural(deleted, "earlier version")} of ${shortId(id)}`);
  }
  const answer = await api.memories.history(id, { l: PAGE });
  if (flags.json === true) return printJson(answer);
  for (const { version, content, tags, changed_at, changed_by, change } of answer.items) {
    const by = changed_by === null ? "" : ` by ${changed_by}`;
    print(paint("faint", `${version}  ${minute(changed_at)}  ${change}${by}`));
    print(`   ${beginning(content)}${paint("faint", tagWords(tags))}`);
  }
}

async function list(flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const answer = await api.trash.page(present({ user_id: flags.user, l: PAGE }));
  if (flags.json === true) return printJson(answer);
  if (answer.items.length === 0) print("The trash is empty.");
  answer.items.forEach(printEntry);
  const rest = answer.total - answer.items.length;
  if (rest > 0) print(paint("faint", `… ${rest} more`));
}

function printEntry({ id, content, tags, memories, deleted_at, deleted_by }: TrashedMemory): void {
  const by = deleted_by === null ? "" : ` by ${deleted_by}`;
  const whole = memories === 1 ? "" : ` (a document with ${memories} memories)`;
  print(
    `${paint("faint", `${shortId(id)}  ${minute(deleted_at)}${by}`)}  ${beginning(content)}${whole}${paint("faint", tagWords(tags))}`,
  );
}

async function restore(given: readonly string[], flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  for (const text of given) {
    const memory = await api.trash.restore(await trashedId(api, text));
    if (flags.json === true) printJson(memory);
    else print(`restored ${shortId(memory.id)}  ${beginning(memory.content)}`);
  }
}

async function empty(given: readonly string[], flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const ids = await Promise.all(given.map((text) => trashedId(api, text)));
  const user = present({ user_id: flags.user });
  const { total } = await api.trash.page({ ...user, l: 1 });
  const count = given.length === 0 ? total : given.length;
  if (count === 0) return print("The trash is empty.");
  const what = plural(count, "entry");
  if (flags.yes !== true && !(await confirmed(`Remove ${what} for good?`, "Nothing was removed"))) return;
  let deleted = 0;
  if (given.length === 0) ({ deleted } = await api.trash.empty(user));
  for (const id of ids) deleted += (await api.trash.delete(id, user)).deleted;
  print(`removed ${plural(deleted, "memory")} for good`);
}

async function trashedId(api: MemorydClient, text: string): Promise<string> {
  return await fullId(text, "deleted memory", async (end) => {
    const found: string[] = [];
    for (let u = 0; ;) {
      const { items } = await api.trash.page({ l: PAGE, u });
      if (items.length === 0) return found;
      for (const { id } of items) if (id.endsWith(end)) found.push(id);
      // Long texts end a page before its limit.
      u += items.length;
    }
  });
}

async function undo(flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  // Both calls are of the same moment.
  const since = flags.since ?? time("2h");
  const wanted = present({ client: flags.client, since, user_id: flags.user });
  if (flags.yes !== true) {
    const { items } = await api.undo({ ...wanted, dry_run: true });
    // Standard output is for the JSON alone.
    items.forEach((item) => (flags.json === true ? complain : print)(undone(item)));
    const count = items.filter(({ done }) => done).length;
    if (count === 0)
      return flags.json === true ? printJson({ items }) : print("There is nothing to take back.");
    const question = `Take back ${plural(count, "change")}?`;
    if (!(await confirmed(question, "Nothing was changed"))) return;
  }
  const { items } = await api.undo(wanted, { timeoutMs: UNDO_TIMEOUT_MS });
  if (flags.json === true) return printJson({ items });
  // The others were printed before the question.
  for (const item of items) if (flags.yes === true || !item.done) print(undone(item));
  if (items.length === 0) return print("There is nothing to take back.");
  print(`took back ${plural(items.filter(({ done }) => done).length, "change")}`);
}

type Undone = Awaited<ReturnType<MemorydClient["undo"]>>["items"][number];

function undone({ kind, id, text, reason }: Undone): string {
  const why = reason === undefined ? "" : ` (left as it is: ${reason})`;
  return `${paint("faint", `${shortId(id)}  ${kind}`)}  ${beginning(text)}${why}`;
}

export function addSupersededCommands(memoryd: Command): void {
  addCommand(memoryd, "superseded", "list notes that a later note replaced, or perhaps did")
    .option("-u, --user <id>", "only this user's memories", userId)
    .option("--guessed", "only guesses, to confirm with `supersede` or reject with `still-holds`")
    .option("--json", "print JSON")
    .action(listSuperseded);
  addCommand(memoryd, "still-holds", "reject the guess that a later note replaced this one, for good")
    .argument("<id>", ID)
    .option("--json", "print the record as JSON")
    .action(stillHolds);
  addCommand(memoryd, "supersede", "say that a note replaces an earlier one, which stays and ranks behind it")
    .argument("<new>", ID)
    .argument("<old>", ID)
    .option("--json", "print the record as JSON")
    .action(supersede);
}

async function listSuperseded(flags: Flags & { readonly guessed?: boolean }): Promise<void> {
  const { api } = await connect(flags);
  const filter = {
    ...present({ user_id: flags.user }),
    ...(flags.guessed === true && { how: "inferred" as const }),
  };
  const pairs: SupersededPair[] = [];
  for await (const pair of api.memories.superseded(filter)) pairs.push(pair);
  if (flags.json === true) return printJson({ items: pairs });
  if (pairs.length === 0) return print("No note was replaced by a later one.");
  for (const { older, newer } of pairs) {
    print(`${shortId(older.id)}  ${day(older.occurred_at)}  ${beginning(older.content)}`);
    const how = older.superseded_how === "told" ? "replaced by" : "perhaps replaced by";
    print(`  ${how} ${shortId(newer.id)}  ${day(newer.occurred_at)}  ${beginning(newer.content)}`);
  }
}

async function stillHolds(given: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const { id } = await readMemory(api, given);
  const memory = await api.memories.update(id, { still_holds: true });
  if (flags.json === true) return printJson(memory);
  print(
    memory.superseded_by === null
      ? `${shortId(id)} still holds.`
      : `${shortId(id)} was replaced by ${shortId(memory.superseded_by)}, as somebody said; \`memoryd edit\` changes that note.`,
  );
}

async function supersede(newer: string, older: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const [by, of] = [await memoryId(api, newer), await readMemory(api, older)];
  const memory = await supersedeToo(api, by, of.id);
  if (flags.json === true) return printJson(memory);
  print(`${shortId(by)} replaces ${shortId(of.id)}: ${oneLine(beginning(of.content))}`);
}

/** Adds to what a memory replaces, and again from the start where another change came between. */
async function supersedeToo(api: MemorydClient, id: string, older: string): Promise<Memory> {
  for (;;) {
    const { supersedes, version } = await api.memories.get(id);
    try {
      const all = [...new Set([...supersedes, older])];
      return await api.memories.update(id, { supersedes: all }, { ifVersion: version });
    } catch (error) {
      if (!(error instanceof MemorydError && error.code === "VERSION_MISMATCH")) throw error;
    }
  }
}
