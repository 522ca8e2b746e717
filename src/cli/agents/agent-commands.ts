import { Argument, type Command } from "commander";
import type { ServeAgentOptions } from "../mcp/serve-agent.ts";
import type { InstallOptions } from "./install.ts";
import { addCommand, project, settingsOf, userId, EXTRA_TOOL_NAMES } from "../output/options.ts";
import type { Flags } from "../output/options.ts";
import { AGENT_IDS, type AgentId } from "./known-agents.ts";

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
