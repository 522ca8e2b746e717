import type { Fields } from "../../config/narrow.ts";
import { dirname, join, posix, win32 } from "node:path";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { usageFailure } from "../output/output.ts";

/** The configuration file in which an agent lists its MCP servers, and its format. */
export interface AgentKind {
  readonly id: AgentId;
  readonly title: string;
  readonly format: "json" | "toml" | "yaml";
  /** The key under which the servers stand. */
  readonly section: string;
  /** The entry that starts a program with these arguments. */
  readonly launch: (command: string, args: readonly string[]) => LaunchEntry;
  readonly userFile: string;
  /** The agent is installed if one of these paths exists: the folder of the file, unless the table says otherwise. */
  readonly signs: readonly string[];
  /** The file of a project, relative to its folder; undefined if the agent has none. */
  readonly projectFile: string | undefined;
  /** The file of the user's hooks; undefined if the agent has none that serve here. */
  readonly hooksFile?: string;
  /** The folder of the transcripts that an import reads. */
  readonly transcripts?: string;
  /** The step that makes the agent read its configuration again. */
  readonly nextStep: string;
}

export const AGENT_IDS = [
  "claude-code",
  "claude-desktop",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "windsurf",
  "opencode",
  "zed",
  "cline",
  "goose",
  "copilot",
] as const;
export type AgentId = (typeof AGENT_IDS)[number];

const plain: AgentKind["launch"] = (command, args) => ({ command, args });
const typed: AgentKind["launch"] = (command, args) => ({ type: "stdio", command, args });

/**
 * Paths and formats are those of the agents' documentation in November 2026.
 * @param env variables, which may name other folders than the usual ones.
 */
export function knownAgents(
  platform: NodeJS.Platform,
  home: string,
  env: NodeJS.ProcessEnv,
): Record<AgentId, AgentKind> {
  const path = platform === "win32" ? win32 : posix;
  const join = (...parts: string[]): string => path.join(...parts);
  /** The folder for settings of desktop programs. */
  const settings = {
    win32: env["APPDATA"] || join(home, "AppData", "Roaming"),
    darwin: join(home, "Library", "Application Support"),
    other: env["XDG_CONFIG_HOME"] || join(home, ".config"),
  }[platform === "win32" || platform === "darwin" ? platform : "other"];
  const claude = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  const claudeFile = join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json");
  const codex = env["CODEX_HOME"] || join(home, ".codex");
  // Command-line programs that keep to the XDG specification, on macOS too.
  const xdg = (platform !== "win32" && env["XDG_CONFIG_HOME"]) || join(home, ".config");
  const zed = platform === "win32" ? join(settings, "Zed") : join(xdg, "zed");
  const goose = platform === "win32" ? join(settings, "Block", "goose", "config") : join(xdg, "goose");
  const copilot = env["COPILOT_HOME"] || join(home, ".copilot");

  const usual = { format: "json", section: "mcpServers", launch: plain, projectFile: undefined } as const;
  const agents: Readonly<
    Record<AgentId, Partial<AgentKind> & Pick<AgentKind, "title" | "userFile" | "nextStep">>
  > = {
    "claude-code": {
      title: "Claude Code",
      launch: typed,
      userFile: claudeFile,
      hooksFile: join(claude, "settings.json"),
      transcripts: join(claude, "projects"),
      signs: [claudeFile, claude],
      projectFile: ".mcp.json",
      nextStep: "start a new session",
    },
    "claude-desktop": {
      title: "Claude Desktop",
      userFile: join(settings, "Claude", "claude_desktop_config.json"),
      nextStep: "quit it and start it again",
    },
    cursor: {
      title: "Cursor",
      launch: typed,
      userFile: join(home, ".cursor", "mcp.json"),
      hooksFile: join(home, ".cursor", "hooks.json"),
      transcripts: join(home, ".cursor", "projects"),
      projectFile: join(".cursor", "mcp.json"),
      nextStep: "allow the server in its settings, under MCP",
    },
    vscode: {
      title: "VS Code",
      section: "servers",
      launch: typed,
      userFile: join(settings, "Code", "User", "mcp.json"),
      projectFile: join(".vscode", "mcp.json"),
      nextStep: "start the server when it asks, or with `MCP: List Servers`",
    },
    codex: {
      title: "Codex",
      format: "toml",
      section: "mcp_servers",
      userFile: join(codex, "config.toml"),
      hooksFile: join(codex, "hooks.json"),
      transcripts: join(codex, "sessions"),
      // Read in projects that the user trusts.
      projectFile: join(".codex", "config.toml"),
      nextStep: "start a new session",
    },
    gemini: {
      title: "Gemini CLI",
      userFile: join(home, ".gemini", "settings.json"),
      hooksFile: join(home, ".gemini", "settings.json"),
      transcripts: join(home, ".gemini", "tmp"),
      projectFile: join(".gemini", "settings.json"),
      nextStep: "start a new session",
    },
    windsurf: {
      title: "Windsurf",
      userFile: join(home, ".codeium", "windsurf", "mcp_config.json"),
      nextStep: "press refresh in the list of servers in Cascade",
    },
    opencode: {
      title: "opencode",
      // Version 2 reads this form of version 1 too.
      section: "mcp",
      launch: (command, args) => ({ type: "local", command: [command, ...args] }),
      userFile: join(xdg, "opencode", "opencode.json"),
      hooksFile: join(xdg, "opencode", "plugins", "memoryd.js"),
      projectFile: "opencode.json",
      nextStep: "start it again",
    },
    zed: {
      title: "Zed",
      section: "context_servers",
      userFile: join(zed, "settings.json"),
      nextStep: "look for the green dot beside it in the settings of the Agent Panel",
    },
    cline: {
      title: "Cline",
      userFile: join(home, ".cline", "data", "settings", "cline_mcp_settings.json"),
      signs: [join(home, ".cline")],
      nextStep: "start a new task",
    },
    goose: {
      title: "Goose",
      format: "yaml",
      section: "extensions",
      launch: (cmd, args) => ({ name: "memoryd", type: "stdio", enabled: true, cmd, args, timeout: 300 }),
      userFile: join(goose, "config.yaml"),
      nextStep: "start a new session",
    },
    copilot: {
      title: "Copilot CLI",
      launch: (command, args) => ({ type: "local", command, args, tools: ["*"] }),
      userFile: join(copilot, "mcp-config.json"),
      hooksFile: join(copilot, "hooks", "memoryd.json"),
      nextStep: "start a new session",
    },
  };
  return Object.fromEntries(
    AGENT_IDS.map((id) => [id, { ...usual, id, signs: [path.dirname(agents[id].userFile)], ...agents[id] }]),
  ) as unknown as Record<AgentId, AgentKind>;
}

