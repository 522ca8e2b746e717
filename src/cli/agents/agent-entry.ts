import type { InstalledProgram } from "../installed-program.ts";
import { readJsonEntry, withJsonEntry, withoutJsonEntry } from "./edit-json.ts";
import { readTomlEntry, withTomlEntry, withoutTomlEntry } from "./edit-toml.ts";
import { readYamlEntry, withYamlEntry, withoutYamlEntry } from "./edit-yaml.ts";
import type { AgentKind, LaunchEntry } from "./known-agents.ts";

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

export function readEntry({ format, section }: AgentKind, text: string): LaunchEntry | undefined {
  return EDITORS[format].read(text, section, NAME);
}

export function withEntry({ format, section }: AgentKind, text: string, launch: LaunchEntry): string {
  return EDITORS[format].set(text, section, NAME, launch);
}

export function withoutEntry({ format, section }: AgentKind, text: string): string {
  return EDITORS[format].remove(text, section, NAME);
}

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
