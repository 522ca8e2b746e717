/**
 * A day with a coding agent, replayed: a fake Claude Code keeps transcripts and runs the hooks that
 * `memoryd mcp install claude-code --hooks context,capture` wrote, against a daemon. Prints what was remembered, what was
 * told, and the cost in tokens (of the default model) and milliseconds, as tables for docs/agents.md.
 *
 *   npm run eval -- agent-day
 */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { findDaemon } from "../../src/cli/connect.ts";
import { MEMORYD_E5 } from "../../src/models/bundled-models.ts";
import { openPieceReader } from "../../src/models/tokenizer/piece-reader.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";
import { runHooks } from "../support/hooked-agent.ts";
import { runCli } from "../support/run-cli.ts";
import { DAY, OLDER, type Session, type Turn } from "./agent-day-set.ts";

/** An import is done when nothing was added for so long. */
const QUIET_MS = 4_000;
const IMPORT_MS = 60_000;
const OLDER_EVERY_MS = 4 * 24 * 60 * 60 * 1_000;

it("replays a day with a coding agent", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "memoryd-day-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [dataDir, folder] = [join(home, "data"), join(home, "seedling")];
  const [transcripts, settings] = [
    join(home, ".claude/projects/-seedling"),
    join(home, ".claude/settings.json"),
  ];
  for (const path of [transcripts, join(folder, ".git")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(folder, ".git", "config"), '[remote "origin"]\nurl = git@github.com:ada/seedling.git\n');
  const daemon = await startDaemonProcess(dataDir);
  onTestFinished(async () => void (await daemon.stop()));
  const install = ["mcp", "install", "claude-code", "--force", "--hooks", "context,capture"];
  expect(await runCli(install, { home, env: { MEMORYD_DATA_DIR: dataDir } })).toMatchObject({ code: 0 });
  const api = (await findDaemon(dataDir))?.api;
  if (api === undefined) throw new Error("the daemon is not there");
  const { reader } = await openPieceReader(MEMORYD_E5);
  const tokensOf = (text: string) =>
    Array.from(reader.units(text), ({ pieces }) => pieces.length).reduce((sum, count) => sum + count, 0);
  const first = Date.parse(DAY[0]?.at ?? "");
  for (const [i, content] of OLDER.entries()) {
    const occurred_at = new Date(first - (OLDER.length - i) * OLDER_EVERY_MS).toISOString();
    await api.memories.add({ content, project: "github.com/ada/seedling", occurred_at });
  }
  const count = async () => (await api.memories.page({ l: 1 })).total;

  const starts: string[] = [];
  const prompts: string[] = [];
  const tally = { needed: 0, there: 0, asked: 0, answered: 0, quiet: 0, silent: 0, tokens: 0 };
  for (const [i, session] of DAY.entries()) {
    const sessionId = randomUUID();
    const transcript = join(transcripts, `${sessionId}.jsonl`);
    const base = { session_id: sessionId, transcript_path: transcript, cwd: folder };
    const hook = async (event: string, more: object, matched = "") => {
      const began = performance.now();
      const [run] = await runHooks(
        settings,
        event,
        { ...base, hook_event_name: event, ...more },
        { matched },
      );
      expect(run).toMatchObject({ code: 0, stderr: "" });
      const ms = Math.round(performance.now() - began);
      if (run === undefined || run.stdout === "") return { text: "", ms };
      const said = JSON.parse(run.stdout) as { hookSpecificOutput: { additionalContext: string } };
      return { text: said.hookSpecificOutput.additionalContext, ms };
    };
    const began = await hook("SessionStart", { source: "startup" }, "startup");
    const found = session.context.filter((part) => part.test(began.text));
    tally.needed += session.context.length;
    tally.there += found.length;
    tally.tokens += tokensOf(began.text);
    starts.push(
      `| ${i + 1} | ${began.text.split("\n- ").length - 1} | ${found.length} of ${session.context.length} | ${tokensOf(began.text)} | ${began.ms} |`,
    );
    if (i === DAY.length - 1) console.log(`Told at the start of session ${i + 1}:\n\n${began.text}\n`);
    let known = began.text;
    for (const [n, turn] of session.turns.entries()) {
      const { text, ms } = await hook("UserPromptSubmit", { prompt: turn.prompt });
      keep(transcript, session, n, turn, { sessionId, cwd: folder, told: text });
      const told = text.split("\n").filter((line) => line.startsWith("- "));
      known += text;
      tally.tokens += tokensOf(text);
      if (turn.expect === null) {
        tally.quiet += 1;
        if (text === "") tally.silent += 1;
      } else if (turn.expect !== undefined) {
        tally.asked += 1;
        if (turn.expect.test(known)) tally.answered += 1;
      }
      const lines = told.map((line) => line.slice("- 2026-11-20 01234567 ".length));
      const isAtStart = text === "" && turn.expect !== null && turn.expect?.test(began.text) === true;
      prompts.push(
        `| ${i + 1} | ${turn.prompt} | ${lines.join(" · ") || (isAtStart ? "at the start" : "–")} | ${tokensOf(text)} | ${ms} |`,
      );
    }
    const before = await count();
    await hook("SessionEnd", { reason: "prompt_input_exit" });
    await untilQuiet(count, before);
  }
  console.log(
    `| session | things told | of those needed | tokens | ms |\n|---|---|---|---|---|\n${starts.join("\n")}\n`,
  );
  console.log(`| session | prompt | told | tokens | ms |\n|---|---|---|---|---|\n${prompts.join("\n")}\n`);
  const all = await api.memories.page({ l: 200 });
  const items = all.items.filter(({ content }) => !OLDER.includes(content));
  console.log(
    `Remembered (${items.length}):\n\n${items.map(({ content, tags }) => `- ${content.replaceAll("\n", " ")} [${tags.join(", ")}]`).join("\n")}\n`,
  );
  console.log(
    `${tally.there} of ${tally.needed} things needed at a start were told; ${tally.answered} of ${tally.asked} questions got their memory; ` +
      `${tally.silent} of ${tally.quiet} prompts without any got nothing; ${tally.tokens} tokens in all.`,
  );
  expect(tally.asked + tally.quiet).toBeGreaterThan(0);
});

