/** An import of conversations that is killed at random moments, with a model that never says the same twice: nothing is lost, nothing is there twice. */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
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
let model: Server;
let answers = 0;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-kill-import-"));
  mkdirSync(join(home, "chats"));
  daemon = await startDaemonProcess(join(home, "data"));
  model = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      const { messages } = JSON.parse(text) as { readonly messages: readonly { readonly content: string }[] };
      const { lines } = JSON.parse(messages[1]?.content ?? "") as {
        readonly lines: readonly { readonly text: string }[];
      };
      const memories = lines.slice(0, 12).map(({ text: quote }) => ({
        text: `${quote} ${"!".repeat((answers += 1) % 40)}`,
        kind: "decision",
        quote,
      }));
      response.end(JSON.stringify({ choices: [{ message: { content: JSON.stringify({ memories }) } }] }));
    });
  });
  await new Promise<void>((done) => model.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
  await daemon?.kill();
  model?.close();
  rmSync(home, { recursive: true, force: true });
});

const words = (from: string, withModel: boolean) => [
  "import",
  "claude-code",
  "--from",
  join(home, "chats", from),
  "--data-dir",
  join(home, "data"),
  ...(withModel ? ["--llm-url", `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`] : []),
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

it.each([false, true])(
  `is finished by the next run, with a model: %s (${ROUNDS} kills)`,
  async (withModel) => {
    const folder = String(withModel);
    mkdirSync(join(home, "chats", folder));
    const before = await kept();
    const said: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let session = 0; session < SESSIONS; session += 1) {
        const lines = Array.from({ length: withModel ? 4 : LINES_PER_ROUND }, () => {
          const mark = `item${withModel ? 1 : 2}${String(said.length).padStart(5, "0")}x`;
          said.push(mark);
          const message = { role: "user", content: `We decided to keep ${mark} in the attic.` };
          return JSON.stringify({
            type: "user",
            uuid: mark,
            sessionId: `${folder}-${session}`,
            timestamp: "2026-11-20T10:00:00.000Z",
            message,
          });
        });
        appendFileSync(join(home, "chats", folder, `${session}.jsonl`), `${lines.join("\n")}\n`);
      }
      const importing = spawn(process.execPath, [LAUNCHER, ...words(folder, withModel)], {
        env: environmentOf(home),
        stdio: "ignore",
      });
      const ended = new Promise((done) => importing.once("exit", done));
      // From where the first ones are there to where the last ones are.
      const target = before.counts.size + said.length - Math.ceil(Math.random() * said.length * 0.3);
      while (importing.exitCode === null && (await kept()).counts.size < target)
        await sleep(Math.random() * 20);
      importing.kill("SIGKILL");
      await ended;
      // Some rounds go on with longer conversations before the import was finished.
      if (round % 2 === 0) expect((await runCli(words(folder, withModel), { home })).code).toBe(0);
    }
    expect(await runCli(words(folder, withModel), { home })).toMatchObject({ code: 0 });
    const { counts, summaries } = await kept();
    expect(said.filter((mark) => counts.get(mark) !== 1)).toEqual([]);
    expect(summaries - before.summaries).toBe(SESSIONS);
  },
);
