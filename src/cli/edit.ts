import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editorOf } from "../config.ts";
import { CliFailure } from "./cli-failure.ts";
import { connect } from "./daemon-client.ts";
import { readMemory } from "./memory-reads.ts";
import { complain, print, printJson } from "./output.ts";
import { ShownMemory } from "./shown-memory.ts";

export interface EditOptions {
  readonly json?: boolean;
}

/**
 * Opens a memory's text in the user's editor and stores what was changed, unless the memory was changed meanwhile. What
 * could not be stored stays in its file, so that no work is lost.
 */
export async function editMemory(dataDir: string, id: string, options: EditOptions): Promise<void> {
  const editor = editorOf();
  if (editor === undefined) {
    throw new CliFailure("There is no editor to open; set VISUAL or EDITOR, such as `export EDITOR=nano`.");
  }
  const daemon = await connect(dataDir);
  const { content, version } = await readMemory(daemon, id);
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
    if (edited === content) {
      isDone = true;
      return print("Nothing was changed.");
    }
    if (edited.trim() === "") {
      isDone = true;
      throw new CliFailure(`Nothing was changed: the text is empty. Delete it with \`memoryd rm ${id}\`.`);
    }
    const changed = await daemon.call(
      ShownMemory,
      "PATCH",
      `/memory/${encodeURIComponent(id)}`,
      { content: edited },
      { "if-match": `"${version}"` },
    );
    isDone = true;
    if (options.json === true) printJson(changed);
    else print(`changed ${changed.id} (version ${changed.version})`);
  } finally {
    if (isDone) await rm(folder, { recursive: true, force: true });
    else
      complain(`Nothing was changed. Your text is in ${file}; it may be removed when you have it elsewhere.`);
  }
}

/** Runs what VISUAL or EDITOR says, which may have arguments, as git does. */
async function runEditor(editor: string, file: string): Promise<void> {
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" })
      : spawn("sh", ["-c", `${editor} "$@"`, "sh", file], { stdio: "inherit" });
  const code = await new Promise<number | null>((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  if (code !== 0) {
    throw new CliFailure(
      `The editor \`${editor}\` ended with code ${code}; set VISUAL or EDITOR to one that works.`,
    );
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliFailure("The file is not text in UTF-8 any more; save it so.", { cause });
  }
}
