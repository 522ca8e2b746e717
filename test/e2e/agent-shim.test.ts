/** `memoryd mcp` as agents start it: the built program, the official client, real daemons. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isAlive, readRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { textOf } from "../support/agent-world.ts";
import { environmentOf, LAUNCHER, runCli } from "../support/run-cli.ts";

const PATIENCE_MS = 90_000;

let home: string;
let dataDir: string;
const clients: Client[] = [];
/** What the user was asked. */
const asked: string[] = [];
function makeHome(): void {
  home = mkdtempSync(join(tmpdir(), "memoryd-shim-"));
  dataDir = join(home, "data");
}

async function closeClients(): Promise<void> {
  for (const client of clients.splice(0)) await client.close();
}

async function removeHome(): Promise<void> {
  await closeClients();
  await stopDaemon();
  rmSync(home, { recursive: true, force: true });
}

async function stopDaemon(): Promise<void> {
  const pid = readRuntimeInfo(dataDir)?.pid;
  if (pid === undefined || !isAlive(pid)) return;
  process.kill(pid, "SIGKILL");
  await until(() => !isAlive(pid));
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error("it did not come about");
    await sleep(50);
  }
}

interface ShimOptions {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly name?: string;
  /** What the user answers when asked; absent: the client cannot ask. */
  readonly consent?: "accept" | "decline";
  /** Speaks the protocol of 2026. */
  readonly modern?: boolean;
}

function environment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return environmentOf(home, {
    MEMORYD_DATA_DIR: dataDir,
    MEMORYD_PORT: "0",
    MEMORYD_LOG_LEVEL: "warn",
    ...env,
  });
}

async function startShim({
  words = [],
  env,
  cwd = home,
  roots,
  name = "claude-code",
  consent,
  modern = false,
}: ShimOptions = {}): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, "mcp", ...words],
    env: environment(env),
    cwd,
    stderr: "ignore",
  });
  const client = new Client(
    { name, version: "1" },
    {
      capabilities: {
        ...(roots !== undefined && { roots: {} }),
        ...(consent !== undefined && { elicitation: { form: {} } }),
      },
      ...(modern && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    },
  );
  if (consent !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return { action: consent, ...(consent === "accept" && { content: {} }) };
    });
  }
  if (roots !== undefined) {
    client.setRequestHandler("roots/list", () => ({
      roots: roots.map((path) => ({ uri: pathToFileURL(path).href })),
    }));
  }
  await client.connect(transport);
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  return textOf(await client.callTool({ name, arguments: input }, { timeout: PATIENCE_MS }));
}

function repository(path: string, config: string): string {
  const folder = join(home, path);
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git/config"), config);
  return folder;
}
const REMOTE = '[remote "origin"]\n\turl = git@github.com:ada/notes.git\n';