/** An entry as it stands in a file, where anything may stand. */
export type LaunchEntry = Fields;

/** Keys of an entry that names an address instead of a program; they and a command exclude each other. */
export const REMOTE_KEYS = "url uri httpUrl serverUrl headers bearer_token_env_var http_headers".split(" ");

type EntryPath = readonly [section: string, name: string];

/** How files of one format write entries; other values and comments stay. What comes out is checked by the caller. */
export interface EntryFormat {
  /** @throws {RefusedEdit} for a text that is not of the format. */
  readonly parse: (text: string) => Fields;
  /** @param before the entry, if it is there and its other text may stay. */
  readonly put: (text: string, path: EntryPath, entry: LaunchEntry, before?: LaunchEntry) => string;
  readonly take: (text: string, path: EntryPath) => string;
}

/** Thrown where a change would touch other entries of the file. The message has no full stop. */
export class RefusedEdit extends Error {
  override readonly name = "RefusedEdit";

  constructor(message = "It is written in a way that cannot be changed here", options?: ErrorOptions) {
    super(message, options);
  }
}

export const agentsHere = (): Record<AgentId, AgentKind> =>
  knownAgents(process.platform, homedir(), process.env);

export const isThere = ({ signs }: AgentKind): boolean => signs.some((sign) => existsSync(sign));

/** The file of this agent for the user, or for the project that a folder belongs to. @throws {CliFailure} if it has none. */
export function fileOf(agent: AgentKind, project: boolean): string {
  if (!project) return existing(agent.userFile);
  if (agent.projectFile === undefined)
    throw usageFailure(`${agent.title} has no files of projects; leave out --project.`);
  return existing(join(projectFolder(process.cwd()), agent.projectFile));
}

/** opencode reads `.jsonc` as well as `.json`. */
function existing(file: string): string {
  const other = file.replace(/(?<=[/\\]opencode\.json)$/, "c");
  return other !== file && !existsSync(file) && existsSync(other) ? other : file;
}

/** The nearest folder above with a `.git`, else the folder itself. */
export function projectFolder(folder: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (existsSync(join(current, ".git"))) return current;
    if (dirname(current) === current) return folder;
  }
}
