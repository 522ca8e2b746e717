import { Argument, Command, CommanderError, Option } from "commander";
import { ConfigError, DEFAULT_CONFIG_FILE, loadConfig, SETTINGS } from "../config.ts";
import { addUserCommands } from "./user-commands.ts";
import { VERSION } from "../version.ts";
import type { AddOptions } from "./add.ts";
import { addAgentInstallCommands } from "./agents/agent-commands.ts";
import { CliFailure, EXIT, type ExitCode } from "./cli-failure.ts";
import { type DaemonOptions, settingsOf, withDataDir } from "./daemon-options.ts";
import { addDataCommands } from "./data/data-commands.ts";
import { addFactCommands } from "./fact-commands.ts";
import type { CompactOptions } from "./compact.ts";
import { addKeyCommands } from "./key-commands.ts";
import { completionScript, type Shell, SHELLS } from "./completion.ts";
import { addSingleMemoryCommands } from "./memory-commands.ts";
import type { LogsOptions } from "./logs.ts";
import { part, project, sectorOption, sessionId, tags, time, userId, wholeNumber } from "./option-values.ts";
import type { IngestOptions } from "./ingest/ingest.ts";
import { EXTRA_TOOL_NAMES } from "./mcp/extra-tools.ts";
import type { ServeAgentOptions } from "./mcp/serve-agent.ts";
import { complain, endWithReader, print } from "./output.ts";
import type { QueryOptions } from "./query.ts";
import type { ReviewOptions } from "./review.ts";
import { addServiceCommands } from "./service/service-commands.ts";
import type { StatusOptions } from "./status.ts";
import { addTransferCommands } from "./transfer-commands.ts";

const EPILOGUE = `
Every setting is a flag of \`memoryd start\`, a variable (--data-dir is MEMORYD_DATA_DIR) and a key of the
configuration file ("dataDir"); a flag wins over a variable, a variable over the file. The file is
${DEFAULT_CONFIG_FILE}, or what --config names. A configured API
key comes from MEMORYD_API_KEY or --api-key-file only; \`memoryd keys\` makes others.

Exit codes: 0 success, 1 failure, 2 wrong usage or settings.`;

/** Runs one command; the process's exit code is set when it is done. */
export async function main(words: readonly string[]): Promise<void> {
  endWithReader();
  try {
    const memoryd = program(words);
    // Without a command there is nothing wrong to complain about: the help is the answer.
    if (words.length === 0) memoryd.help();
    await memoryd.parseAsync(words, { from: "user" });
  } catch (error) {
    process.exitCode = end(error, /--log-level[ =]debug/.test(words.join(" ")));
  }
}

/** What a command does is loaded by its action: most of a start was the loading of what other commands need. */
function program(words: readonly string[]): Command {
  const memoryd = new Command("memoryd")
    .description(
      "A local-first memory for people and their AI agents: a daemon that stores memories and finds them.",
    )
    .version(VERSION, "-v, --version")
    .addHelpText("after", EPILOGUE)
    .showHelpAfterError("(`memoryd --help` shows what there is)")
    // What stands behind a command is that command's: `--project` of `mcp` is not that of `mcp install`.
    .enablePositionalOptions()
    .exitOverride();

  addStart(memoryd, words);
  addDaemonCommands(memoryd);
  addDataCommands(memoryd);
  addServiceCommands(memoryd);
  addMemoryCommands(memoryd);
  addSingleMemoryCommands(memoryd);
  addAgentCommands(memoryd);
  addFactCommands(memoryd);
  addTransferCommands(memoryd);
  addUserCommands(memoryd);
  addKeyCommands(memoryd);
  memoryd
    .command("completion")
    .description("print a script that lets a shell complete commands and options")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .action((shell: Shell) => print(completionScript(memoryd, shell)));
  return memoryd;
}

