/** The README's first ten minutes, command by command, and the example of an import in docs/: as a newcomer would. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chatGptConversation } from "../support/foreign-archives.ts";
import { runCli } from "../support/run-cli.ts";
import { zipOf } from "../support/zip-writer.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");
const importing = readFileSync(join(ROOT, "docs/import-export.md"), "utf8");
const section = (title: string): string => readme.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
/** Of three memories each. */
const CONVERSATIONS = 500;

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-first-"));
  mkdirSync(join(home, "notes"));
  writeFileSync(
    join(home, "notes", "garden.md"),
    "# Garlic\n\nPlant it in October, three centimetres deep.\n",
  );
  // Stands for what is typed into an editor.
  writeFileSync(
    join(home, "editor.mjs"),
    'import { appendFileSync } from "node:fs"; appendFileSync(process.argv[2], "And a second one is at Bob\'s.");',
  );
  const conversations = Array.from({ length: CONVERSATIONS }, (_, n) => chatGptConversation(n, 1));
  // What tells them apart elsewhere is of no interest to a reader.
  const content = JSON.stringify(conversations)
    .replace(/Question \d+ of conversation \d+: h/g, "H")
    .replace(/Answer \d+ of conversation \d+: t/g, "T")
    .replace(/grows here\? \(\d+\)/g, "grows here?");
  writeFileSync(join(home, "chatgpt.zip"), zipOf([{ name: "conversations.json", content }]));
});
afterAll(async () => {
  await memoryd("stop");
  rmSync(home, { recursive: true, force: true });
});

const memoryd = (...words: string[]) =>
  runCli(words, {
    home,
    env: { MEMORYD_PORT: "0", EDITOR: `"${process.execPath}" "${join(home, "editor.mjs")}"` },
  });

/** The words of a command as a shell takes them: quoted ones together, `~` as the home. */
function wordsOf(command: string): string[] {
  return Array.from(
    command.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, plain = ""]) => quoted ?? plain.replace(/^~/, home),
  );
}

// On Windows an editor is named in another way.
it.skipIf(process.platform === "win32")(
  "can be gone through as they stand there",
  { timeout: 300_000 },
  async () => {
    const commands = Array.from(
      section("The first ten minutes").matchAll(/`memoryd ([^`]+)`/g),
      ([, words = ""]) => words,
    );
    expect(commands.map((command) => command.split(" ")[0])).toEqual([
      "start",
      "status",
      "add",
      "query",
      "open",
      "list",
      "edit",
      "rm",
      "trash",
      "import",
      "ingest",
    ]);
    const answers = new Map<string, string>();
    for (const command of commands) {
      const id = /remembered (\S+)/.exec(answers.get("add") ?? "")?.[1] ?? "";
      const words = wordsOf(command).map((word) => (word === "ID" ? id : word));
      // Nobody is there to be asked, nor a browser.
      const [name = ""] = words;
      const unasked = { rm: ["--yes"], open: ["--print"] }[name] ?? [];
      const { code, stdout, stderr } = await memoryd(...words, ...unasked);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
      answers.set(name, stdout);
    }
    expect(answers.get("status")).toMatch(/listening {2}http.*\n {2}data {7}\S+/);
    expect(answers.get("query")).toMatch(/^ *1\. .*water meter/);
    expect(answers.get("list")).toMatch(/water meter.*#home/);
    expect(answers.get("edit")).toMatch(/^changed .*version 2/);
    expect(answers.get("rm")).toBe("deleted 1 memory; `memoryd trash` lists it\n");
    expect(answers.get("trash")).toMatch(/^restored .*water meter/);
    expect((await memoryd("query", "how deep is garlic planted?")).stdout).toMatch(
      /^ *1\. .*three centimetres deep/,
    );
  },
);

it("has an import that says what it would do", { timeout: 60_000 }, async () => {
  const [, command = "", shown = ""] = /```text\n\$ memoryd (import .*)\n([^]*?)```/.exec(importing) ?? [];
  const { code, stdout, stderr } = await memoryd(...wordsOf(command));
  expect({ code, text: stdout + stderr }).toEqual({ code: 0, text: shown });
});
