/** `memoryd data move` as people run it: the built program, a real daemon, and kills. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findDaemon, isAlive } from "../../src/cli/daemon-client.ts";
import { claimStart } from "../../src/start-claim.ts";
import { readRuntimeInfo } from "../../src/runtime-file.ts";
import { environmentOf, LAUNCHER, runCli } from "../support/run-cli.ts";

/** Another file system than the one for temporary files where there is one, so that files have to be copied. */
const ELSEWHERE = statSync("/dev/shm", { throwIfNoEntry: false }) === undefined ? tmpdir() : "/dev/shm";
/** Copied in long enough to be killed on the way. */
const FILLER_BYTES = 64 * 1024 ** 2;
const KILLS = 6;
/** Between a kill and the next one; some come before, some after the move has happened. */
const KILL_STEP_MS = 80;

let home: string;
let dataDir: string;
let elsewhere: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-move-"));
  elsewhere = mkdtempSync(join(ELSEWHERE, "memoryd-move-"));
  dataDir = join(home, "data");
});
afterEach(async () => {
  for (const folder of [dataDir, join(elsewhere, "data"), join(home, "near")]) {
    const pid = readRuntimeInfo(folder)?.pid;
    if (pid === undefined || !isAlive(pid)) continue;
    process.kill(pid, "SIGKILL");
    while (isAlive(pid)) await sleep(10);
  }
  rmSync(home, { recursive: true, force: true });
  rmSync(elsewhere, { recursive: true, force: true });
});