function addStart(memoryd: Command, words: readonly string[]): void {
  const command = memoryd
    .command("start")
    .description("run the daemon here until Ctrl-C, or with --detach on its own");
  // The descriptions say the choices.
  command.configureHelp({ optionDescription: ({ description }) => description });
  for (const { flag, variable, description, default: usual, choices } of SETTINGS) {
    const note =
      usual === "" || (Array.isArray(usual) && usual.length === 0) ? "" : `; default ${String(usual)}`;
    const option = new Option(`${flag} <value>`, `${description} (${variable}${note})`);
    command.addOption(choices.length > 0 ? option.choices(choices) : option);
  }
  command
    .option("--config <file>", `read settings from this file instead of ${DEFAULT_CONFIG_FILE}`)
    .option("--detach", "run as a process of its own; returns when it is ready")
    .option("--log-to-file", "log to memoryd.log in the data directory, as --detach does")
    .action(async ({ config: configFile, detach, logToFile, ...flags }: StartOptions) => {
      const config = loadConfig({ flags: flags as Record<string, string>, configFile });
      if (detach === true) {
        const { startDetached } = await import("./start-detached.ts");
        return await startDetached(config, words);
      }
      const { start } = await import("./start.ts");
      const { startDaemon } = await import("../daemon.ts");
      return await start(config, startDaemon, { logToFile: logToFile === true });
    });
}

function addDaemonCommands(memoryd: Command): void {
  withDataDir(memoryd.command("stop").description("stop the daemon; its last writes are kept")).action(
    async (options: DaemonOptions) => {
      const { stop } = await import("./stop.ts");
      return await stop(settingsOf(options));
    },
  );
  withDataDir(
    memoryd.command("restart").description("stop the daemon and start it again as it was started"),
  ).action(async (options: DaemonOptions) => {
    const { restart } = await import("./restart.ts");
    return await restart(settingsOf(options));
  });
  withDataDir(memoryd.command("status").description("say whether the daemon runs, and where"))
    .option("--json", "as JSON")
    .action(async (options: DaemonOptions & StatusOptions) => {
      const { status } = await import("./status.ts");
      return await status(settingsOf(options).dataDir, options);
    });
  withDataDir(memoryd.command("logs").description("show what a detached daemon, or the service, has logged"))
    .option("-f, --follow", "go on with what it logs from now on")
    .option("-n, --lines <number>", "how many lines of the past; 50 if not given", wholeNumber(0, 1_000_000))
    .action(async (options: DaemonOptions & LogsOptions) => {
      const { logs } = await import("./logs.ts");
      return await logs(settingsOf(options).dataDir, options);
    });
  withDataDir(
    memoryd.command("compact").description("erase what was deleted from the disk, or say what waits for it"),
  )
    .option("--now", "erase it now, whether the daemon runs or not")
    .option("--json", "as JSON")
    .action(async (options: DaemonOptions & CompactOptions) => {
      const { compact } = await import("./compact.ts");
      return await compact(settingsOf(options), options);
    });
}

