import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readRuntimeInfo } from "../../../src/daemon/runtime-file.ts";
import { environmentOf, runCli } from "../../support/run-cli.ts";

const SCRIPT = resolve(import.meta.dirname, "../../fixtures/fake-memoryd.js");

let home: string;
let child: ChildProcessWithoutNullStreams | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-start-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  child = undefined;
  rmSync(home, { recursive: true, force: true });
});

/** Starts the fake in the foreground; resolves when it has said that it is ready. */
async function startForeground(
  env: Record<string, string> = {},
): Promise<{ summary: string; exit: Promise<unknown>; log: () => string }> {
  child = spawn(process.execPath, [SCRIPT, "start"], {
    env: environmentOf(home, { MEMORYD_DATA_DIR: home, ...env }),
    cwd: home,
  });
  // Only then has all of the log been read.
  const exit = once(child, "close").then(([code, signal]) => code ?? signal);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  let summary = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    summary += chunk;
    if (summary.includes("version")) break;
  }
  return { summary, exit, log: () => log };
}

const start = (words: string[], env: Record<string, string> = {}) =>
  runCli(["start", ...words], { home, script: SCRIPT, env: { MEMORYD_DATA_DIR: home, ...env } });

describe("memoryd start", () => {
  it("prints where it listens, where the data is, the model and how many memories there are; logs go elsewhere", async () => {
    const { summary, log } = await startForeground();
    const port = readRuntimeInfo(home)?.port;
    expect(summary.split("\n").slice(0, 5)).toEqual([
      "memoryd is ready",
      `  listening  http://127.0.0.1:${port}`,
      `  data       ${home}`,
      "  model      tiny (3 dimensions)",
      "  memories   12",
    ]);
    await expect.poll(log).toContain('"msg":"ready"');
  });

  it("says when the disk has no room for more", async () => {
    const { summary } = await startForeground({ FAKE: "full" });
    expect(summary).toContain("  writes     refused: the disk is full (1 MB free, 2 MB needed)\n");
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("stops cleanly at %s", async (signal) => {
    const { exit, log } = await startForeground();
    child?.kill(signal);
    expect(await exit).toBe(0);
    expect(readRuntimeInfo(home)).toBeUndefined();
    expect(log()).toContain('"msg":"stopped"');
  });

  it("stops when a client may ask it to", async () => {
    const { exit } = await startForeground();
    await fetch(`http://127.0.0.1:${readRuntimeInfo(home)?.port}/shutdown`).catch(() => {});
    expect(await exit).toBe(0);
  });

  it("leaves at the deadline when the stop hangs", async () => {
    const { exit, log } = await startForeground({ FAKE: "stuck", FAKE_STOP_MS: "50" });
    child?.kill("SIGTERM");
    expect(await exit).toBe(1);
    expect(log()).toContain("stop took too long");
  });

  it("leaves at once at a second signal", async () => {
    const { exit } = await startForeground({ FAKE: "stuck", FAKE_STOP_MS: "600000" });
    child?.kill("SIGTERM");
    child?.kill("SIGINT");
    expect(await exit).toBe(1);
  });

  it("logs an error that nobody thought of and ends", async () => {
    const { exit, log } = await startForeground({ FAKE: "bug" });
    expect(await exit).toBe(1);
    expect(log()).toContain('"msg":"unexpected error"');
  });

  it("says in a sentence why it cannot start", async () => {
    const result = await start([], { FAKE: "damaged" });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toBe(
      `The data directory ${home} cannot be used: this user may not use it; mend that, or name another with --data-dir.\n`,
    );
  });
});

describe("memoryd start --detach and memoryd stop", () => {
  it("returns when the daemon is ready; it runs on until it is stopped", async () => {
    const started = await start(["--detach"]);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const pid = readRuntimeInfo(home)?.pid;
    expect(started.stdout).toContain("memoryd is ready, and runs until `memoryd stop`\n");
    expect(started.stdout).toContain(`process    ${pid}\n`);
    expect(readFileSync(join(home, "memoryd.log"), "utf8")).toContain('"msg":"ready"');

    const stopped = await runCli(["stop"], { home, env: { MEMORYD_DATA_DIR: home } });
    expect(stopped).toEqual({ code: 0, stdout: "memoryd has stopped.\n", stderr: "" });
    expect(existsSync(join(home, "daemon.json"))).toBe(false);
    expect(await runCli(["stop"], { home, env: { MEMORYD_DATA_DIR: home } })).toMatchObject({ code: 1 });
  });

  it.skipIf(process.platform !== "linux")("holds less memory back", async () => {
    await start(["--detach"]);
    const ofProcess = (file: string) => readFileSync(`/proc/${readRuntimeInfo(home)?.pid}/${file}`, "utf8");
    expect(ofProcess("cmdline").split("\0")).toContain("--max-semi-space-size=4");
    expect(ofProcess("environ").split("\0")).toContain("MALLOC_ARENA_MAX=2");
    await runCli(["stop"], { home, env: { MEMORYD_DATA_DIR: home } });
  });

  it("prints why the daemon did not start", async () => {
    const result = await start(["--detach"], { FAKE: "damaged" });
    expect(result).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/cannot be used: this user may not use/),
    });
  });
});