/** Appends what Claude Code would of one turn: the message, with what the hook told, the tools and their results, the reply. */
function keep(
  file: string,
  session: Session,
  n: number,
  { prompt, reply, runs = [], edits = [] }: Turn,
  { sessionId, cwd, told }: { readonly sessionId: string; readonly cwd: string; readonly told: string },
): void {
  const timestamp = new Date(Date.parse(session.at) + n * 300_000).toISOString();
  const line = (type: "user" | "assistant", content: unknown) =>
    appendFileSync(
      file,
      `${JSON.stringify({ type, uuid: randomUUID(), sessionId, cwd, timestamp, message: { role: type, content } })}\n`,
    );
  // As older versions kept it; newer ones keep it apart.
  line("user", told === "" ? prompt : `${prompt}\n\n${told}`);
  for (const path of edits)
    line("assistant", [
      { type: "tool_use", id: randomUUID(), name: "Edit", input: { file_path: join(cwd, path) } },
    ]);
  for (const { command, error } of runs) {
    const id = randomUUID();
    line("assistant", [{ type: "tool_use", id, name: "Bash", input: { command } }]);
    const content = error ?? "passed";
    line("user", [{ type: "tool_result", tool_use_id: id, is_error: error !== undefined, content }]);
  }
  line("assistant", [{ type: "text", text: reply }]);
}

async function untilQuiet(count: () => Promise<number>, before: number): Promise<void> {
  const deadline = Date.now() + IMPORT_MS;
  let last = before;
  let changedAt = Date.now();
  while (Date.now() < deadline) {
    await sleep(250);
    const now = await count();
    if (now !== last) [last, changedAt] = [now, Date.now()];
    else if (last !== before && Date.now() - changedAt > QUIET_MS) return;
  }
}
