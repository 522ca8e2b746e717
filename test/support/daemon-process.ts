import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readRuntimeInfo } from "../../src/daemon/runtime-file.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../bin/memoryd.js");
const START_TIMEOUT_MS = 180_000;

export interface DaemonProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** What it has written to standard output and standard error so far. */
  readonly output: () => string;
  /** Ends it at once, as a power cut would for the process; resolves when it is gone. */
  kill(): Promise<void>;
  /** Ends it as Ctrl-C does; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the built daemon on a free port with its data in a directory; resolves when it answers. */
export async function startDaemonProcess(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
): Promise<DaemonProcess> {
  if (!existsSync(resolve(import.meta.dirname, "../../dist/cli/main.js"))) {
    throw new Error("dist is missing: run `npm run build` first");
  }
  const child = spawn(process.execPath, [LAUNCHER, "start", ...words], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: dataDir,
      MEMORYD_DATA_DIR: dataDir,
      MEMORYD_PORT: "0",
      MEMORYD_LOG_LEVEL: "warn",
      // Light, and starts in a third of the time.
      MEMORYD_MODEL: "all-MiniLM-L6-v2",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  }
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  const { address, port } = await untilReady(dataDir, child, () => output);
  return {
    baseUrl: `http://${address}:${port}`,
    pid: child.pid ?? -1,
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

async function untilReady(dataDir: string, child: ChildProcess, output: () => string) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) break;
    // A killed daemon leaves its file behind: only this process's own counts.
    const info = readRuntimeInfo(dataDir);
    if (info !== undefined && info.pid === child.pid) return info;
    await sleep(20);
  }
  child.kill("SIGKILL");
  throw new Error(`the daemon did not become ready:\n${output()}`);
}

/** A body is what the caller of a test expects it to be. */
export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- a type for each answer would say the same as the expectations
  readonly body: any;
}

/** One call; `status` and the parsed body. Rejects when the connection breaks. */
export async function call(
  daemon: Pick<DaemonProcess, "baseUrl">,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${daemon.baseUrl}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, body: await response.json() };
}
