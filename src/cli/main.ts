import { Argument, Command, CommanderError } from "commander";
import { MemorydError } from "../client/transport.ts";
import { ALL_SETTINGS, ConfigError, DEFAULT_CONFIG_FILE, loadConfig, SETTINGS } from "../config/config.ts";
import { VERSION } from "../config/limits.ts";
import { incompleteProgram, messageOf, pathFault } from "../config/narrow.ts";
import { useLanguages } from "../core/text/languages.ts";
import { readLanguages } from "../files/read-languages.ts";
import { addAgentCommands, addHookCommands } from "./agents/agent-commands.ts";
import { addBackupCommands } from "./commands/backup.ts";
import { addChangeCommands, addHistoryCommands, addSupersededCommands } from "./commands/changes.ts";
import { addCompactCommand } from "./commands/compact.ts";
import { addDaemonCommands, addOpenCommand } from "./commands/daemon.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addFactCommands } from "./commands/facts.ts";
import { addKeyCommands, addUserCommands } from "./commands/users.ts";
import { addMemoryCommands } from "./commands/memories.ts";
import { addModelCommands } from "./commands/models.ts";
import { addStoreCommands } from "./commands/store.ts";
import { addReviewCommand } from "./commands/review.ts";
import type { StartDaemon } from "./commands/start.ts";
import { addTransferCommands } from "./commands/transfer.ts";
import { addWatchCommands } from "./commands/watch.ts";
import {
  CliFailure,
  complain,
  endWithReader,
  EXIT,
  type ExitCode,
  print,
  writeProgressLines,
} from "./output/output.ts";
import { addCommand, type Flags, settingsOf, withSettings } from "./output/options.ts";
import { present } from "../schemas/wire.ts";
import { addServiceCommands } from "./service/service.ts";

const EPILOGUE = `
Every setting is a flag of \`memoryd start\`, a variable (--data-dir is MEMORYD_DATA_DIR) and a key of the
configuration file ("dataDir"); a flag wins over a variable, a variable over the file. The file is
${DEFAULT_CONFIG_FILE}, or what --config names. A configured API
key comes from MEMORYD_API_KEY or --api-key-file only; \`memoryd keys\` makes others.

Times are local: 2026-11-21, "2026-11-21 10:15", 2022-09, yesterday, 7d (seven days ago).
An id may be shortened to its last 6 or more characters.

Exit codes: 0 success, 1 failure, 2 wrong usage or settings.`;

/** Runs one command; the process's exit code is set when it is done. */
export async function main(words: readonly string[]): Promise<void> {
  endWithReader();
  if (!words.includes("--json")) writeProgressLines();
  useLanguages(readLanguages);
  try {
    const memoryd = program(words);
    // Without a command nothing is wrong: the help is the answer.
    if (words.length === 0) memoryd.help();
    await memoryd.parseAsync(words, { from: "user" });
  } catch (error) {
    process.exitCode = end(error, /--log-level[ =]debug/.test(words.join(" ")));
  }
}

