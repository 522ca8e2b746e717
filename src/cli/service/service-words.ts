/** The words of a command as the definitions of services have them, written and read back. */

/** One word of a command of systemd; see systemd.syntax(7). */
export function systemdWord(word: string): string {
  return `"${word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;
}

/** One argument as `CommandLineToArgvW` reads it: backslashes count only before a quotation mark. */
export function windowsWord(word: string): string {
  if (/^[^\s"]+$/.test(word)) return word;
  return `"${word.replace(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}

export function xml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** The command that a definition runs, word by word; undefined where it names none that is understood. */
export function commandIn(platform: NodeJS.Platform, definition: string): string[] | undefined {
  if (platform === "linux") return systemdWords(definition);
  if (platform === "darwin") {
    const list = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(definition)?.[1];
    if (list === undefined) return undefined;
    return Array.from(list.matchAll(/<string>([\s\S]*?)<\/string>/g), ([, word = ""]) => unxml(word));
  }
  const program = /<Command>([\s\S]*?)<\/Command>/.exec(definition)?.[1];
  const words = /<Arguments>([\s\S]*?)<\/Arguments>/.exec(definition)?.[1] ?? "";
  return program === undefined ? undefined : [unxml(program), ...windowsWords(unxml(words))];
}

function systemdWords(unit: string): string[] | undefined {
  const command = /^ExecStart=[:@+!-]*(.+)$/m.exec(unit)?.[1];
  if (command === undefined) return undefined;
  return Array.from(command.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g), ([, quoted, bare]) =>
    (quoted ?? bare ?? "")
      .replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter))
      .replaceAll("%%", "%"),
  );
}

/** @see https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments */
function windowsWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const [part, slashes = "", mark] of text.matchAll(/(\\*)(")|\\+|\s|[^\s"\\]+/g)) {
    if (mark !== undefined) {
      const isLiteral = slashes.length % 2 === 1;
      word = (word ?? "") + "\\".repeat(slashes.length >> 1) + (isLiteral ? '"' : "");
      if (!isLiteral) isQuoted = !isQuoted;
    } else if (/\s/.test(part) && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + part;
  }
  return word === undefined ? words : [...words, word];
}

function unxml(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
