import type { InstalledProgram } from "../installed-program.ts";
import { readJsonEntry, withJsonEntry, withoutJsonEntry } from "./edit-json.ts";
import { readTomlEntry, withTomlEntry, withoutTomlEntry } from "./edit-toml.ts";
import type { AgentKind, Launch, LaunchEntry } from "./known-agents.ts";

const NAME = "memoryd";

/** @param words arguments of `memoryd mcp`. */
export function launchOf(
  { hasType }: Pick<AgentKind, "hasType">,
  { node, launcher }: InstalledProgram,
  words: readonly string[],
): Launch {
  return { ...(hasType ? { type: "stdio" } : {}), command: node, args: [launcher, "mcp", ...words] };
}

export function readEntry({ format, section }: AgentKind, text: string): LaunchEntry | undefined {
  return (format === "json" ? readJsonEntry : readTomlEntry)(text, section, NAME);
}

export function withEntry({ format, section }: AgentKind, text: string, launch: Launch): string {
  return (format === "json" ? withJsonEntry : withTomlEntry)(text, section, NAME, launch);
}

/** @param earlier the text before memoryd last changed it, if that is known. */
export function withoutEntry({ format, section }: AgentKind, text: string, earlier?: string): string {
  return format === "json"
    ? withoutJsonEntry(text, section, NAME, earlier)
    : withoutTomlEntry(text, section, NAME);
}

/** What an installation looks like from outside. */
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
  const { command, args } = entry;
  const [launcher, verb] = Array.isArray(args) ? (args as unknown[]) : [];
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
