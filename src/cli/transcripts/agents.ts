import { type Fields, isObject } from "../../config/narrow.ts";
import { readdir, readFile, stat, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { type TranscriptAgentId, listOf, objectOf, textOf } from "../import/import-item.ts";
import { jsonOf, makeFolder, readJson, writeJson } from "../../files/own-files.ts";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Sendable } from "../import/check-item.ts";
import { jsonElements, MAX_LINE_BYTES, textLines } from "../import/text-lines.ts";

export interface TranscriptAgent {
  /** Path of a transcript below the folder of its transcripts, with `/`. */
  readonly file: RegExp;
  readonly read: (line: Fields) => readonly TranscriptEvent[];
  /** The folder that somebody worked in, where lines do not name it. */
  readonly workFolder?: (transcript: string) => Promise<string | undefined>;
}

/** As the agents documented, or their sources had, in November 2026; see docs/agents.md. */
export const TRANSCRIPTS: Readonly<Record<TranscriptAgentId, TranscriptAgent>> = {
  "claude-code": {
    file: /^(?:[^/]+\/)?(?!agent-)[^/]+\.jsonl$/,
    read: readClaudeCodeLine,
  },
  codex: {
    file: /(?:^|\/)rollout-[^/]+\.jsonl$/,
    read: readCodexLine,
  },
  gemini: {
    file: /(?:^|\/)session-[^/]+\.jsonl?$/,
    read: readGeminiLine,
    workFolder: geminiFolder,
  },
  cursor: {
    file: /^(?!.*\/subagents\/)(?:.*\/)?[^/]+\.jsonl$/,
    read: readCursorLine,
    workFolder: cursorFolder,
  },
};

