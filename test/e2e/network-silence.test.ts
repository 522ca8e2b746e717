/** What no code of ours shows: the libraries that come with it call nobody, and leave nothing outside the data directory. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { readRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { noise } from "../support/pcm.ts";
import { wavFile } from "../support/wav-file.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../bin/memoryd.js");
const hasStrace = spawnSync("strace", ["--version"]).status === 0;
if (!hasStrace) process.stderr.write("Skipped: strace is not installed, which shows who is called.\n");

it.skipIf(!hasStrace)(
  "the daemon and the processes it starts call nobody",
  { timeout: 180_000 },
  async () => {
    const home = mkdtempSync(join(tmpdir(), "memoryd-silence-"));
    const dataDir = join(home, "data");
    const trace = join(home, "trace");
    // strace writes there; temporary files of others would be seen, too.
    const temporary = join(home, "tmp");
    mkdirSync(temporary);
    const words = ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", trace];
    const child = spawn("strace", [...words, process.execPath, LAUNCHER, "start"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: home,
        TMPDIR: temporary,
        MEMORYD_DATA_DIR: dataDir,
        MEMORYD_PORT: "0",
      },
      stdio: "ignore",
    });
    const ended = new Promise((done) => child.once("exit", done));
    try {
      let daemon = readRuntimeInfo(dataDir);
      for (; daemon === undefined && child.exitCode === null; daemon = readRuntimeInfo(dataDir))
        await sleep(50);
      const base = `http://127.0.0.1:${daemon?.port}`;
      const post = (path: string, body: unknown) =>
        fetch(base + path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        });
      expect((await post("/memory/add", { content: "The spare key hangs behind the meter." })).status).toBe(
        200,
      );
      expect((await post("/memory/query", { query: "where is the key?" })).status).toBe(200);
      // The speech model is loaded and run, and hears that nobody speaks.
      const form = new FormData();
      const recording = wavFile([Float32Array.from(noise(20, 3_000), (sample) => sample / 32_768)]);
      form.set("file", new Blob([recording]), "noise.wav");
      const heard = await fetch(`${base}/ingest`, { method: "POST", body: form });
      expect(await heard.json()).toMatchObject({ code: "UNPROCESSABLE" });
      // Nothing is sent at once.
      await sleep(15_000);
      process.kill(daemon?.pid ?? 0, "SIGTERM");
      await ended;

      const calls = readFileSync(trace, "utf8").split("\n");
      expect(calls.filter((call) => /sa_family=AF_INET/.test(call))).toEqual([]);
      const left = await listFilesBelow(nodeDisk, home);
      expect(left.filter((file) => !file.startsWith("data/") && file !== "trace")).toEqual([]);
    } finally {
      child.kill("SIGKILL");
      rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
);