describe("memoryd mcp", () => {
  beforeEach(makeHome);
  afterEach(removeHome);

  it("says what it offers before there is a daemon, then starts one in a session of its own", async () => {
    const client = await startShim({ cwd: repository("notes", REMOTE) });
    expect((await client.listTools()).tools).toHaveLength(9);
    expect(client.getInstructions()).toMatch(/Search/);
    expect(await call(client, "memory_add", { content: "Tea is an infusion." })).toContain(
      'project "github.com/ada/notes"',
    );
    const found = await call(client, "memory_search", { query: "tea" });
    expect(found).toContain('from agent "claude-code"');
    expect(found).toContain("Tea is an infusion.");

    const pid = readRuntimeInfo(dataDir)?.pid ?? 0;
    await client.close();
    clients.length = 0;
    expect(isAlive(pid)).toBe(true);
    const review = await runCli(["review"], { home, env: environment() });
    expect(review.stdout).toMatch(/^claude-code\n {2}\d{4}-\d\d-\d\d {2}1 note\n.*Tea is an infusion/);
    const removed = await runCli(["undo", "--client", "claude-code", "--yes"], {
      home,
      env: environment(),
    });
    expect(removed.stdout).toMatch(/took back 1 change\n$/);
    expect((await runCli(["review"], { home, env: environment() })).stdout).toMatch(/^Nothing was added/);
  });

  it("starts one daemon when five agents come at once", async () => {
    const shims = await Promise.all(Array.from({ length: 5 }, (_, i) => startShim({ name: `agent-${i}` })));
    const answers = await Promise.all(
      shims.map((client, i) =>
        call(client, "memory_add", { content: `Agent ${i} drinks tea ${"iii".slice(i % 3)}.` }),
      ),
    );
    for (const answer of answers) expect(answer).toMatch(/^Stored/);
    const pids = await Promise.all(
      shims.map(async (client) => {
        await call(client, "memory_search", { query: "tea" });
        return readRuntimeInfo(dataDir)?.pid;
      }),
    );
    expect(new Set(pids).size).toBe(1);
    const log = readFileSync(join(dataDir, "memoryd.log"), "utf8");
    expect(log).not.toMatch(/in use by another/);
  });

  it("goes on after the daemon was killed, and after it was started anew by hand", async () => {
    const client = await startShim();
    await call(client, "memory_add", { content: "Kept over a kill." });
    await stopDaemon();
    expect(await call(client, "memory_search", { query: "kill" })).toContain("Kept over a kill.");
    const first = readRuntimeInfo(dataDir)?.instanceId;
    expect((await runCli(["stop"], { home, env: environment() })).code).toBe(0);
    expect((await runCli(["start", "--detach"], { home, env: environment() })).code).toBe(0);
    expect(await call(client, "memory_search", { query: "kill" })).toContain("Kept over a kill.");
    expect(readRuntimeInfo(dataDir)?.instanceId).not.toBe(first);
  });

  it("answers in words when no daemon can be started, and leaves a newer store as it was", async () => {
    const client = await startShim();
    await call(client, "memory_add", { content: "x" });
    await client.close();
    clients.length = 0;
    expect((await runCli(["stop"], { home, env: environment() })).code).toBe(0);
    const checkpoints = readdirSync(dataDir).filter((name) => /^CHECKPOINT-\d+$/.test(name));
    for (const name of checkpoints) {
      const text = readFileSync(join(dataDir, name), "utf8");
      writeFileSync(join(dataDir, name), text.replace(/^memoryd checkpoint \d+/, "memoryd checkpoint 999"));
    }
    const before = checkpoints.map((name) => readFileSync(join(dataDir, name), "utf8"));
    const again = await startShim();
    const result = await again.callTool(
      { name: "memory_search", arguments: { query: "x" } },
      { timeout: PATIENCE_MS },
    );
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(/newer version/)]);
    expect(checkpoints.map((name) => readFileSync(join(dataDir, name), "utf8"))).toEqual(before);
  });

  it("ends a daemon that it had started, once no agent is there", async () => {
    const client = await startShim({ env: { MEMORYD_EXIT_WHEN_IDLE_MS: "3000" } });
    await call(client, "memory_search", { query: "x" });
    const pid = readRuntimeInfo(dataDir)?.pid ?? 0;
    await sleep(6_000);
    expect(isAlive(pid)).toBe(true);
    await client.close();
    clients.length = 0;
    await until(() => !isAlive(pid));
    expect(readRuntimeInfo(dataDir)).toBeUndefined();
  });
});

describe("memoryd mcp, with a daemon that the first of them starts", () => {
  beforeAll(makeHome);
  afterEach(closeClients);
  afterAll(removeHome);

  it.each([false, true])(
    "asks the user before it deletes a note, where it can (protocol of 2026: %s)",
    async (modern) => {
      asked.length = 0;
      const [no, yes] = [
        await startShim({ consent: "decline", modern }),
        await startShim({ consent: "accept", modern }),
      ];
      const stored = await call(no, "memory_add", { content: "Tea is\nan infusion." });
      const id = /id=([0-9a-f]{8})/.exec(stored)?.[1] ?? "";
      expect(await call(no, "memory_delete", { id })).toBe("The user said no: nothing was deleted.");
      expect(asked).toEqual(['Delete this note? "Tea is an infusion."']);
      expect(await call(yes, "memory_get", { id })).toContain("infusion");
      expect(await call(yes, "memory_delete", { id: id.slice(-12) })).toContain("Deleted");
      expect(asked).toHaveLength(2);
      // Ending a fact takes nothing away, and what is not there needs no question.
      const recorded = await call(no, "fact_record", { subject: "Ada", predicate: "likes", object: "tea" });
      const fact = /id=([0-9a-f]{8})/.exec(recorded)?.[1] ?? "";
      expect(await call(no, "memory_delete", { id: fact })).toContain("Ended");
      expect(await call(no, "memory_delete", { id })).toMatch(/^NOT_FOUND/);
      expect(asked).toHaveLength(2);
    },
  );

  it("tells the context of the folder's project at the start", async () => {
    const client = await startShim({ cwd: repository("notes", REMOTE) });
    await call(client, "memory_add", { content: "I always use tabs in this project." });
    const { contents } = await client.readResource({ uri: "memory://context" });
    expect(JSON.stringify(contents)).toContain("I always use tabs in this project.");
    const { messages } = await client.getPrompt({ name: "context" });
    expect(JSON.stringify(messages)).toContain("github.com/ada/notes");
  });

  it("takes the project from the client's root, else from where it runs, else all", async () => {
    const folder = repository("notes", REMOTE);
    const plain = join(home, "plain");
    mkdirSync(plain);
    const scopeOf = async (options: ShimOptions) =>
      /Scope: (.*)\.$/m.exec(await call(await startShim(options), "memory_search", { query: "x" }))?.[1];
    expect(await scopeOf({ roots: [folder], cwd: plain })).toBe(
      'project "github.com/ada/notes" and no project',
    );
    expect(await scopeOf({ roots: [plain, folder], cwd: folder })).toMatch(/^project "plain~/);
    expect(await scopeOf({ roots: [], cwd: folder })).toMatch(/ada\/notes/);
    expect(await scopeOf({ cwd: plain })).toBe("all projects");
    expect(await scopeOf({ cwd: folder, words: ["--project", "p", "--user", "ada"] })).toBe(
      'project "p" and no project, user "ada"',
    );
  });

  it("offers what it is told to", async () => {
    const client = await startShim({ words: ["--tools", "list,ingest_url", "--read-only"] });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      "memory_search",
      "memory_list",
      "memory_get",
      "fact_lookup",
    ]);
    expect(await call(client, "memory_add", { content: "x" })).toMatch(/^FORBIDDEN/);
    const wrong = await runCli(["mcp", "--tools", "lists"], { home, env: environment() });
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toMatch(/no tool "lists"/);
  });
});

