/** An import of conversations that is killed at random moments: nothing is lost, nothing is there twice. */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { environmentOf, LAUNCHER, runCli } from "../support/run-cli.ts";
import { times } from "../support/stress.ts";

const ROUNDS = times(3);
const SESSIONS = 3;
const LINES_PER_ROUND = 25;

let home: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-kill-import-"));
  mkdirSync(join(home, "chats"));
  daemon = await startDaemonProcess(join(home, "data"));
});
afterAll(async () => {
  await daemon?.kill();
  rmSync(home, { recursive: true, force: true });
});

const words = () => [
  "import",
  "claude-code",
  "--from",
  join(home, "chats"),
  "--data-dir",
  join(home, "data"),
];

/** How often each marked line is kept, and how many summaries there are. */
async function kept(): Promise<{ readonly counts: Map<string, number>; readonly summaries: number }> {
  const counts = new Map<string, number>();
  let summaries = 0;
  for (let cursor = ""; ;) {
    const { body } = await call(daemon, "GET", `/memory/all?l=500${cursor}`);
    for (const { content, metadata } of body.items as { content: string; metadata: { kind: string } }[]) {
      const mark = /^We decided to keep (item\d+x)/.exec(content)?.[1] ?? "";
      if (metadata.kind === "summary") summaries += 1;
      else counts.set(mark, (counts.get(mark) ?? 0) + 1);
    }
    if (body.next_cursor === null) return { counts, summaries };
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

it(`is finished by the next run (${ROUNDS} kills)`, async () => {
  const said: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let session = 0; session < SESSIONS; session += 1) {
      const lines = Array.from({ length: LINES_PER_ROUND }, () => {
        const mark = `item${String(said.length).padStart(5, "0")}x`;
        said.push(mark);
        const message = { role: "user", content: `We decided to keep ${mark} in the attic.` };
        return JSON.stringify({
          type: "user",
          uuid: mark,
          sessionId: `chat-${session}`,
          timestamp: "2026-11-20T10:00:00.000Z",
          message,
        });
      });
      appendFileSync(join(home, "chats", `${session}.jsonl`), `${lines.join("\n")}\n`);
    }
    const importing = spawn(process.execPath, [LAUNCHER, ...words()], {
      env: environmentOf(home),
      stdio: "ignore",
    });
    const ended = new Promise((done) => importing.once("exit", done));
    // From where the first ones are there to where the last ones are.
    const target = said.length - Math.ceil(Math.random() * said.length * 0.3);
    while (importing.exitCode === null && (await kept()).counts.size < target)
      await sleep(Math.random() * 20);
    importing.kill("SIGKILL");
    await ended;
    // Some rounds go on with longer conversations before the import was finished.
    if (round % 2 === 0) expect((await runCli(words(), { home })).code).toBe(0);
  }
  expect(await runCli(words(), { home })).toMatchObject({ code: 0 });
  const { counts, summaries } = await kept();
  expect(said.filter((mark) => counts.get(mark) !== 1)).toEqual([]);
  expect(summaries).toBe(SESSIONS);
});
