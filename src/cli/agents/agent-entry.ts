import { type InstalledProgram, installedProgram, versionAt } from "../installed-program.ts";
import { JSON_ENTRIES, remove } from "./edit-json.ts";
import { TOML_ENTRIES } from "./edit-toml.ts";
import { YAML_ENTRIES } from "./edit-yaml.ts";
import { AGENT_IDS, agentsHere, fileOf, isThere, REMOTE_KEYS, RefusedEdit } from "./known-agents.ts";
import type { AgentKind, LaunchEntry } from "./known-agents.ts";
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { isObject, messageOf } from "../../config/narrow.ts";
import { VERSION } from "../../config/limits.ts";
import { CliFailure, print, printJson, printTable } from "../output/output.ts";
import { readConfigFile } from "./change-file.ts";
import type { Flags } from "../output/options.ts";

const NAME = "memoryd";
const FORMATS = { json: JSON_ENTRIES, toml: TOML_ENTRIES, yaml: YAML_ENTRIES } as const;

/** @param words arguments of `memoryd mcp`. */
export const launchOf = (
  agent: AgentKind,
  { node, launcher }: InstalledProgram,
  words: readonly string[],
): LaunchEntry => agent.launch(node, [launcher, "mcp", ...words]);

/** The part of an agent that says where its file has the entry, and in which format. */
type Place = Pick<AgentKind, "format" | "section">;

/** The entry in a file; undefined if there is none. @throws {RefusedEdit} if the text is not of the format. */
export function readEntry(place: Place, text: string): LaunchEntry | undefined {
  const entry = partsOf(place, text).entries[NAME];
  return isObject(entry) ? entry : undefined;
}

/**
 * The text with the entry's command set to `launch`. An existing entry keeps its other keys, such as `env`, but no address.
 * @throws {RefusedEdit} if the text is not of the format, or written in a way that cannot be changed.
 */
export function withEntry(place: Place, text: string, launch: LaunchEntry): string {
  const before = readEntry(place, text);
  const isRemote = REMOTE_KEYS.some((key) => Object.hasOwn(before ?? {}, key));
  const kept = Object.entries(before ?? {}).filter(
    ([key]) => !isRemote || (key !== "type" && !REMOTE_KEYS.includes(key)),
  );
  const entry = { ...launch, ...Object.fromEntries(kept), ...launch };
  if (isDeepStrictEqual(before, entry)) return text;
  const edited = FORMATS[place.format].put(text, [place.section, NAME], entry, isRemote ? undefined : before);
  return checked(place, text, edited, { [NAME]: entry });
}

/**
 * The text without the entry, and without a section that only held it and is not in the person's own text; as it is if there is no
 * entry. Undefined: nothing is left of a file that was no one's own.
 * @throws {RefusedEdit} as above.
 */
export function withoutEntry(place: Place, text: string, own?: string): string | undefined {
  if (partsOf(place, text).entries[NAME] === undefined) return text;
  const { format, section } = place;
  const taken = checked(place, text, FORMATS[format].take(text, [section, NAME]), {});
  // With a comment in it, it is somebody's.
  const isEmpty = format === "json" && new RegExp(String.raw`"${section}"\s*:\s*\{\s*\}`).test(taken);
  const wasThere = own !== undefined && Object.hasOwn(FORMATS[format].parse(own), section);
  const left = isEmpty && !wasThere ? remove(taken, [section]) : taken;
  return own === undefined && /^[{}\s\uFEFF]*$/.test(left) ? undefined : left;
}

/** The edited text, if it differs by nothing but the entry. */
function checked(place: Place, text: string, edited: string, own: object): string {
  const { entries, rest } = partsOf(place, text);
  const { [NAME]: _, ...others } = entries;
  let after: unknown;
  try {
    after = partsOf(place, edited);
  } catch (error) {
    if (!(error instanceof RefusedEdit)) throw error;
  }
  if (isDeepStrictEqual(after, { entries: { ...others, ...own }, rest })) return edited;
  throw new RefusedEdit();
}

/** The entries in a file, and what else it holds. A section that holds nothing is as good as none. */
function partsOf({ format, section }: Place, text: string) {
  const { [section]: given, ...rest } = FORMATS[format].parse(text);
  // A name of YAML that stands alone holds null.
  const entries = given === undefined || (given === null && format === "yaml") ? {} : given;
  if (!isObject(entries)) throw new RefusedEdit(`Its "${section}" does not hold names with values`);
  return { entries, rest };
}

/** Why an entry does not start this program; undefined if it does. */
export function staleness(entry: LaunchEntry, program: InstalledProgram): string | undefined {
  const { command: start, cmd, args } = entry;
  const [command, launcher, verb]: readonly unknown[] = [start ?? cmd, args].flat();
  if (typeof command !== "string") return "it names an address instead of a program";
  if (typeof launcher !== "string" || verb !== "mcp") return `it starts something else (${command})`;
  const gone = [command, launcher].find((path) => !existsSync(path));
  if (gone !== undefined) return `${gone} is gone`;
  if (launcher !== program.launcher) {
    const other = versionAt(launcher);
    return `it starts ${launcher}${other === undefined || other === VERSION ? "" : `, which is version ${other}, this one ${VERSION}`}`;
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
  const agents = agentsHere();
  return AGENT_IDS.flatMap((id) => statesOf(agents[id], program));
}

function statesOf(agent: AgentKind, program: InstalledProgram): AgentState[] {
  const user = stateOf(agent, "user", fileOf(agent, false), program);
  if (agent.projectFile === undefined) return [user];
  const project = stateOf(agent, "project", fileOf(agent, true), program);
  return project.state === "not installed" || project.file === user.file ? [user] : [user, project];
}

function stateOf(
  agent: AgentKind,
  scope: AgentState["scope"],
  file: string,
  program: InstalledProgram,
): AgentState {
  const known = { agent: agent.id, scope, file };
  try {
    const text = readConfigFile(file);
    const entry = text === undefined ? undefined : readEntry(agent, text);
    if (entry === undefined) {
      const isKnown = scope === "project" || isThere(agent);
      return { ...known, state: isKnown ? "not installed" : "agent not installed here" };
    }
    const why = staleness(entry, program);
    return why === undefined ? { ...known, state: "installed" } : { ...known, state: "stale", why };
  } catch (error) {
    return { ...known, state: "unreadable", why: `${file}: ${messageOf(error)}` };
  }
}
