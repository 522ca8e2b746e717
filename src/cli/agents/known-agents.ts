import { posix, win32, dirname, join } from "node:path";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { usageFailure } from "../output/cli-failure.ts";

/** Where an agent keeps the programs it may start, and in which words. */
export interface AgentKind {
  readonly id: AgentId;
  readonly title: string;
  readonly format: "json" | "toml";
  /** The key under which the servers stand. */
  readonly section: string;
  /** Entries say `"type": "stdio"`. */
  readonly hasType: boolean;
  readonly userFile: string;
  /** Where at least one of these exists, the agent is there. */
  readonly signs: readonly string[];
  /** The file of a project, relative to its folder; undefined if the agent has none. */
  readonly projectFile: string | undefined;
  /** What makes the agent notice. */
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
] as const;
export type AgentId = (typeof AGENT_IDS)[number];

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly folders: {
    readonly codex?: string | undefined;
    readonly claude?: string | undefined;
    readonly appData?: string | undefined;
    readonly config?: string | undefined;
  };
}

/** As the agents' documentation had it in November 2026. */
export function knownAgents({ platform, home, folders }: Surroundings): Record<AgentId, AgentKind> {
  const path = platform === "win32" ? win32 : posix;
  const join = (...parts: string[]): string => path.join(...parts);
  const settings = settingsFolder({ platform, home, folders });
  const claude = folders.claude ?? home;
  const codex = folders.codex ?? join(home, ".codex");
  const desktop = join(settings, "Claude");
  const code = join(settings, "Code", "User");
  const windsurf = join(home, ".codeium", "windsurf");

  const usual = { format: "json", section: "mcpServers", hasType: false, projectFile: undefined } as const;
  const agents: readonly AgentKind[] = [
    {
      ...usual,
      id: "claude-code",
      title: "Claude Code",
      hasType: true,
      userFile: join(claude, ".claude.json"),
      signs: [join(claude, ".claude.json"), folders.claude ?? join(home, ".claude")],
      projectFile: ".mcp.json",
      nextStep: "start a new session",
    },
    {
      ...usual,
      id: "claude-desktop",
      title: "Claude Desktop",
      userFile: join(desktop, "claude_desktop_config.json"),
      signs: [desktop],
      nextStep: "quit it and start it again",
    },
    {
      ...usual,
      id: "cursor",
      title: "Cursor",
      hasType: true,
      userFile: join(home, ".cursor", "mcp.json"),
      signs: [join(home, ".cursor")],
      projectFile: join(".cursor", "mcp.json"),
      nextStep: "allow the server in its settings, under MCP",
    },
    {
      ...usual,
      id: "vscode",
      title: "VS Code",
      section: "servers",
      hasType: true,
      userFile: join(code, "mcp.json"),
      signs: [code],
      projectFile: join(".vscode", "mcp.json"),
      nextStep: "start the server when it asks, or with `MCP: List Servers`",
    },
    {
      ...usual,
      id: "codex",
      title: "Codex",
      format: "toml",
      section: "mcp_servers",
      userFile: join(codex, "config.toml"),
      signs: [codex],
      // Read in projects that the user trusts.
      projectFile: join(".codex", "config.toml"),
      nextStep: "start a new session",
    },
    {
      ...usual,
      id: "gemini",
      title: "Gemini CLI",
      userFile: join(home, ".gemini", "settings.json"),
      signs: [join(home, ".gemini")],
      projectFile: join(".gemini", "settings.json"),
      nextStep: "start a new session",
    },
    {
      ...usual,
      id: "windsurf",
      title: "Windsurf",
      userFile: join(windsurf, "mcp_config.json"),
      signs: [windsurf],
      nextStep: "press refresh in the list of servers in Cascade",
    },
  ];
  return Object.fromEntries(agents.map((agent) => [agent.id, agent])) as Record<AgentId, AgentKind>;
}

/** Where programs with windows keep their settings. */
function settingsFolder({ platform, home, folders }: Surroundings): string {
  if (platform === "win32") return folders.appData ?? win32.join(home, "AppData", "Roaming");
  if (platform === "darwin") return posix.join(home, "Library", "Application Support");
  return folders.config ?? posix.join(home, ".config");
}

/** The entry that makes an agent start memoryd. */
export interface Launch {
  readonly type?: "stdio";
  readonly command: string;
  readonly args: readonly string[];
}

/** An entry as it stands in a file, where anything may stand. */
export type LaunchEntry = Readonly<Record<string, unknown>>;

/** Keys of an entry that names an address instead of a program; they and a command exclude each other. */
export const REMOTE_KEYS = ["url", "httpUrl", "serverUrl", "headers", "bearer_token_env_var", "http_headers"];

/** Thrown where a change would touch other entries of the file. The message has no full stop. */
export class RefusedEdit extends Error {
  override readonly name = "RefusedEdit";
}

export function agentsHere(): Record<AgentId, AgentKind> {
  const of = (variable: string): string | undefined => process.env[variable] || undefined;
  const folders = {
    codex: of("CODEX_HOME"),
    claude: of("CLAUDE_CONFIG_DIR"),
    appData: of("APPDATA"),
    config: of("XDG_CONFIG_HOME"),
  };
  return knownAgents({ platform: process.platform, home: homedir(), folders });
}

export function isThere({ signs }: AgentKind): boolean {
  return signs.some((sign) => existsSync(sign));
}

/** The file of this agent for the user, or for the project that a folder belongs to. @throws {CliFailure} if it has none. */
export function fileOf(agent: AgentKind, project: boolean, folder = process.cwd()): string {
  if (!project) return agent.userFile;
  if (agent.projectFile === undefined)
    throw usageFailure(`${agent.title} has no files of projects; leave out --project.`);
  return join(projectFolder(folder), agent.projectFile);
}

/** The nearest folder above with a `.git`, else the folder itself. */
export function projectFolder(folder: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (existsSync(join(current, ".git"))) return current;
    if (dirname(current) === current) return folder;
  }
}
