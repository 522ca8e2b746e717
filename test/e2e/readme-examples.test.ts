/**
 * Every example of the README, typed into a shell in their order against a daemon of its own, answers what is shown.
 * Where it does not any more, `UPDATE_README=1 npm run test:e2e -- readme` writes the new answers into the README.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAlive } from "../../src/cli/daemon-client.ts";
import { readRuntimeInfo } from "../../src/runtime-file.ts";
import { type Example, isRun, readExamples } from "../readme/examples.ts";
import { updateJson, updateText } from "../readme/shown-answer.ts";
import { environmentOf, LAUNCHER } from "../support/run-cli.ts";

const README = resolve(import.meta.dirname, "../../README.md");
const readme = readFileSync(README, "utf8");
const all = readExamples(readme);
const examples = all.filter(isRun);

/** Where the README's user has the data. */
const SHOWN_DATA = "/home/ann/.local/share/memoryd";
/** A reader is slower than the links and lessons that follow on an answer by half a second. */
const READING_MS = 800;

let home: string;
let dataDir: string;
let port: number;
/** The memory that was answered last, for examples that need one. */
let lastId = "";
const updated = new Map<Example, string>();

/** One example in bash, as the README's user has it: `memoryd` on the path, the daemon on its usual port. */
async function run(script: string): Promise<string> {
  const typed = script.replace(/^ID=.*$/gm, "").replaceAll("localhost:8080", `localhost:${port}`);
  const session = [
    `memoryd() { "${process.execPath}" "${LAUNCHER}" "$@"; }`,
    `if [ -e variables ]; then . ./variables; fi`,
    `ID=${lastId}`,
    typed,
    // A later example may use a moment that this one noted.
    `declare -p BEFORE > variables 2> /dev/null`,
  ];
  const env = environmentOf(home, { MEMORYD_DATA_DIR: dataDir, MEMORYD_PORT: String(port) });
  const shell = promisify(execFile)("bash", ["-c", session.join("\n")], { env, cwd: home });
  // What a command says that fails is shown, too.
  const { stdout, stderr } = await shell.catch((error: { stdout: string; stderr: string }) => error);
  return (stdout + stderr).replaceAll(`:${port}`, ":8080").replaceAll(dataDir, SHOWN_DATA);
}

beforeAll(async () => {
  if (!existsSync(resolve(README, "../dist/cli/main.js")))
    throw new Error("dist is missing: run `npm run build` first");
  home = mkdtempSync(join(tmpdir(), "memoryd-readme-"));
  dataDir = join(home, "data");
  port = await freePort();
  const started = await run("memoryd start --detach");
  if (!started.includes("ready")) throw new Error(started);
});

afterAll(() => {
  const pid = readRuntimeInfo(dataDir)?.pid;
  if (pid !== undefined && isAlive(pid)) process.kill(pid, "SIGKILL");
  rmSync(home, { recursive: true, force: true });
  if (process.env["UPDATE_README"] !== undefined) writeFileSync(README, withAnswers());
});

describe.skipIf(process.platform === "win32")("the README's examples", () => {
  it.each(examples.map((example) => [`line ${example.line}`, example] as const))(
    "%s",
    async (_name, example) => {
      const answer = await run(example.script);
      const { shown } = example;
      if (shown?.kind === "json") noteId(answer);
      if (shown !== undefined) {
        const fresh = (shown.kind === "json" ? updateJson : updateText)(shown.text, answer);
        updated.set(example, fresh);
        if (process.env["UPDATE_README"] === undefined) expect(fresh).toBe(shown.text);
      }
      await sleep(READING_MS);
    },
  );
});

it("runs every example but those that install, build and test", () => {
  const others = all
    .filter((example) => !isRun(example))
    .flatMap(({ script }) => script.trimEnd().split("\n"));
  expect(others.filter((line) => !/^(?:npm|npx) /.test(line))).toEqual([]);
});

function noteId(answer: string): void {
  const { id, matches } = JSON.parse(answer) as { id?: string; matches?: { id: string }[] };
  lastId = id ?? matches?.[0]?.id ?? lastId;
}

function withAnswers(): string {
  let text = readme;
  for (const [{ shown }, answer] of [...updated].reverse()) {
    if (shown === undefined) continue;
    text = text.slice(0, shown.start) + answer + text.slice(shown.start + shown.text.length);
  }
  return text;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return free;
}
