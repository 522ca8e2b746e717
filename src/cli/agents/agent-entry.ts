import { type InstalledProgram, installedProgram, versionAt } from "../installed-program.ts";
import { readJsonEntry, withJsonEntry, withoutJsonEntry } from "./edit-json.ts";
import { readTomlEntry, withTomlEntry, withoutTomlEntry } from "./edit-toml.ts";
import { readYamlEntry, withYamlEntry, withoutYamlEntry } from "./edit-yaml.ts";
import { AGENT_IDS, agentsHere, fileOf, isThere, RefusedEdit } from "./known-agents.ts";
import type { AgentKind, LaunchEntry } from "./known-agents.ts";
import { existsSync } from "node:fs";
import { VERSION } from "../../config/limits.ts";
import { CliFailure, print, printJson, printTable } from "../output/output.ts";
import { readConfigFile } from "./change-file.ts";
import type { Flags } from "../output/options.ts";

const NAME = "memoryd";
const EDITORS = {
  json: { read: readJsonEntry, set: withJsonEntry, remove: withoutJsonEntry },
  toml: { read: readTomlEntry, set: withTomlEntry, remove: withoutTomlEntry },
  yaml: { read: readYamlEntry, set: withYamlEntry, remove: withoutYamlEntry },
} as const;

/** @param words arguments of `memoryd mcp`. */
export function launchOf(
  agent: AgentKind,
  { node, launcher }: InstalledProgram,
  words: readonly string[],
): LaunchEntry {
  return agent.launch(node, [launcher, "mcp", ...words]);
}

export const readEntry = ({ format, section }: AgentKind, text: string): LaunchEntry | undefined =>
  EDITORS[format].read(text, section, NAME);

export const withEntry = ({ format, section }: AgentKind, text: string, launch: LaunchEntry): string =>
  EDITORS[format].set(text, section, NAME, launch);

export const withoutEntry = ({ format, section }: AgentKind, text: string): string =>
  EDITORS[format].remove(text, section, NAME);

/** The installed program, and access to the file system. */
export interface Sight {
  /** The program that asks, and its version. */
  readonly program: InstalledProgram;
  readonly version: string;
  readonly exists: (path: string) => boolean;
  readonly versionAt: (launcher: string) => string | undefined;
}

/** Why an entry does not start this program; undefined if it does. */
export function staleness(
  entry: LaunchEntry,
  { program, version, exists, versionAt }: Sight,
): string | undefined {
  const { command: start, cmd, args } = entry;
  const [command, launcher, verb]: readonly unknown[] = [start ?? cmd, args].flat();
  if (typeof command !== "string") return "it names an address instead of a program";
  if (typeof launcher !== "string" || verb !== "mcp") return `it starts something else (${command})`;
  if (!exists(command)) return `${command} is gone`;
  if (!exists(launcher)) return `${launcher} is gone`;
  if (launcher !== program.launcher) {
    const other = versionAt(launcher);
    return `it starts ${launcher}${other === undefined || other === version ? "" : `, which is version ${other}, this one ${version}`}`;
  }
  return command === program.node ? undefined : `it uses another Node, ${command}`;
}

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
