import { Argument, type Command } from "commander";
import type { ServeAgentOptions } from "../mcp/serve-agent.ts";
import type { InstallOptions } from "./install.ts";
import { addCommand, project, settingsOf, userId, EXTRA_TOOL_NAMES, type Flags } from "../output/options.ts";
import { AGENT_IDS, type AgentId } from "./known-agents.ts";
import { installedProgram } from "../installed-program.ts";
import { namedByPath, projectOfFolder } from "../mcp/project-of-folder.ts";
import { CliFailure, oneLine, plural, print, printJson, printTable, minute } from "../output/output.ts";
import { HOOK_AGENTS, type HookAgent } from "../hooks/hook-kinds.ts";
import {
  type HookConsent,
  type HookState,
  readHookState,
  readMisses,
  writeHookState,
} from "../hooks/hook-state.ts";

export function addAgentCommands(memoryd: Command): void {
  const mcp = addCommand(memoryd, "mcp", "speak the Model Context Protocol with the agent that starts this")
    .option(
      "-p, --project <name>",
      "put new memories into this project (default: that of the folder's git remote)",
      project,
    )
    .option("-u, --user <id>", "read and add this user's memories", userId)
    .option("--tools <list>", `offer further tools: ${EXTRA_TOOL_NAMES}`)
    .option("--read-only", "offer only tools that change nothing")
    .action(async (flags: Flags & ServeAgentOptions) =>
      (await import("../mcp/serve-agent.ts")).serveAgent(settingsOf(flags), flags),
    );

  addCommand(mcp, "install", "tell an agent, in its own configuration file, to start memoryd")
    .addArgument(agentArgument())
    .option("--project", "in the file of the project that this folder belongs to, not in your own")
    .option("--print", "only show the entry, change nothing")
    .option("--force", "also where the agent does not seem to be installed")
    .option("-u, --user <id>", "whose memories the agent reads and adds", userId)
    .option("--project-name <name>", "the project that it adds to, whatever folder it works in", project)
    .option("--tools <list>", `further tools: ${EXTRA_TOOL_NAMES}`)
    .option("--read-only", "only tools that change nothing")
    .option(
      "--hooks [what]",
      "also hooks that tell it what memory holds (context), keep what lasts of conversations (capture), or both: context,capture (default: asks)",
    )
    .action(async (ids: AgentId[], options: InstallOptions) =>
      (await import("./install.ts")).installFor(ids, options),
    );

  addCommand(mcp, "uninstall", "take memoryd, and its hooks, out of an agent's configuration files")
    .addArgument(agentArgument())
    .option("--project", "out of the file of the project that this folder belongs to")
    .action(async (ids: AgentId[], options: InstallOptions) =>
      (await import("./install.ts")).uninstallFor(ids, options),
    );

  mcp
    .command("status")
    .description("say which agents start memoryd, and whether they still can")
    .option("--json", "as JSON")
    .action(async (options: Flags) => (await import("./agent-entry.ts")).agentStatus(options));
}

const agentArgument = (): Argument => new Argument("<agent...>", "which agent").choices(AGENT_IDS);

export function addHookCommands(memoryd: Command): void {
  const hooks = memoryd.command("hooks").description("say what agents' hooks may do, and change it");
  addCommand(hooks, "status", "list the agents with hooks, and what they may do")
    .option("--json", "as JSON")
    .action(status);
  addCommand(hooks, "off", "take the hooks out of agents' files, and the consents back")
    .addArgument(new Argument("[agent...]", "which agent (default: all)").choices(HOOK_AGENTS))
    .action((ids: HookAgent[], flags: Flags) => off(ids.length === 0 ? HOOK_AGENTS : ids, flags));
  addCommand(hooks, "pause", "tell and capture nothing until resumed").action((flags: Flags) => {
    change(flags, (state) => ({ ...state, paused: true }));
    print("Hooks are paused; `memoryd hooks resume` ends it.");
  });
  addCommand(hooks, "resume", "end a pause").action((flags: Flags) => {
    change(flags, (state) => ({ ...state, paused: false }));
    print("Hooks run again.");
  });
  addCommand(hooks, "exclude", "tell, capture and import nothing of conversations in a project")
    .argument("[project]", "its name (default: the project of this folder)", project)
    .option("--remove", "include it again")
    .action(exclude);
}

function exclude(name: string | undefined, flags: Flags & { readonly remove?: boolean }): void {
  const chosen = name ?? projectOfFolder(process.cwd()) ?? namedByPath(process.cwd());
  change(flags, ({ excluded, ...state }) => ({
    ...state,
    excluded: [...excluded.filter((each) => each !== chosen), ...(flags.remove === true ? [] : [chosen])],
  }));
  print(
    flags.remove === true ? `Hooks work in ${oneLine(chosen)}.` : `Hooks do nothing in ${oneLine(chosen)}.`,
  );
}

async function off(ids: readonly HookAgent[], flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const { hookedAgents, removeHooks } = await import("../hooks/install-hooks.ts");
  for (const agent of hookedAgents(ids)) removeHooks(agent, dataDir);
  if (Object.keys(readHookState(dataDir).agents).length === 0) print("No agent has hooks.");
}

async function status(flags: Flags): Promise<void> {
  const { hookedAgents, hooksFault } = await import("../hooks/install-hooks.ts");
  const { dataDir } = settingsOf(flags);
  const { paused, excluded, agents } = readHookState(dataDir);
  const program = installedProgram("memoryd hooks status");
  const rows = hookedAgents(HOOK_AGENTS).flatMap((agent) => {
    const consent = agents[agent.id];
    if (consent === undefined) return [];
    const fault = hooksFault({ agent, program, dataDir }, consent);
    return [{ agent: agent.id, ...consent, file: agent.file, ...(fault !== undefined && { fault }) }];
  });
  const late = readMisses(dataDir, "late");
  const alone = readMisses(dataDir, "alone");
  if (flags.json === true)
    printJson({ paused, excluded, ...(late && { late }), ...(alone && { alone }), agents: rows });
  else {
    if (rows.length === 0) print("No agent has hooks; `memoryd mcp install AGENT --hooks` adds them.");
    else
      printTable(
        rows.map(({ agent, context, capture, file, fault }) => {
          const may = consentsOf({ context, capture }).join(" and ");
          return [agent, fault === undefined ? `${may}, in ${file}` : `${may}, but ${fault}`];
        }),
      );
    if (paused) print("Paused; `memoryd hooks resume` ends it.");
    if (late !== undefined)
      print(`Too late for the agent: ${plural(late.count, "time")}, last on ${minute(late.last)}.`);
    if (alone !== undefined)
      print(`Without a daemon to ask: ${plural(alone.count, "time")}, last on ${minute(alone.last)}.`);
    if (excluded.length > 0) print(`Excluded: ${excluded.map(oneLine).join(", ")}.`);
  }
  const wrong = rows.find(({ fault }) => fault !== undefined);
  if (wrong === undefined) return;
  const consents = consentsOf(wrong).join(",");
  throw new CliFailure(`Renew the hooks with \`memoryd mcp install ${wrong.agent} --hooks ${consents}\`.`);
}

function consentsOf({ context, capture }: Pick<HookConsent, "context" | "capture">): string[] {
  return [...(context ? ["context"] : []), ...(capture ? ["capture"] : [])];
}

function change(flags: Flags, next: (state: HookState) => HookState): void {
  const { dataDir } = settingsOf(flags);
  writeHookState(dataDir, next(readHookState(dataDir)));
}
