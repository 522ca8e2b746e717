/** `memoryd restart` around a daemon that does nothing, in processes of its own. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAlive, readRuntimeInfo } from "../../../src/daemon/runtime-file.ts";
import { environmentOf, runCli } from "../../support/run-cli.ts";

// Several processes one after the other, each of which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const SCRIPT = resolve(import.meta.dirname, "../../fixtures/fake-memoryd.js");

let home: string;
let dataDir: string;
const pids = new Set<number>();
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-restart-"));
  dataDir = join(home, "data");
});
afterEach(async () => {
  for (const pid of [...pids, readRuntimeInfo(dataDir)?.pid]) {
    if (pid === undefined || !isAlive(pid)) continue;
    process.kill(pid, "SIGKILL");
    while (isAlive(pid)) await sleep(10);
  }
  pids.clear();
  rmSync(home, { recursive: true, force: true });
});

type Variables = Readonly<Record<string, string>>;
const fake = (words: string[], env: Variables = {}) =>
  runCli(words, { home, script: SCRIPT, env: { MEMORYD_DATA_DIR: dataDir, ...env } });

/** Starts the fake on its own. Returns its process id. */
async function start(env: Variables = {}, words: string[] = []): Promise<number> {
  mkdirSync(dataDir);
  const child = spawn(process.execPath, [SCRIPT, "start", ...words], {
    env: environmentOf(home, { MEMORYD_DATA_DIR: dataDir, ...env }),
    stdio: "ignore",
  });
  const { pid = 0 } = child;
  pids.add(pid);
  while (readRuntimeInfo(dataDir)?.pid !== pid && child.exitCode === null) await sleep(20);
  expect(child.exitCode).toBeNull();
  return pid;
}

describe("memoryd restart", () => {
  it("says what to do where none runs", async () => {
    const { code, stderr } = await fake(["restart"]);
    expect(code).toBe(1);
    expect(stderr).toContain("memoryd is not running on");
    expect(stderr).toContain("memoryd start --detach");
  });

  it("starts it again with the options and variables that it was started with, not with those of now", async () => {
    const config = join(home, "settings.json");
    writeFileSync(config, JSON.stringify({ compactAfterMinutes: 2 }));
    const first = await start({ MEMORYD_LOG_LEVEL: "warn", MEMORYD_API_KEY: "k".repeat(16) }, [
      "--config",
      config,
      "--allowed-hosts=a.example,b.example",
    ]);
    const { code, stdout, stderr } = await fake(["restart"], {
      MEMORYD_API_KEY: "n".repeat(16),
      MEMORYD_LOG_LEVEL: "error",
    });
    const runtime = readRuntimeInfo(dataDir);
    pids.add(runtime?.pid ?? 0);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(isAlive(first)).toBe(false);
    expect(stdout.split("\n")).toEqual([
      "memoryd is ready again, and runs until `memoryd stop`",
      `  listening  http://127.0.0.1:${runtime?.port}`,
      `  data       ${dataDir}`,
      "  version    0.1.0",
      `  process    ${runtime?.pid}`,
      `  log        ${join(dataDir, "memoryd.log")}`,
      expect.stringMatching(/^ {2}took {7}\d+\.\d s$/),
      "",
    ]);
    expect(runtime?.startedWith).toEqual({
      configFile: config,
      flags: {
        allowedHosts: "a.example,b.example",
        dataDir,
        model: expect.any(String),
        logLevel: "warn",
        port: "0",
      },
      secrets: ["MEMORYD_API_KEY"],
    });
    expect(JSON.stringify(runtime)).not.toContain("kkkk");
  });

  it("takes settings in place of those that it was started with, and refuses a wrong one before it stops anything", async () => {
    const first = await start({ MEMORYD_LOG_LEVEL: "warn" }, ["--time-zone=Europe/Berlin"]);
    const wrong = await fake(["restart", "--log-level=loud"]);
    expect(wrong.stderr).toContain("--log-level");
    expect(isAlive(first)).toBe(true);
    const { code } = await fake(["restart", "--log-level=error", "--backup-to=copies"]);
    const runtime = readRuntimeInfo(dataDir);
    pids.add(runtime?.pid ?? 0);
    expect(code).toBe(0);
    expect(runtime?.startedWith?.flags).toMatchObject({
      timeZone: "Europe/Berlin",
      logLevel: "error",
      backupTo: expect.stringMatching(/[\\/]copies$/) as string,
      dataDir,
    });
  });

  it.each<[string, Variables, Variables, RegExp]>([
    [
      "its key is not set here",
      { MEMORYD_API_KEY: "k".repeat(16) },
      {},
      /with MEMORYD_API_KEY, which is not/,
    ],
    ["this program is older", { FAKE_VERSION: "99.0.0" }, {}, /is memoryd 99.0.0, and this is/],
    [
      "it did not note its options",
      { FAKE: "forgetful" },
      {},
      /`memoryd stop`, then `memoryd start --detach`/,
    ],
  ])("stops nothing where %s", async (_, before, now, message) => {
    const pid = await start(before);
    const { code, stderr } = await fake(["restart"], now);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).toContain("Nothing was stopped.");
    expect(isAlive(pid)).toBe(true);
  });

  it("stops nothing where its configuration file has come to be wrong", async () => {
    const config = join(home, "settings.json");
    writeFileSync(config, "{}");
    const pid = await start({}, ["--config", config]);
    writeFileSync(config, JSON.stringify({ prot: 1 }));
    const { stderr } = await fake(["restart"]);
    expect(stderr).toContain('"prot"');
    expect(stderr).toContain("Nothing was stopped.");
    expect(isAlive(pid)).toBe(true);
  });

  it("says why it did not come back, with the end of the log", async () => {
    await start();
    const { code, stderr } = await fake(["restart"], { FAKE: "damaged" });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^memoryd was stopped and did not start again\. The data directory .+ cannot be used: this user may not use/,
    );
    expect(stderr).toMatch(/The end of its log:\n.*"msg":"start failed"/s);
  });
});

