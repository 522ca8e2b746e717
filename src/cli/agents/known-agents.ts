import { posix, win32 } from "node:path";

/** Where an agent keeps the programs it may start, and in which words. */
export interface AgentKind {
  readonly id: AgentId;
  readonly title: string;
  readonly format: "json" | "toml";
  /** The key under which the servers stand. */
  readonly section: string;
  /** Entries say `"type": "stdio"`. */
  readonly hasType: boolean;
  /** The user's own file. */
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

/** What the files depend on. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Folders that variables name. */
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