function addMemoryCommands(memoryd: Command): void {
  withDataDir(memoryd.command("add").description("remember a text"))
    .argument("[text...]", "what to remember; standard input if absent or -")
    .option("-f, --file <file>", "what to remember is in this file")
    .option("-t, --tag <tag>", "a tag; may be given several times", tags)
    .option("-u, --user <id>", "whose memory it is", userId)
    .option("-p, --project <name>", "the project it belongs to", project)
    .option("-s, --session <id>", "the conversation or piece of work it belongs to", sessionId)
    .option("--occurred-at <time>", "when it happened, such as 2026-11-21 or 2026-11-21T10:15:00Z", time)
    .option("--metadata <json>", "a JSON object to keep with it")
    .option("--json", "print the record as JSON")
    .action(async (text: string[], options: DaemonOptions & AddOptions) => {
      const { add } = await import("./add.ts");
      return await add(settingsOf(options).dataDir, text, options);
    });

  withDataDir(
    memoryd.command("ingest").description("take in documents: files, and folders with all that is in them"),
  )
    .argument(
      "<path...>",
      "PDF, DOCX, HTML, Markdown, text, subtitles and recordings, or folders (.gitignore is heeded)",
    )
    .option("-t, --tag <tag>", "a tag; may be given several times", tags)
    .option("-u, --user <id>", "whose documents they are", userId)
    .option("-p, --project <name>", "the project they belong to", project)
    .option("-l, --language <tag>", "what is spoken in recordings, such as en; heard if not given")
    .option("-w, --watch", "go on looking for changes, and remove what was deleted")
    .option("--json", "print the summary as JSON")
    .action(async (paths: string[], options: DaemonOptions & IngestOptions) => {
      const { ingest } = await import("./ingest/ingest.ts");
      return await ingest(settingsOf(options).dataDir, paths, options);
    });

  withDataDir(memoryd.command("query").description("find the memories that answer a question"))
    .argument("<text...>", "the question")
    .option("-k, --k <number>", "how many memories, 1 to 200; 8 if not given", wholeNumber(1, 200))
    .option("-u, --user <id>", "only this user's memories", userId)
    .option("-p, --project <name>", "only those of this project", project)
    .option("-s, --session <id>", "only those of this session", sessionId)
    .option("-t, --tag <tag>", "only those with this tag; several: with all of them", tags)
    .addOption(sectorOption())
    .option("--from <time>", "only what happened at this time or later", time)
    .option("--to <time>", "only what happened before this time", time)
    .option("--min-score <number>", "only matches with this score or better, 0 to 1", part)
    .option("--json", "print the answer as JSON")
    .action(async (text: string[], options: DaemonOptions & QueryOptions) => {
      const { query } = await import("./query.ts");
      return await query(settingsOf(options).dataDir, text, options);
    });
}

function addAgentCommands(memoryd: Command): void {
  const mcp = memoryd
    .command("mcp")
    .description(
      "speak the Model Context Protocol with the agent that starts this; starts the daemon if need be",
    );
  addAgentInstallCommands(mcp);
  withDataDir(mcp)
    .option(
      "-p, --project <name>",
      "what is added goes there; found from the folder's git remote if not given",
      project,
    )
    .option("-u, --user <id>", "whose memories are read and added", userId)
    .option("--tools <list>", `further tools: ${EXTRA_TOOL_NAMES}`)
    .option("--read-only", "only tools that change nothing")
    .action(async (options: DaemonOptions & ServeAgentOptions) => {
      const { serveAgent } = await import("./mcp/serve-agent.ts");
      return await serveAgent(settingsOf(options), options);
    });

  withDataDir(memoryd.command("review").description("show what was added, by client and day, and remove it"))
    .option("-c, --client <name>", "only what this client added")
    .option("--since <time>", "how far to look back, such as 2026-11-21; 30 days if not given", time)
    .option("--remove [ids...]", "remove what is shown, or these of it; asks first")
    .option("-y, --yes", "remove without asking")
    .option("--json", "as JSON")
    .action(async (options: DaemonOptions & ReviewOptions) => {
      const { review } = await import("./review.ts");
      return await review(settingsOf(options).dataDir, options);
    });
}

interface StartOptions extends Readonly<Record<string, string | boolean | undefined>> {
  readonly config?: string;
  readonly detach?: boolean;
  readonly logToFile?: boolean;
}

/** Says what went wrong, in one sentence, and gives the exit code for it. */
function end(error: unknown, isDebugging: boolean): ExitCode {
  // Commander has printed its own complaint, or the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  complain(error instanceof Error ? error.message : String(error));
  if (isDebugging && error instanceof Error) complain(error.stack ?? "");
  if (error instanceof ConfigError) return EXIT.usage;
  return error instanceof CliFailure ? error.exitCode : EXIT.failure;
}
