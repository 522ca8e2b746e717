/** The official Python client over both transports. It needs Python with the package `mcp`: `.ci/run` installs it. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { environmentOf, LAUNCHER } from "../support/run-cli.ts";

/** The interpreter of an environment that has the package. */
const PYTHON = process.env["MEMORYD_TEST_PYTHON"] ?? "python3";
const CLIENT = resolve(import.meta.dirname, "../fixtures/mcp_client.py");

const isThere = spawnSync(PYTHON, ["-c", "import mcp"]).status === 0;
if (!isThere) process.stderr.write(`Skipped: ${PYTHON} has no package mcp (pip install mcp).\n`);

let home: string;
let daemon: DaemonProcess;
let locked: DaemonProcess;
const KEY = "a-key-of-thirty-two-characters..";
beforeAll(async () => {
  if (!isThere) return;
  home = mkdtempSync(join(tmpdir(), "memoryd-python-"));
  daemon = await startDaemonProcess(join(home, "data"));
  locked = await startDaemonProcess(join(home, "locked"), { MEMORYD_API_KEY: KEY });
});
afterAll(async () => {
  if (!isThere) return;
  await daemon.kill();
  await locked.kill();
  rmSync(home, { recursive: true, force: true });
});

interface Answers {
  readonly tools: readonly string[];
  readonly added: string;
  readonly found: string;
  readonly wrong: string;
  readonly prompt: string;
  readonly context: string;
}

function runClient(words: readonly string[], input = ""): Promise<Answers> {
  const child = spawn(PYTHON, [CLIENT, ...words], { cwd: home });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  child.stdin.end(input);
  return new Promise((done, fail) => {
    child.once("close", (code) => {
      if (code === 0) done(JSON.parse(output) as Answers);
      else fail(new Error(errors));
    });
  });
}

describe.skipIf(!isThere)("the Python client", () => {
  it.each(["http", "stdio", "http with a key", "stdio with a key"])("is answered over %s", async (way) => {
    const [transport = "", withKey] = way.split(" ");
    const dataDir = join(home, withKey === undefined ? "data" : "locked");
    const { pid, baseUrl } = withKey === undefined ? daemon : locked;
    expect(readRuntimeInfo(dataDir)?.pid).toBe(pid);
    const environment = environmentOf(home, { MEMORYD_DATA_DIR: dataDir, MEMORYD_LOG_LEVEL: "error" });
    const answers =
      transport === "http"
        ? await runClient(["http", `${baseUrl}/mcp`, ...(withKey === undefined ? [] : [KEY])])
        : await runClient(["stdio", process.execPath, LAUNCHER, "mcp"], `${JSON.stringify(environment)}\n`);
    expect(answers.tools).toHaveLength(9);
    expect(answers.added).toMatch(/^(Stored|Nothing new)/);
    expect(answers.found).toMatch(/from agent "mcp"[\s\S]*Python drinks tea\./);
    expect(answers.wrong).toMatch(/^INVALID_REQUEST/);
    expect(answers.prompt).toContain("Python drinks tea.");
    expect(answers.context).toContain("Python drinks tea.");
  });
});
