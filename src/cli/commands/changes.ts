import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import {
  CliFailure,
  complain,
  oneLine,
  print,
  printJson,
  shortId,
  tagWords,
  usageFailure,
} from "../output/output.ts";
import { addCommand, type Flags } from "../output/options.ts";
import { ID, readMemory } from "./memories.ts";

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
    const text = decoded(await readFile(file));
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

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliFailure("The file is no longer text in UTF-8; save it so.", { cause });
  }
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
  const memory = await readMemory(api, given);
  const tags = [...new Set([...memory.tags, ...added])].filter((each) => !removed.includes(each));
  const isSame = tags.length === memory.tags.length && tags.every((each) => memory.tags.includes(each));
  const changed = isSame
    ? memory
    : await api.memories.update(memory.id, { tags }, { ifVersion: memory.version });
  if (flags.json === true) return printJson(changed);
  print(`${isSame ? "nothing to change:" : "tagged"} ${shortId(changed.id)}${tagWords(changed.tags)}`);
}
