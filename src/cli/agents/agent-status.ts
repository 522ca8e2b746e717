import { existsSync } from "node:fs";
import { VERSION } from "../../config/limits.ts";
import { CliFailure, print, printJson, printTable } from "../output/output.ts";
import { installedProgram, versionAt } from "../installed-program.ts";
import { readEntry, type Sight, staleness } from "./agent-entry.ts";
import { readConfigFile } from "./change-file.ts";
import { AGENT_IDS, type AgentKind, agentsHere, fileOf, isThere, RefusedEdit } from "./known-agents.ts";
import type { Flags } from "../output/options.ts";

interface AgentState {
  readonly agent: string;
  readonly scope: "user" | "project";
  readonly file: string;
  readonly state: "installed" | "stale" | "unreadable" | "not installed" | "agent not installed here";
  readonly why?: string;
}

/** Says which agents start memoryd. @throws {CliFailure} when one starts something that is not there any more, or cannot be read. */
export function agentStatus({ json = false }: Flags): void {
  const states = agentStates("memoryd mcp status");
  if (json) printJson(states);
  else {
    printTable(
      states.map(({ agent, scope, file, state, why }) => [
        scope === "user" ? agent : `${agent} (project)`,
        why === undefined ? (state === "installed" ? `installed in ${file}` : state) : `${state}: ${why}`,
      ]),
    );
  }
  const stale = states.filter(({ state }) => state === "stale");
  if (stale.length === 0) {
    const unreadable = states.find(({ state }) => state === "unreadable");
    if (unreadable === undefined) return;
    throw new CliFailure(`Mend ${unreadable.file}, so that it can be seen whether memoryd is in it.`);
  }
  if (!json) print("");
  const commands = stale.map(
    ({ agent, scope }) => `\`memoryd mcp install ${agent}${scope === "project" ? " --project" : ""}\``,
  );
  throw new CliFailure(`Renew stale entries with ${commands.join(" and ")}.`);
}

/** The state of memoryd's entry in every agent's configuration. @throws {CliFailure} as `installedProgram`. */
export function agentStates(command: string): AgentState[] {
  const program = installedProgram(command);
  const sight: Sight = { program, version: VERSION, exists: existsSync, versionAt };
  const agents = agentsHere();
  return AGENT_IDS.flatMap((id) => statesOf(agents[id], sight));
}

function statesOf(agent: AgentKind, sight: Sight): AgentState[] {
  const user = stateOf(agent, "user", fileOf(agent, false), sight);
  if (agent.projectFile === undefined) return [user];
  const project = stateOf(agent, "project", fileOf(agent, true), sight);
  return project.state === "not installed" || project.file === user.file ? [user] : [user, project];
}

function stateOf(agent: AgentKind, scope: AgentState["scope"], file: string, sight: Sight): AgentState {
  const known = { agent: agent.id, scope, file };
  try {
    const text = readConfigFile(file);
    const entry = text === undefined ? undefined : readEntry(agent, text);
    if (entry === undefined) {
      const isKnown = scope === "project" || isThere(agent);
      return { ...known, state: isKnown ? "not installed" : "agent not installed here" };
    }
    const why = staleness(entry, sight);
    return why === undefined ? { ...known, state: "installed" } : { ...known, state: "stale", why };
  } catch (error) {
    if (!(error instanceof RefusedEdit || error instanceof CliFailure)) throw error;
    return { ...known, state: "unreadable", why: `${file}: ${error.message}` };
  }
}