/** Large libraries are loaded by the actions that need them: loading all of them takes longer than most commands. */
export function program(words: readonly string[]): Command {
  const memoryd = new Command("memoryd")
    .description(
      "A local-first memory for people and their AI agents: a daemon that stores memories and finds them.",
    )
    .version(VERSION, "-v, --version")
    .addHelpText("after", EPILOGUE)
    // Options behind a command are that command's: `--project` of `mcp` is not that of `mcp install`.
    .enablePositionalOptions()
    .showHelpAfterError("(try again with --help for its commands and options)")
    .exitOverride();

  memoryd.commandsGroup("Everyday:");
  addMemoryCommands(memoryd);
  addChangeCommands(memoryd);
  addFactCommands(memoryd);
  addSupersededCommands(memoryd);
  addOpenCommand(memoryd);
  memoryd.helpCommand("help [command]", "explain a command");
  memoryd.commandsGroup("Bring in and out:");
  addTransferCommands(memoryd);
  addWatchCommands(memoryd);
  memoryd.commandsGroup("Agents:");
  addAgentCommands(memoryd);
  addHookCommands(memoryd);
  addReviewCommand(memoryd);
  memoryd.commandsGroup("The daemon:");
  addStart(memoryd, words);
  addRestart(memoryd);
  addDaemonCommands(memoryd);
  addServiceCommands(memoryd);
  addModelCommands(memoryd);
  addStoreCommands(memoryd);
  const data = memoryd.command("data").description("say where the data is");
  addCommand(data, "path", "print the data directory").action((flags: Flags) =>
    print(settingsOf(flags).dataDir),
  );
  memoryd
    .command("completion")
    .description("print a script with which a shell completes commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell) => print(COMPLETION_SCRIPTS[shell]));
  memoryd.commandsGroup("Safety:");
  addHistoryCommands(memoryd);
  addBackupCommands(memoryd);
  addDoctorCommand(memoryd);
  addCompactCommand(memoryd);
  addUserCommands(memoryd);
  addKeyCommands(memoryd);
  memoryd
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((given: string[]) => completions(memoryd, given).forEach(print));
  return memoryd;
}

interface StartFlags extends Readonly<Record<string, string | boolean | undefined>> {
  readonly config?: string;
  readonly detach?: boolean;
  readonly logToFile?: boolean;
}

function addStart(memoryd: Command, words: readonly string[]): void {
  const command = memoryd
    .command("start")
    .description("run the daemon here until Ctrl-C, or detached with --detach");
  withSettings(command, ALL_SETTINGS);
  command
    .option("--config <file>", `read settings from this file instead of ${DEFAULT_CONFIG_FILE}`)
    .option("--detach", "run as a process of its own; returns when it is ready")
    .option("--log-to-file", "log to memoryd.log in the data directory, as --detach does")
    .action(async ({ config: configFile, detach, logToFile, ...flags }: StartFlags) => {
      const config = loadConfig({ flags: flags as Record<string, string>, configFile });
      if (detach === true) {
        const { startDetached } = await import("./commands/start-detached.ts");
        return await startDetached(config, words);
      }
      const { start } = await import("./commands/start.ts");
      // Loaded within the start, whose failures go to the command that detached it.
      const startDaemon: StartDaemon = async (...given) =>
        (await import("../daemon/daemon.ts")).startDaemon(...given);
      return await start(config, startDaemon, { logToFile: logToFile === true });
    });
}

function addRestart(memoryd: Command): void {
  const description = "stop the daemon and start it again as it was started, but for the settings given";
  const command = addCommand(memoryd, "restart", description);
  withSettings(command, SETTINGS);
  command.action(async ({ dataDir, config, ...flags }: Flags & Readonly<Record<string, string>>) => {
    const { restart } = await import("./commands/restart.ts");
    return await restart(settingsOf(present({ dataDir, config })), flags);
  });
}

function end(error: unknown, isDebugging: boolean): ExitCode {
  // Commander has printed its own complaint, or the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  complain(error instanceof MemorydError ? sentenceOf(error) : explain(error));
  if (isDebugging && error instanceof Error) complain(error.stack ?? "");
  if (error instanceof ConfigError) return EXIT.usage;
  return error instanceof CliFailure ? error.exitCode : EXIT.failure;
}

function explain(error: unknown): string {
  const fault = error instanceof Error ? pathFault(error) : undefined;
  if (fault === undefined) return incompleteProgram(error) ?? messageOf(error);
  return `${fault.charAt(0).toUpperCase()}${fault.slice(1)}; name another path.`;
}

function sentenceOf({ code, detail, errors }: MemorydError): string {
  if (code === "UNREACHABLE" || code === "TIMEOUT")
    return "memoryd stopped answering; look at `memoryd status` and its log.";
  const fields = errors
    .filter(({ path, message }) => !detail.includes(`${path.slice(1)} ${message}`))
    .map(({ path, message }) => `${path} ${message}`);
  return fields.length === 0 ? detail : `${detail} (${fields.join("; ")})`;
}

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** Each gives the names of files where the program has no word. */
const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# memoryd completion for bash: source <(memoryd completion bash)
_memoryd() {
  local IFS=$'\\n'
  COMPREPLY=($("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _memoryd memoryd`,
  zsh: `#compdef memoryd
# memoryd completion for zsh: source <(memoryd completion zsh), after compinit
_memoryd() {
  local -a candidates
  candidates=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=("\${(@)candidates//:/\\\\:}")
  candidates=("\${(@)candidates/$'\\t'/:}")
  if [[ -n "$candidates" ]]; then _describe memoryd candidates; else _files; fi
}
if [ "\${funcstack[1]}" = "_memoryd" ]; then _memoryd "$@"; else compdef _memoryd memoryd; fi`,
  fish: `# memoryd completion for fish: memoryd completion fish | source
function __memoryd_complete
  set -l found (memoryd complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c memoryd -f -a '(__memoryd_complete)'`,
};

/**
 * The words that may stand where the last one begins, each with a tab and its description where it has one; none where
 * anything may.
 * @param words of the command line behind the program's name, up to the cursor; bash parts `--flag=value` in three.
 */
function completions(program: Command, words: readonly string[]): string[] {
  const parts = words.flatMap((word) => {
    const [, flag = word, value] = /^(--[^=]+)=(.*)$/.exec(word) ?? [];
    return value === undefined ? (word === "=" ? [] : [flag]) : [flag, value];
  });
  if (words.at(-1) === "=") parts.push("");
  const last = parts.pop() ?? "";
  const prefix = /^--[^=]+=/.exec(words.at(-1) ?? "")?.[0] ?? "";
  let command = program;
  for (const word of parts) command = command.commands.find((each) => each.name() === word) ?? command;

  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const before = parts.at(-1);
  const option = options.find(({ long, short }) => before !== undefined && [long, short].includes(before));
  const choices =
    option?.required === true
      ? (option.argChoices ?? [])
      : [
          ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
          ...help.visibleCommands(command).map((each) => `${each.name()}\t${each.description()}`),
          ...options.map(({ long, short, description }) => `${long ?? short}\t${description}`),
        ];
  return choices.filter((choice) => choice.startsWith(last)).map((choice) => prefix + choice);
}
