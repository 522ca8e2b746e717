import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { usageFailure } from "../output/cli-failure.ts";
import { type AgentId, type AgentKind, knownAgents } from "./known-agents.ts";

/** The agents as they are on this machine. */
export function agentsHere(): Record<AgentId, AgentKind> {
  // An empty variable is as good as none.
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
