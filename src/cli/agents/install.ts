import { dirname, resolve } from "node:path";
import {
  checkHooks,
  consentTo,
  type HookedAgent,
  hooksOf,
  installHooks,
  removeHooks,
} from "../hooks/install-hooks.ts";
import { present } from "../../schemas/wire.ts";
import { CliFailure, print, usageFailure } from "../output/output.ts";
import { dataDirWords, extraToolsOf, type Flags, settingsOf } from "../output/options.ts";
import { installedProgram } from "../installed-program.ts";
import { launchOf, withEntry, withoutEntry } from "./agent-entry.ts";
import { changeConfigFile, printChange } from "./change-file.ts";
import { type AgentId, type AgentKind, agentsHere, fileOf, isThere } from "./known-agents.ts";

export interface InstallOptions extends Pick<Flags, "user" | "dataDir" | "config"> {
  readonly project?: boolean;
  readonly print?: boolean;
  readonly force?: boolean;
  readonly projectName?: string;
  readonly tools?: string;
  readonly readOnly?: boolean;
  /** The consents for hooks; true: the user is asked. */
  readonly hooks?: string | true;
}

/** A file of the user may hold secrets; one of a project is for everybody who has the project. */
const USER_FILE_MODE = 0o600;
const PROJECT_FILE_MODE = 0o644;

export async function installFor(ids: readonly AgentId[], options: InstallOptions): Promise<void> {
  const { project = false, force = false } = options;
  const program = installedProgram(`memoryd mcp install ${ids.join(" ")}`);
  const words = mcpWords(options);
  const hooked = hookedAgents(ids, options);
  for (const agent of agentsOf(ids)) {
    const file = fileOf(agent, project);
    const launch = launchOf(agent, program, words);
    const withHooks = hooked.find(({ id }) => id === agent.id);
    if (options.print === true) {
      print(`${agent.title} reads this from ${file}:\n\n${withEntry(agent, "", launch)}`);
      continue;
    }
    if (!project && !force && !isThere(agent))
      throw new CliFailure(
        `${agent.title} does not seem to be installed: there is no ${agent.signs.at(-1) ?? dirname(file)}. Say --force to write ${file} all the same.`,
      );
    const setup = withHooks && { agent: withHooks, program, dataDir: settingsOf(options).dataDir };
    const consent = setup && {
      ...(await consentTo(setup, options.hooks ?? true)),
      ...present({ user: options.user, project: options.projectName }),
    };
    if (setup && consent) checkHooks(setup, consent);
    const mode = project ? PROJECT_FILE_MODE : USER_FILE_MODE;
    const change = changeConfigFile(file, mode, adviceOf(agent), (text) => withEntry(agent, text, launch));
    if (change.changed) {
      print(`${agent.title} has memoryd now; ${agent.nextStep}.`);
      printChange(file, change);
      if (project) print("It has paths of this machine; other users of the file need their own.");
    } else print(`${agent.title} already has memoryd in ${file}.`);
    if (setup && consent) installHooks(setup, consent);
  }
}

/** The agents that get hooks. @throws {CliFailure} for one without them, and for a project, whose file others share. */
function hookedAgents(ids: readonly AgentId[], { hooks, project, print }: InstallOptions): HookedAgent[] {
  if (hooks === undefined) return [];
  if (project === true)
    throw usageFailure(
      "Hooks are agreed to by one person, so they go into your own files; leave out --project.",
    );
  if (print === true) throw usageFailure("--hooks shows what it adds before it asks; leave out --print.");
  return agentsOf(ids).map((agent) => {
    const hooked = hooksOf(agent);
    if (hooked === undefined) throw usageFailure(`${agent.title} has no hooks for this; leave out --hooks.`);
    return hooked;
  });
}

export function uninstallFor(ids: readonly AgentId[], options: InstallOptions): void {
  const { project = false } = options;
  for (const agent of agentsOf(ids)) {
    const hooked = project ? undefined : hooksOf(agent);
    if (hooked !== undefined) removeHooks(hooked, settingsOf(options).dataDir);
    const file = fileOf(agent, project);
    const change = changeConfigFile(file, USER_FILE_MODE, adviceOf(agent), (text, own) =>
      withoutEntry(agent, text, own),
    );
    if (!change.changed) {
      print(`${agent.title} does not have memoryd in ${file}.`);
      continue;
    }
    print(`${agent.title} does not have memoryd any more, once it is started again.`);
    printChange(file, change);
  }
}

/** The arguments of `memoryd mcp` for an agent. @throws {CliFailure} for a tool that there is none of. */
function mcpWords(options: InstallOptions): string[] {
  extraToolsOf(options.tools);
  return [
    ...(options.projectName === undefined ? [] : ["--project", options.projectName]),
    ...(options.user === undefined ? [] : ["--user", options.user]),
    ...(options.tools === undefined ? [] : ["--tools", options.tools]),
    ...(options.readOnly === true ? ["--read-only"] : []),
    ...dataDirWords(options),
    ...(options.config === undefined ? [] : ["--config", resolve(options.config)]),
  ];
}

function agentsOf(ids: readonly AgentId[]): AgentKind[] {
  const agents = agentsHere();
  return ids.map((id) => agents[id]);
}

const adviceOf = ({ id }: AgentKind): string =>
  `, or change it by hand to what \`memoryd mcp install ${id} --print\` shows`;