/** What systemd does, as far as it is asked to. */
const SYSTEMCTL = `#!${process.execPath}
const { appendFileSync, openSync } = require("node:fs");
const { spawn } = require("node:child_process");
const words = process.argv.slice(3);
appendFileSync(process.env.CALLS, words.join(" ") + "\\n");
if (words[0] === "is-active" && process.env.DEAD) process.exit(3);
if (words[0] === "restart" && !process.env.DEAD) {
  const log = openSync(process.env.DATA + "/memoryd.log", "a");
  spawn(process.execPath, [process.env.SCRIPT, "start", "--data-dir", process.env.DATA, "--log-to-file"], {
    detached: true,
    stdio: ["ignore", log, log],
  }).unref();
}
`;

describe.runIf(process.platform === "linux")("memoryd restart of a service (systemd, on Linux only)", () => {
  /** As `memoryd service install` leaves it, with a systemctl of the test's. */
  function install(words: readonly string[]): Variables {
    const folder = join(home, ".config/systemd/user");
    mkdirSync(folder, { recursive: true });
    const command = [process.execPath, SCRIPT, "start", ...words].map((word) => `"${word}"`).join(" ");
    writeFileSync(join(folder, "memoryd.service"), `[Service]\nExecStart=:${command}\n`);
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "systemctl"), SYSTEMCTL);
    chmodSync(join(bin, "systemctl"), 0o755);
    return {
      PATH: `${bin}${delimiter}${process.env["PATH"]}`,
      CALLS: join(home, "calls"),
      DATA: dataDir,
      SCRIPT,
    };
  }
  const calls = () => (existsSync(join(home, "calls")) ? readFileSync(join(home, "calls"), "utf8") : "");

  it("has systemd start it", async () => {
    const env = install(["--log-to-file", "--data-dir", dataDir]);
    const first = await start();
    const { code, stdout, stderr } = await fake(["restart"], env);
    const runtime = readRuntimeInfo(dataDir);
    pids.add(runtime?.pid ?? 0);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("memoryd is ready again, started by systemd");
    expect(isAlive(first)).toBe(false);
    expect(runtime?.pid).not.toBe(first);
    expect(calls()).toMatch(
      /^is-active memoryd.service\ndaemon-reload\nreset-failed memoryd.service\nrestart memoryd.service\n(is-active memoryd.service\n)*$/,
    );
  });

  it("says what the log says when that fails", async () => {
    const env = install(["--data-dir", dataDir]);
    await start();
    const { code, stderr } = await fake(["restart"], { ...env, FAKE: "damaged" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/did not start again\. open failed\n\nThe end of its log:\n/);
  });

  it("says where to look when there is no log", async () => {
    const env = install(["--data-dir", dataDir]);
    await start();
    const { stderr } = await fake(["restart"], { ...env, DEAD: "1" });
    expect(stderr).toContain("`journalctl --user --unit memoryd.service` says more");
  });

  it("leaves the service of another data directory alone", async () => {
    const env = install(["--data-dir", join(home, "other")]);
    await start();
    const { stdout } = await fake(["restart"], env);
    expect(stdout).toContain("runs until `memoryd stop`");
    expect(calls()).toBe("");
  });
});