describe("the process", () => {
  const shims: ChildProcess[] = [];
  beforeEach(makeHome);
  afterEach(async () => {
    for (const shim of shims.splice(0)) shim.kill("SIGKILL");
    await removeHome();
  });

  function spawnShim(): {
    readonly shim: ChildProcess;
    readonly output: () => string;
    readonly ended: Promise<number | null>;
  } {
    const shim = spawn(process.execPath, [LAUNCHER, "mcp"], {
      env: environment({ MEMORYD_LOG_LEVEL: "debug" }),
      cwd: home,
    });
    shims.push(shim);
    let output = "";
    shim.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    shim.stderr.resume();
    return { shim, output: () => output, ended: new Promise((done) => shim.once("exit", done)) };
  }
  const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
  const initialize = line({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  });

  it("writes nothing but messages to standard output, whatever it is sent", async () => {
    const { shim, output, ended } = spawnShim();
    shim.stdin?.write(initialize);
    shim.stdin?.write("this is no message\n\n{}\n[]\nnull\n");
    shim.stdin?.write(line({ method: "notifications/initialized" }));
    shim.stdin?.write(
      line({ id: 1, method: "tools/call", params: { name: "memory_add", arguments: { content: "Pure." } } }),
    );
    shim.stdin?.write(line({ id: 2, method: "tools/call", params: { name: "no_such_tool" } }));
    shim.stdin?.write(line({ id: 3, method: "no/such/method" }));
    await until(() => /"id":1\b/.test(output()) && /"id":2\b/.test(output()) && /"id":3\b/.test(output()));
    shim.stdin?.end();
    expect(await ended).toBe(0);
    const lines = output().trimEnd().split("\n");
    for (const text of lines) expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0" });
    expect(output()).toContain("Stored: id=");
    // JSON that is no message is answered, so that its sender does not wait.
    expect(output()).toContain('"id":null,"error":{"code":-32600');
  });

  it("ends with its input, even while the daemon starts, and the daemon goes on", async () => {
    const { shim, ended } = spawnShim();
    shim.stdin?.write(initialize);
    await until(() => existsSync(join(dataDir, "memoryd.log")));
    shim.stdin?.end();
    expect(await ended).toBe(0);
    await until(() => readRuntimeInfo(dataDir) !== undefined);
    expect(isAlive(readRuntimeInfo(dataDir)?.pid ?? 0)).toBe(true);
  });

  it("leaves the daemon alive when its process group is ended", async () => {
    const { shim, ended, output } = spawnShim();
    shim.stdin?.write(initialize);
    shim.stdin?.write(
      line({ id: 1, method: "tools/call", params: { name: "memory_search", arguments: { query: "x" } } }),
    );
    await until(() => /"id":1\b/.test(output()));
    shim.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(isAlive(readRuntimeInfo(dataDir)?.pid ?? 0)).toBe(true);
  });
});
