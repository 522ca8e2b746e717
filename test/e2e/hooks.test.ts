/** The hooks of an agent as it runs them, against the built daemon. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { runHooks } from "../support/hooked-agent.ts";
import { runCli } from "../support/run-cli.ts";

const SILENT = [{ code: 0, stdout: "", stderr: "" }];

let home: string;
let dataDir: string;
let folder: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "memoryd-hooks-")));
  dataDir = join(home, "data");
  folder = join(home, "garden");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git", "config"), '[remote "origin"]\nurl = git@github.com:ada/garden.git\n');
  daemon = await startDaemonProcess(dataDir);
});
afterEach(async () => {
  await daemon.kill();
  rmSync(home, { recursive: true, force: true });
});

const settings = () => join(home, ".claude", "settings.json");
async function cli(...words: string[]) {
  const result = await runCli(words, { home, env: { MEMORYD_DATA_DIR: dataDir } });
  expect(result).toMatchObject({ code: 0 });
  return result;
}
const ask = (prompt: string, withinMs?: number) =>
  runHooks(
    settings(),
    "UserPromptSubmit",
    { session_id: "s", transcript_path: join(home, ".claude/projects/garden/s.jsonl"), cwd: folder, prompt },
    { withinMs },
  );

/** Ends a conversation in which this was said, as Claude Code does. */
async function end(name: string, said: string): Promise<void> {
  const transcript = join(home, ".claude", "projects", "garden", `${name}.jsonl`);
  mkdirSync(dirname(transcript), { recursive: true });
  const line = {
    type: "user",
    uuid: name,
    sessionId: name,
    cwd: folder,
    timestamp: "2026-11-19T09:05:00.000Z",
  };
  writeFileSync(transcript, `${JSON.stringify({ ...line, message: { role: "user", content: said } })}\n`);
  const script = resolve(import.meta.dirname, "../../bin/memoryd-hook.cjs");
  const words = ["claude-code", "end", dataDir, "--within=60000"];
  const input = { session_id: name, transcript_path: transcript, cwd: folder, reason: "other" };
  const run = await runCli(words, { home, script, stdin: JSON.stringify(input) });
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
}

it("tells what answers of the project and of no project, and nothing of others, not even instead of an answer", async () => {
  await cli("add", "We deploy the garden planner with docker compose.", "--project", "github.com/ada/garden");
  await cli("add", "We deploy the secret thing with kubernetes.", "--project", "secret");
  await cli("add", "The frost warning comes at two degrees.", "--project", "secret");
  await cli("mcp", "install", "claude-code", "--force", "--hooks", "context");

  await cli("add", "I prefer short functions.");
  const session = {
    session_id: "s0",
    transcript_path: join(home, ".claude/projects/garden/s0.jsonl"),
    cwd: folder,
  };
  const [start] = await runHooks(settings(), "SessionStart", session, { matched: "startup" });
  expect(start).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("short functions") });
  expect(start?.stdout).not.toMatch(/kubernetes|frost/);
  const [run] = await ask("how do we deploy?");
  expect(run).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("docker compose") });
  expect(run?.stdout).not.toContain("kubernetes");
  await cli("fact", "add", "billing service", "listens on port", "4311");
  const [asked] = await ask("which port does the billing service listen on?");
  expect(asked?.stdout).toContain("billing service listens on port 4311");
  expect(await ask("at how many degrees does the frost warning come?")).toEqual(SILENT);
  expect(await ask("write a haiku about rivers")).toEqual(SILENT);
  // What was asked and told stands in no log and in no file of the hooks.
  expect(daemon.output()).not.toMatch(/haiku|docker compose/);
  expect(readFileSync(join(dataDir, "hooks-told.json"), "utf8")).not.toMatch(/deploy/);
});

it("says nothing to a daemon with another key, a stopped one and one that is gone", async () => {
  await cli("add", "We deploy with docker compose.", "--project", "github.com/ada/garden");
  await cli("mcp", "install", "claude-code", "--force", "--hooks", "context");
  const file = join(dataDir, "daemon.json");
  const own = readFileSync(file, "utf8");
  const { token } = JSON.parse(own) as { readonly token: string };
  writeFileSync(file, own.replace(token, token.split("").reverse().join("")));
  expect(await ask("how do we deploy?")).toEqual(SILENT);
  writeFileSync(file, own);
  if (process.platform !== "win32") {
    process.kill(daemon.pid, "SIGSTOP");
    expect(await ask("how do we deploy?", Infinity)).toEqual(SILENT);
    process.kill(daemon.pid, "SIGCONT");
  }
  const [run] = await ask("how do we deploy?");
  expect(run?.stdout).toContain("docker compose");
  await daemon.kill();
  expect(await ask("how do we deploy?")).toEqual(SILENT);
});

it("keeps what lasts of a conversation that ended, with consent only, and nothing of what it was told", async () => {
  await cli("add", "We deploy with docker compose.", "--project", "github.com/ada/garden");
  const contents = async () => (await cli("list", "--json")).stdout;

  const shown = await cli("mcp", "install", "claude-code", "--force", "--hooks", "context");
  expect(shown.stdout).not.toContain("SessionEnd");
  expect(readFileSync(settings(), "utf8")).not.toContain("SessionEnd");
  await end("refused", "We decided to keep the first conversation in the attic for ever.");
  await cli("mcp", "install", "claude-code", "--force", "--hooks", "context,capture");
  expect(readFileSync(settings(), "utf8")).toContain("SessionEnd");
  const [told] = await ask("how do we deploy?");
  const { hookSpecificOutput } = JSON.parse(told?.stdout ?? "") as {
    readonly hookSpecificOutput: { readonly additionalContext: string };
  };
  await end(
    "agreed",
    `We decided to store all dates as UTC midnight.\n\n${hookSpecificOutput.additionalContext}`,
  );
  await expect.poll(contents, { timeout: 60_000 }).toContain("UTC midnight");
  const kept = await contents();
  expect(kept).not.toContain("attic");
  expect(kept.match(/docker compose/g)).toHaveLength(1);
  const waiting = () => readdirSync(join(dataDir, "ended"));
  await expect.poll(waiting, { timeout: 60_000 }).toEqual([]);

  await daemon.kill();
  await end("later", "We decided to keep the garden's plans in SQLite.");
  expect(waiting()).toHaveLength(1);
  daemon = await startDaemonProcess(dataDir);
  await expect.poll(contents, { timeout: 60_000 }).toContain("plans in SQLite");
  await expect.poll(waiting, { timeout: 60_000 }).toEqual([]);
});
