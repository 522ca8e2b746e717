/** Completion scripts for shells, made from the commands themselves. */
import type { Command, Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface Place {
  /** The commands before, each with a space in front: " fact add"; "" at the beginning. */
  readonly path: string;
  readonly words: readonly Word[];
  /** What its arguments may be, where that is known. */
  readonly choices: readonly string[];
}
interface Word {
  readonly text: string;
  readonly short: string | undefined;
  readonly description: string;
  readonly takesValue: boolean;
  /** What the value may be, where that is known. */
  readonly choices: readonly string[];
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
      choices: [],
    })),
    ...help.visibleOptions(command).map(wordOf),
  ];
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  return [
    { path, words, choices },
    ...command.commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`)),
  ];
}

function wordOf({ long, short, description, required, argChoices = [] }: Option): Word {
  return {
    text: long ?? short ?? "",
    short: long === undefined ? undefined : short?.slice(1),
    description,
    takesValue: required,
    choices: argChoices,
  };
}

interface Following {
  /** The place, or the place and the option before, as a `case` pattern. */
  readonly pattern: string;
  readonly words: readonly Pick<Word, "text" | "description">[];
  /** Nothing else can be meant, so that no names of files are offered. */
  readonly isAll: boolean;
}

function atPlaces(places: readonly Place[]): Following[] {
  return places.map(({ path, words, choices }) => ({
    pattern: `"${path}"`,
    words: [...choices.map(asWord), ...words],
    isAll: choices.length > 0,
  }));
}

/** What is the value of an option; nothing where it may be anything. */
function behindOptions(places: readonly Place[]): Following[] {
  return places.flatMap(({ path, words }) =>
    words
      .filter(({ takesValue }) => takesValue)
      .map(({ text, short, choices }) => ({
        pattern: [text, ...(short === undefined ? [] : [`-${short}`])]
          .map((name) => `"${path} ${name}"`)
          .join("|"),
        words: choices.map(asWord),
        isAll: choices.length > 0,
      })),
  );
}

function asWord(text: string): Pick<Word, "text" | "description"> {
  return { text, description: "" };
}

/** Finds the place of the words so far, and sets what may follow it; the same in bash and zsh. */
function choosing(places: readonly Place[], words: string, branch: (following: Following) => string): string {
  // Any other word on the line is a value.
  const commands = places.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`])).join("|");
  return `  for word in ${words}; do
    case "$seen $word" in
      ${commands}) seen="$seen $word" ;;
    esac
  done
  case "$seen $previous" in
${behindOptions(places).map(branch).join("\n")}
    *) case "$seen" in
${atPlaces(places).map(branch).join("\n")}
    esac ;;
  esac`;
}

function bash(places: readonly Place[]): string {
  const branch = ({ pattern, words, isAll }: Following) =>
    `    ${pattern}) words="${words.map(({ text }) => text).join(" ")}"${isAll ? " files=no" : ""} ;;`;
  return `# memoryd completion for bash: source <(memoryd completion bash)
_memoryd() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" seen="" words="" files=yes word
  if [[ "$current" == "=" ]]; then current=""; fi
  if [[ "$previous" == "=" ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
${choosing(places, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', branch)}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = no ]; then compopt +o default 2>/dev/null; fi
}
complete -o default -F _memoryd memoryd
`;
}

function zsh(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const branch = ({ pattern, words, isAll }: Following) => {
    const list = words.map(({ text, description }) =>
      quoted(`${text.replaceAll(":", "\\:")}${description === "" ? "" : `:${description}`}`),
    );
    return `    ${pattern}) candidates=(${list.join(" ")})${isAll ? "; files=no" : ""} ;;`;
  };
  return `#compdef memoryd
# memoryd completion for zsh: source <(memoryd completion zsh), after compinit
_memoryd() {
  local seen="" previous="\${words[CURRENT-1]}" files=yes word
  local -a candidates
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    previous="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
${choosing(places, '"${(@)words[2,CURRENT-1]}"', branch)}
  if (( $#candidates )) && _describe memoryd candidates; then return; fi
  if [ "$files" = yes ]; then _files; fi
}
if [ "\${funcstack[1]}" = "_memoryd" ]; then _memoryd "$@"; else compdef _memoryd memoryd; fi
`;
}

function fish(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const line = (path: string, what: string) => `complete -c memoryd -n "__memoryd_at '${path}'" ${what}`;
  const option = ({ text, short, takesValue, choices }: Word) => {
    const names = `-l ${text.slice(2)}${short === undefined ? "" : ` -s ${short}`}`;
    if (choices.length > 0) return `${names} -x -a ${quoted(choices.join(" "))}`;
    return takesValue ? `${names} -r` : names;
  };
  const lines = places.flatMap(({ path, words, choices }) => [
    ...words.map((word) => {
      const what = word.text.startsWith("--") ? option(word) : `-f -a ${word.text}`;
      return line(path, `${what} -d ${quoted(word.description)}`);
    }),
    ...(choices.length > 0 ? [line(path, `-f -a ${quoted(choices.join(" "))}`)] : []),
  ]);
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
