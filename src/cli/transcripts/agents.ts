import { readdir, readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { agentFolders } from "../agents/known-agents.ts";
import type { TranscriptAgentId } from "../import/import-item.ts";
import {
  readClaudeCodeLine,
  readCodexLine,
  readCursorLine,
  readGeminiLine,
  type TranscriptEvent,
} from "./transcript-events.ts";

export interface TranscriptAgent {
  readonly title: string;
  /** The folder of its transcripts, the same on every system below the home folder. */
  readonly folder: () => string;
  /** Path of a transcript below that folder, with `/`. */
  readonly file: RegExp;
  readonly read: (line: Readonly<Record<string, unknown>>) => readonly TranscriptEvent[];
  /** The folder that somebody worked in, where lines do not name it. */
  readonly workFolder?: (transcript: string) => Promise<string | undefined>;
}

const MAX_DEPTH = 7;

/** As the agents documented, or their sources had, in November 2026; see docs/agents.md. */
export const TRANSCRIPTS: Readonly<Record<TranscriptAgentId, TranscriptAgent>> = {
  "claude-code": {
    title: "Claude Code",
    folder: () => join(agentFolders().claude ?? join(homedir(), ".claude"), "projects"),
    file: /^(?:[^/]+\/)?(?!agent-)[^/]+\.jsonl$/,
    read: readClaudeCodeLine,
  },
  codex: {
    title: "Codex",
    folder: () => join(agentFolders().codex ?? join(homedir(), ".codex"), "sessions"),
    file: /(?:^|\/)rollout-[^/]+\.jsonl$/,
    read: readCodexLine,
  },
  gemini: {
    title: "Gemini CLI",
    folder: () => join(homedir(), ".gemini", "tmp"),
    file: /(?:^|\/)session-[^/]+\.jsonl?$/,
    read: readGeminiLine,
    workFolder: geminiFolder,
  },
  cursor: {
    title: "Cursor",
    folder: () => join(homedir(), ".cursor", "projects"),
    file: /^(?!.*\/subagents\/)(?:.*\/)?[^/]+\.jsonl$/,
    read: readCursorLine,
    workFolder: cursorFolder,
  },
};

/** The transcripts below a folder, the oldest first; links are passed over. */
export async function findTranscripts(root: string, file: RegExp): Promise<string[]> {
  const found: { readonly path: string; readonly at: number }[] = [];
  const folders = [{ path: root, below: "", depth: 0 }];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const { path, below, depth } = folder;
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const inner = { path: join(path, entry.name), below: `${below}${entry.name}`, depth: depth + 1 };
      if (entry.isDirectory() && depth < MAX_DEPTH) folders.push({ ...inner, below: `${inner.below}/` });
      else if (entry.isFile() && file.test(inner.below))
        found.push({ path: inner.path, at: (await stat(inner.path)).mtimeMs });
    }
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
