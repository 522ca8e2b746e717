/** Completion scripts for shells, made from the commands themselves. */
import type { Command, Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A place on the command line, and what may follow it. */
interface Place {
  /** The commands before, each with a space in front: " fact add"; "" at the beginning. */
  readonly path: string;
  readonly words: readonly Word[];
}
interface Word {
  readonly text: string;
  readonly short: string | undefined;
  readonly description: string;
  readonly takesValue: boolean;
}

export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, "");
  switch (shell) {
    case "bash":
      return bash(places);
    case "zsh":
      return zsh(places);
    case "fish":
      return fish(places);
  }
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const words = [
    ...commands.map((each) => ({
      text: each.name(),
      short: undefined,
      description: each.description(),
      takesValue: false,
    })),
    ...help.visibleOptions(command).map(wordOf),
  ];
  return [{ path, words }, ...command.commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`))];
}

function wordOf({ long, short, description, required, optional }: Option): Word {
  return {
    text: long ?? short ?? "",
    short: long === undefined ? undefined : short?.slice(1),
    description,
    takesValue: required || optional,
  };
}

/** The commands so far, as `case` patterns: what else stands on the line is a value. */
function pathPatterns(places: readonly Place[]): string {
  return places
    .filter(({ path }) => path !== "")
    .map(({ path }) => `"${path}"`)
    .join("|");
}

function bash(places: readonly Place[]): string {
  const cases = places.map(
    ({ path, words }) => `    "${path}") words="${words.map(({ text }) => text).join(" ")}" ;;`,
  );
  return `# memoryd completion for bash: source <(memoryd completion bash)
_memoryd() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${pathPatterns(places)}) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _memoryd memoryd
`;
}

function zsh(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const cases = places.map(({ path, words }) => {
    const list = words.map(({ text, description }) =>
      quoted(`${text.replaceAll(":", "\\:")}:${description}`),
    );
    return `    "${path}") candidates=(${list.join(" ")}) ;;`;
  });
  return `#compdef memoryd
# memoryd completion for zsh: source <(memoryd completion zsh), after compinit
_memoryd() {
  local seen="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$seen $word" in
      ${pathPatterns(places)}) seen="$seen $word" ;;
    esac
  done
  case "$seen" in
${cases.join("\n")}
  esac
  _describe memoryd candidates || _files
}
if [ "\${funcstack[1]}" = "_memoryd" ]; then _memoryd "$@"; else compdef _memoryd memoryd; fi
`;
}

function fish(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ text, short, description, takesValue }) => {
      const what = text.startsWith("--")
        ? `-l ${text.slice(2)}${short === undefined ? "" : ` -s ${short}`}${takesValue ? " -r" : ""}`
        : `-f -a ${text}`;
      return `complete -c memoryd -n "__memoryd_at '${path}'" ${what} -d ${quoted(description)}`;
    }),
  );
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `# memoryd completion for fish: memoryd completion fish | source
function __memoryd_at
  set -l seen ""
  for word in (commandline -opc)[2..]
    if contains -- "$seen $word" ${paths.join(" ")}
      set seen "$seen $word"
    end
  end
  test "$seen" = "$argv[1]"
end
${lines.join("\n")}
`;
}