/** The transcripts below a folder, the oldest first; links are passed over. */
export async function findTranscripts(root: string, file: RegExp): Promise<string[]> {
  const found: { readonly path: string; readonly at: number }[] = [];
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && file.test(relative(root, path).split(sep).join("/")))
      found.push({ path, at: (await stat(path)).mtimeMs });
  }
  return found.sort((a, b) => a.at - b.at || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

/** Named in a file beside the folder of the session. */
async function geminiFolder(transcript: string): Promise<string | undefined> {
  const text = await readFile(join(dirname(transcript), "..", ".project_root"), "utf8").catch(() => "");
  return text.trim() || undefined;
}

/** Cursor names a project's folder by its path with `-` for all but letters and digits: the one here that is named so. */
async function cursorFolder(transcript: string): Promise<string | undefined> {
  const name = /[\\/]projects[\\/]([^\\/]+)[\\/]agent-transcripts[\\/]/.exec(transcript)?.[1];
  if (name === undefined) return undefined;
  const drive = /^([a-z])-/i.exec(name)?.[1];
  const isWindows = process.platform === "win32" && drive !== undefined;
  return await folderNamed(isWindows ? `${drive}:\\` : "/", isWindows ? name.slice(2) : name);
}

async function folderNamed(folder: string, name: string): Promise<string | undefined> {
  if (name === "") return folder;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const plain = entry.name.replaceAll(/[^A-Za-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
    if (!entry.isDirectory() || plain === "" || (name !== plain && !name.startsWith(`${plain}-`))) continue;
    const found = await folderNamed(join(folder, entry.name), name.slice(plain.length + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** One thing that a line of a transcript tells; nothing of what an assistant claims. */
export type TranscriptEvent =
  | {
      readonly kind: "about";
      readonly conversation?: string;
      readonly folder?: string;
      readonly title?: string;
    }
  | { readonly kind: "said"; readonly text: string; readonly id: string }
  | { readonly kind: "changed"; readonly path: string }
  | { readonly kind: "ran"; readonly command: string; readonly call: string }
  | { readonly kind: "ended"; readonly call: string; readonly failed: boolean; readonly output: string };

export interface TranscriptLine {
  /** As it stands there: a time for `timeOf`. */
  readonly at?: unknown;
  readonly events: readonly TranscriptEvent[];
}

/** Names that agents give to tools that change a file, or run a command. */
const EDIT_TOOL =
  /^(?:edit|write|multiedit|notebookedit|strreplace|search_replace|edit_file|write_file|replace|create_file)$/i;
const SHELL_TOOL =
  /^(?:bash|shell|shell_command|exec_command|local_shell|run_terminal_cmd|run_shell_command|terminal)$/i;
const PATCHED_FILE = /^\*\*\* (?:Update|Add|Delete) File: (.{1,400})$/gm;

/** A line of Claude Code: the conversation as the Messages API has it, in an envelope. */
function readClaudeCodeLine(line: Fields): readonly TranscriptEvent[] {
  const { type, isSidechain, isMeta, isCompactSummary } = line;
  if (type === "summary" || type === "custom-title" || type === "ai-title") {
    const title = textOf(line["summary"]) ?? textOf(line["customTitle"]) ?? textOf(line["aiTitle"]);
    return title === undefined ? [] : [{ kind: "about", title }];
  }
  if ((type !== "user" && type !== "assistant") || isSidechain === true) return [];
  const about = aboutOf(line["sessionId"], line["cwd"]);
  const content = objectOf(line["message"])?.["content"];
  if (type === "assistant") return [about, ...listOf(content).flatMap((block) => toolUse(objectOf(block)))];
  if (isMeta === true || isCompactSummary === true || line["isVisibleInTranscriptOnly"] === true)
    return [about];
  const results = listOf(content).flatMap((block): TranscriptEvent[] => {
    const { type, tool_use_id, is_error, content } = objectOf(block) ?? {};
    if (type !== "tool_result" || typeof tool_use_id !== "string") return [];
    return [{ kind: "ended", call: tool_use_id, failed: is_error === true, output: textIn(content) }];
  });
  return [about, ...results, ...said(textIn(content), line["uuid"])];
}

/** A line of a rollout of Codex: `{ timestamp, type, payload }`; older ones are the payload alone. */
function readCodexLine(line: Fields): readonly TranscriptEvent[] {
  const payload = objectOf(line["payload"]) ?? line;
  const type = textOf(line["type"]);
  if (type === "session_meta" || (type === undefined && "instructions" in line))
    return [aboutOf(payload["id"], payload["cwd"])];
  if (type === "turn_context") return [aboutOf(undefined, payload["cwd"])];
  switch (payload["type"]) {
    case "user_message":
      return said(textOf(payload["message"]) ?? "", line["timestamp"]);
    case "message":
      return payload["role"] === "user" ? said(textIn(payload["content"]), line["timestamp"]) : [];
    case "function_call":
      return codexCall(
        textOf(payload["name"]) ?? "",
        jsonOf(textOf(payload["arguments"]) ?? ""),
        payload["call_id"],
      );
    case "local_shell_call":
      return codexCall("shell", payload["action"], payload["call_id"]);
    case "custom_tool_call":
      return patched(textOf(payload["input"]) ?? "");
    case "function_call_output": {
      const call = textOf(payload["call_id"]);
      return call === undefined ? [] : [{ kind: "ended", call, ...codexOutput(payload["output"]) }];
    }
    default:
      return [];
  }
}

function codexCall(name: string, input: unknown, call: unknown): TranscriptEvent[] {
  const fields = objectOf(input) ?? {};
  const given = fields["command"] ?? fields["cmd"];
  const words = listOf(given).flatMap((word) => textOf(word) ?? []);
  // `bash -lc SCRIPT`: the script is the command.
  const isWrapped = words.length === 3 && /^-\w*c$/.test(words[1] ?? "");
  const command = textOf(given) ?? (isWrapped ? words[2] : words.join(" ")) ?? "";
  if (command.includes("*** Begin Patch")) return patched(command);
  if (!SHELL_TOOL.test(name) || command === "" || typeof call !== "string") return [];
  return [{ kind: "ran", command, call }];
}

/** `{ output, metadata: { exit_code } }` as JSON, or a text with a line of the exit code. */
function codexOutput(value: unknown): { readonly failed: boolean; readonly output: string } {
  const text = textOf(value) ?? textOf(objectOf(value)?.["content"]) ?? textIn(value);
  const parsed = text.startsWith("{") ? objectOf(jsonOf(text)) : undefined;
  const code =
    objectOf(parsed?.["metadata"])?.["exit_code"] ??
    /^(?:Process exited with code|Exit code:) (\d{1,5})\b/m.exec(text.slice(0, 2_000))?.[1];
  const failed = objectOf(value)?.["success"] === false || (code !== undefined && Number(code) !== 0);
  return { failed, output: textOf(parsed?.["output"]) ?? text };
}

const patched = (patch: string): TranscriptEvent[] =>
  Array.from(patch.matchAll(PATCHED_FILE), ([, path = ""]) => ({ kind: "changed", path: path.trim() }));

/** A message of Gemini CLI, or a line about the session; in an older file all are in one object. */
function readGeminiLine(line: Fields): readonly TranscriptEvent[] {
  const facts = objectOf(line["$set"]) ?? line;
  const folder = listOf(facts["directories"])[0];
  const title = textOf(facts["summary"]);
  const about: TranscriptEvent = {
    ...aboutOf(facts["sessionId"], folder),
    ...(title !== undefined && { title }),
  };
  if (line["type"] === "user") return said(textIn(line["displayContent"] ?? line["content"]), line["id"]);
  if (line["type"] !== "gemini") return [about];
  return listOf(line["toolCalls"]).flatMap((item): TranscriptEvent[] => {
    const { id, name, args, status, resultDisplay } = objectOf(item) ?? {};
    const call = textOf(id) ?? "";
    const failed = status === "error";
    if (status !== "success" && !failed) return [];
    const used = toolUse({ type: "tool_use", id: call, name, input: args });
    if (used[0]?.kind === "changed") return failed ? [] : used;
    if (used.length === 0) return [];
    return [...used, { kind: "ended", call, failed, output: textOf(resultDisplay) ?? "" }];
  });
}

/** A line of Cursor's agent: role and message; without times and results of tools. */
function readCursorLine(line: Fields): readonly TranscriptEvent[] {
  const content = objectOf(line["message"])?.["content"] ?? line["message"];
  if (line["role"] === "assistant") return listOf(content).flatMap((block) => toolUse(objectOf(block)));
  if (line["role"] !== "user") return [];
  const text = textIn(content);
  const [, query] = text.split("<user_query>", 2);
  return said(query?.split("</user_query>", 1)[0] ?? text, undefined);
}

const aboutOf = (conversation: unknown, folder: unknown): Extract<TranscriptEvent, { kind: "about" }> => ({
  kind: "about",
  ...(typeof conversation === "string" && conversation !== "" && { conversation }),
  ...(typeof folder === "string" && folder !== "" && { folder }),
});

const said = (text: string, id: unknown): TranscriptEvent[] =>
  text.trim() === "" ? [] : [{ kind: "said", text, id: textOf(id) ?? "" }];

function toolUse(block: Fields | undefined): TranscriptEvent[] {
  const { type, id, name, input } = block ?? {};
  if (type !== "tool_use" || typeof name !== "string") return [];
  const fields = objectOf(input) ?? {};
  if (EDIT_TOOL.test(name)) {
    const path = ["file_path", "notebook_path", "path", "target_file"].flatMap(
      (key) => textOf(fields[key]) ?? [],
    )[0];
    return path === undefined ? [] : [{ kind: "changed", path }];
  }
  const command = textOf(fields["command"]);
  return SHELL_TOOL.test(name) && command !== undefined
    ? [{ kind: "ran", command, call: textOf(id) ?? "" }]
    : [];
}

/** A text, or the texts of a list of blocks. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap((block) => {
      const { type, text } = objectOf(block) ?? {};
      const isText = type === undefined || type === "text" || type === "input_text";
      return isText && typeof text === "string" ? [text] : (textOf(block) ?? []);
    })
    .join("\n\n");
}

/** The parts of a transcript that must not be imported twice; only pending ones hold its text. */
export interface TranscriptMark {
  /** As the transcript's was when it was read. */
  readonly look: string;
  /** Hashes of the imported statements. */
  readonly seen: readonly string[];
  /** Id of the memory that sums up the session. */
  readonly summary?: string;
  /** Statements that the daemon may not have stored: a run that was killed leaves them for the next one. */
  readonly pending?: { readonly items: readonly Sendable[]; readonly summary?: Sendable["body"] };
}

export type OpenTranscript = Awaited<ReturnType<typeof openTranscript>>;

const FOLDER = "captured";

export async function openTranscript(dataDir: string, given: string) {
  const path = await realpath(given);
  const { size, birthtimeMs, mtimeMs } = await stat(path);
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
  const markFile = join(dataDir, FOLDER, `${name}.json`);
  const known = readJson(markFile);
  // Without a mark, or with a damaged one, all is taken again, and known memories are not added twice.
  const mark = isObject(known) && Array.isArray(known["seen"]) ? known : undefined;
  return {
    path,
    /** Up to the last line with an end; undefined for a line that is no JSON object. */
    lines: () => (path.endsWith(".json") ? linesOfWhole(path) : linesOf(path)),
    /** Epoch milliseconds, for lines without a time; the same at every reading where the system keeps it. */
    began: Math.round(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs),
    mark: mark as unknown as TranscriptMark | undefined,
    /** Equal while the transcript has not changed, as far as its size and time tell. */
    look: `${size}/${mtimeMs}`,
    save(next: TranscriptMark): void {
      makeFolder(join(dataDir, FOLDER));
      writeJson(markFile, next);
    },
  };
}

async function* linesOf(path: string): AsyncGenerator<Fields | undefined> {
  // A line with a broken character may hold what was decided all the same.
  for await (const line of textLines(createReadStream(path), MAX_LINE_BYTES, { isLoose: true })) {
    const text = "text" in line ? line.text : undefined;
    // A line without an end is still written.
    if (line.isEnded && text?.trim() !== "") yield objectOf(jsonOf(text ?? ""));
  }
}

/** A session in one object with its messages; one that is still written has no lines yet. */
async function* linesOfWhole(path: string): AsyncGenerator<Fields | undefined> {
  for await (const element of jsonElements(createReadStream(path))) {
    const { messages, ...session } = ("value" in element ? objectOf(element.value) : undefined) ?? {};
    yield session;
    yield* listOf(messages).map(objectOf);
  }
}