const ENV = () => ({ MEMORYD_DATA_DIR: dataDir, MEMORYD_PORT: "0", MEMORYD_LOG_LEVEL: "warn" });
const run = (...words: string[]) => runCli(words, { home, env: ENV() });
async function succeed(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("memoryd data move", () => {
  it("takes a running daemon along, near and far and back, under the name that everybody knows", async () => {
    await succeed("start", "--detach");
    await succeed("add", "The spare key hangs behind the water meter.");
    for (const place of [join(home, "near"), join(elsewhere, "data"), dataDir]) {
      const before = (await succeed("data", "path")).trim();
      const told = await succeed("data", "move", place);
      expect(told).toContain(`Everything is in ${place} now.`);
      expect(told).toContain("memoryd is ready again");
      expect(await succeed("data", "path")).toBe(`${place}\n`);
      expect(readRuntimeInfo(place)?.startedWith?.flags["dataDir"]).toBe(place);
      expect(await succeed("query", "where is the key?")).toContain("water meter");
      expect(readdirSync(before)).toEqual(["MOVED"]);
    }
    expect(await succeed("data", "move", dataDir)).toContain("already");
    await succeed("stop");
  });

  it.each([["elsewhere"], ["near"]])(
    "gives agents no turn to start a daemon of their own meanwhile, nor afterwards (%s)",
    async (where) => {
      await succeed("start", "--detach");
      writeFileSync(join(dataDir, "filler"), Buffer.alloc(FILLER_BYTES));
      const to = where === "near" ? join(home, "near") : join(elsewhere, "data");
      const moving = succeed("data", "move", to);
      const state = { isMoving: true };
      const ended = moving.finally(() => (state.isMoving = false));
      while (!existsSync(join(dataDir, "lock.starting")) && state.isMoving) await sleep(1);
      let turns = 0;
      // As a shim does that looks for its daemon.
      while (state.isMoving) {
        const claim = await claimStart(dataDir).catch(() => undefined);
        if (claim !== undefined && (await findDaemon(dataDir)) === undefined) turns += 1;
        await claim?.release();
        await sleep(1);
      }
      expect(await ended).toContain("memoryd is ready again");
      expect(turns).toBe(0);
      await succeed("stop");
    },
  );

  it.skipIf(process.platform === "win32")(
    "is at its end when nobody reads what it says (Windows has no such pipes)",
    async () => {
      await succeed("start", "--detach");
      const to = join(home, "near");
      const moving = spawn(process.execPath, [LAUNCHER, "data", "move", to], {
        env: environmentOf(home, ENV()),
        cwd: home,
        stdio: ["ignore", "pipe", "inherit"],
      });
      moving.stdout.destroy();
      expect(await new Promise((done) => moving.once("close", done))).toBe(0);
      expect(readdirSync(dataDir)).toEqual(["MOVED"]);
      expect(existsSync(join(to, "lock.starting"))).toBe(false);
      expect(await succeed("status")).toContain(to);
      await succeed("stop");
    },
  );

  it.skipIf(process.platform === "win32")(
    "changes nothing when it is interrupted, and starts the daemon again (Windows has no such signal)",
    async () => {
      await succeed("start", "--detach");
      writeFileSync(join(dataDir, "filler"), Buffer.alloc(4 * FILLER_BYTES));
      const to = join(elsewhere, "data");
      const moving = spawn(process.execPath, [LAUNCHER, "data", "move", to], {
        env: environmentOf(home, ENV()),
        cwd: home,
      });
      let said = "";
      moving.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
      const ended = new Promise((done) => moving.once("close", done));
      while (!existsSync(join(to, "INCOMING")) && moving.exitCode === null) await sleep(2);
      moving.kill("SIGINT");
      expect(await ended).toBe(1);
      expect(said).toBe("memoryd was started again.\nInterrupted; nothing was changed.\n");
      expect(existsSync(to)).toBe(false);
      expect(await succeed("status")).toContain(dataDir);
      await succeed("stop");
    },
  );

  it("killed on the way, leaves everything in one place, and goes on with it", async () => {
    await succeed("start", "--detach");
    await succeed("add", "The spare key hangs behind the water meter.");
    await succeed("stop");
    const filler = Buffer.alloc(FILLER_BYTES, "0123456789abcdef");
    writeFileSync(join(dataDir, "filler"), filler);

    const [home1, home2] = [dataDir, join(elsewhere, "data")];
    let [from, to] = [home1, home2];
    let kills = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = spawn(process.execPath, [LAUNCHER, "data", "move", to], {
        env: environmentOf(home, ENV()),
        cwd: home,
        stdio: "ignore",
      });
      const ended = new Promise((done) => child.once("exit", done));
      while (!existsSync(join(to, "INCOMING")) && child.exitCode === null) await sleep(2);
      await sleep(kill * KILL_STEP_MS);
      if (child.exitCode === null) kills += 1;
      child.kill("SIGKILL");
      await ended;

      const place = (await succeed("data", "path")).trim();
      expect([from, to]).toContain(place);
      expect(readFileSync(join(place, "filler")).equals(filler)).toBe(true);
      // Whichever it is, the same call brings it to its end.
      await succeed("data", "move", to);
      expect(readFileSync(join(to, "filler")).equals(filler)).toBe(true);
      // Killed after its last step, it has left its claim, which nobody heeds any more.
      expect(readdirSync(from).filter((name) => name !== "lock.starting")).toEqual(["MOVED"]);
      expect(readdirSync(to)).not.toContain("INCOMING");
      [from, to] = [to, from];
    }
    expect(kills).toBeGreaterThan(0);
    await succeed("start", "--detach");
    expect(await succeed("query", "where is the key?")).toContain("water meter");
    await succeed("stop");
  });

  it("does not begin a new store where the disk with the old one is gone", async () => {
    await succeed("start", "--detach");
    await succeed("stop");
    await succeed("data", "move", join(elsewhere, "data"));
    rmSync(join(elsewhere, "data"), { recursive: true });
    for (const words of [["start"], ["status"], ["add", "tea"]]) {
      const { code, stderr } = await run(...words);
      expect(code).toBe(1);
      expect(stderr).toMatch(/was moved to .+, and is not there\. Connect that disk/);
    }
    expect(readdirSync(dataDir)).toEqual(["MOVED"]);
  });
});
