/**
 * Every example of the README and docs/, typed into a shell page by page against one daemon, answers what is shown. Each
 * page begins with an empty store. `UPDATE_DOCS=1 npm run test:e2e -- docs-examples` writes new answers into the pages.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAlive, readRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { type Example, isRun, readExamples } from "../docs/examples.ts";
import { listPages } from "../docs/pages.ts";
import { updateJson, updateText } from "../docs/shown-answer.ts";
import { environmentOf, LAUNCHER } from "../support/run-cli.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MUST_UPDATE = process.env["UPDATE_DOCS"] !== undefined;
const pages = listPages()
  .map((page) => ({ ...page, examples: readExamples(page.text) }))
  .filter(({ examples }) => examples.some(isRun));

/** The data directory that the pages show. */
const SHOWN_DATA = "/home/ann/.local/share/memoryd";

let home: string;
let dataDir: string;
let port: number;
/** The memory that was answered last, for examples that need one. */
let lastId = "";
const updated = new Map<Example, string>();

/** One example in bash, as the reader has it: `memoryd` on the path, the daemon on its usual port. */
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
  const env = environmentOf(home, {
    MEMORYD_DATA_DIR: dataDir,
    MEMORYD_PORT: String(port),
    // What a reader gets.
    MEMORYD_MODEL: "memoryd-e5-small-2",
  });
  const shell = promisify(execFile)("bash", ["-c", session.join("\n")], { env, cwd: home });
  // What a command says that fails is shown, too.
  const { stdout, stderr } = await shell.catch((error: { stdout: string; stderr: string }) => error);
  return (stdout + stderr).replaceAll(`:${port}`, ":8080").replaceAll(dataDir, SHOWN_DATA);
}

beforeAll(async () => {
  if (!existsSync(join(ROOT, "dist/cli/main.js")))
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
  if (MUST_UPDATE) for (const page of pages) writeFileSync(join(ROOT, page.path), withAnswers(page));
});

describe.skipIf(process.platform === "win32").each(pages)("the examples of $path", ({ examples }) => {
  beforeAll(emptyStore);

  it.each(examples.filter(isRun).map((example) => [`line ${example.line}`, example] as const))(
    "%s",
    async (_name, example) => {
      const answer = await run(example.script);
      const { shown } = example;
      if (shown?.kind === "json") noteId(answer);
      if (shown === undefined) return;
      const fresh = (shown.kind === "json" ? updateJson : updateText)(shown.text, answer);
      updated.set(example, fresh);
      if (!MUST_UPDATE) expect(fresh).toBe(shown.text);
    },
  );
});

it.each(pages)("runs every example of $path but those that install, build and test", ({ examples }) => {
  const others = examples
    .filter((example) => !isRun(example))
    .flatMap(({ script }) => script.trimEnd().split("\n"));
  expect(others.filter((line) => !/^(?:npm|npx) /.test(line))).toEqual([]);
});

/** Deletes all that the page before left. */
async function emptyStore(): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const ask = async (method: string, path: string) => (await fetch(url + path, { method })).json();
  const { items } = (await ask("GET", "/memory/all?l=1000")) as { items: { id: string }[] };
  const { facts } = (await ask("GET", "/api/temporal/fact?l=1000")) as { facts: { id: string }[] };
  for (const { id } of items) await ask("DELETE", `/memory/${id}`);
  for (const { id } of facts) await ask("DELETE", `/api/temporal/fact/${id}?erase=true`);
}

function noteId(answer: string): void {
  const { id, matches } = JSON.parse(answer) as { id?: string; matches?: { id: string }[] };
  lastId = id ?? matches?.[0]?.id ?? lastId;
}

function withAnswers({ text: page, examples }: (typeof pages)[number]): string {
  let text = page;
  for (const example of [...examples].reverse()) {
    const [{ shown }, answer] = [example, updated.get(example)];
    if (shown === undefined || answer === undefined) continue;
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
