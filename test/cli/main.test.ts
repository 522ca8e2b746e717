/** The completion scripts, in the shells that are here. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LAUNCHER, runCli } from "../support/run-cli.ts";

let home: string;
/** With `memoryd` on the search path. */
let env: NodeJS.ProcessEnv;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-completion-"));
  writeFileSync(join(home, "memoryd"), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`);
  chmodSync(join(home, "memoryd"), 0o755);
  env = { ...process.env, HOME: home, PATH: `${home}${delimiter}${process.env["PATH"]}` };
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const has = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;
async function written(shell: string): Promise<string> {
  const { code, stdout } = await runCli(["completion", shell], { home });
  expect(code).toBe(0);
  const file = join(home, `memoryd.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

describe.skipIf(!has("bash"))("bash (skipped where it is absent)", () => {
  it("completes commands, their commands and their options", async () => {
    const file = await written("bash");
    const complete = (line: string) => {
      const words = line.split(" ");
      const script = `source "${file}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memoryd memoryd; echo "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8", env })
        .trim()
        .split(" ");
    };
    expect(complete("memoryd ")).toEqual(
      expect.arrayContaining(["add", "rm", "fact", "completion", "--help"]),
    );
    expect(complete("memoryd fact t")).toEqual(["timeline"]);
    expect(complete("memoryd list --se")).toEqual(["--session", "--sector"]);
    expect(complete("memoryd mcp install cl")).toEqual(["claude-code", "claude-desktop", "cline"]);
    expect(complete("memoryd query --sector e")).toEqual(["episodic", "emotional"]);
    expect(complete("memoryd start --log-level d")).toEqual(["debug"]);
    expect(complete("memoryd start --log-level = d")).toEqual(["debug"]);
    // Files are left to the shell.
    expect(complete("memoryd add --tag ")).toEqual([""]);
    // A value that is called like a command is none.
    expect(complete("memoryd add list --occ")).toEqual(["--occurred-at"]);
  });
});

describe.skipIf(!has("zsh"))("zsh (skipped where it is absent)", () => {
  it("reads the script", async () => {
    const file = await written("zsh");
    execFileSync("zsh", ["-n", file]);
    const script = `compdef() { print "$@" }; source "${file}"; _describe() { print -l \${candidates} }; words=(memoryd fact ""); CURRENT=3; _memoryd`;
    const lines = execFileSync("zsh", ["-fc", script], { encoding: "utf8", env }).split("\n");
    expect(lines[0]).toBe("_memoryd memoryd");
    const choice = script.replace('fact ""', 'keys create --scope ""').replace("CURRENT=3", "CURRENT=5");
    expect(execFileSync("zsh", ["-fc", choice], { encoding: "utf8", env })).toContain("read\nwrite\nadmin\n");
    expect(lines).toContain("timeline:draw the facts on a subject over time");
  });
});

describe.skipIf(!has("fish"))("fish (skipped where it is absent)", () => {
  it("completes commands, their commands and their options", async () => {
    const file = await written("fish");
    const complete = (line: string) =>
      execFileSync("fish", ["--no-config", "-c", `source ${file}; complete -C '${line}'`], {
        encoding: "utf8",
        env,
      })
        .trim()
        .split("\n")
        .map((row) => row.split("\t")[0]);
    expect(complete("memoryd fact t")).toEqual(["timeline"]);
    expect(complete("memoryd list --se")).toEqual(expect.arrayContaining(["--sector", "--session"]));
    expect(complete("memoryd mcp install cl")).toEqual(["claude-code", "claude-desktop", "cline"]);
    expect(complete("memoryd query --sector se")).toEqual(["semantic"]);
    expect(complete("memoryd s")).toEqual(expect.arrayContaining(["show", "stats", "status"]));
  });
});

it("knows no other shell", async () => {
  expect((await runCli(["completion", "tcsh"], { home })).code).toBe(2);
});
