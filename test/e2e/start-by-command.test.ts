/** Commands and agents that start a daemon: also where another program has the port. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { runCli } from "../support/run-cli.ts";

const TIMEOUT_MS = 120_000;

let home: string;
let other: Server;
let env: Record<string, string>;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-start-"));
  other = createServer((_, answer) => answer.end("another program"));
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  env = { MEMORYD_DATA_DIR: join(home, "data"), MEMORYD_PORT: String((other.address() as AddressInfo).port) };
});
afterEach(async () => {
  await runCli(["stop"], { home, env });
  await new Promise((resolve) => void other.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

it(
  "add and query start a daemon on a free port, say so, and end while it runs",
  async () => {
    const added = await runCli(["add", "The heron nests at the old mill."], { home, env });
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^remembered [0-9a-f]{8} /) });
    expect(added.stderr).toMatch(
      /^Starting memoryd with a new data directory, .*; it stops after 30 minutes without use\.\n$/,
    );
    const found = await runCli(["query", "heron"], { home, env });
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("old mill"), stderr: "" });
    const status = JSON.parse((await runCli(["status", "--json"], { home, env })).stdout);
    expect(new URL(status.url).port).not.toBe(env["MEMORYD_PORT"]);
  },
  TIMEOUT_MS,
);

it(
  "a daemon that crashed is started as it was",
  async () => {
    const dataDir = env["MEMORYD_DATA_DIR"] ?? "";
    await runCli(["start", "--detach", "--port=0", "--history-days=90"], { home, env });
    const crashed = readRuntimeInfo(dataDir);
    process.kill(crashed?.pid ?? 0, "SIGKILL");
    const { stderr } = await runCli(["add", "The heron nests at the old mill."], { home, env });
    expect(stderr).toBe("Starting memoryd again, as it was started before it ended without being stopped.\n");
    const runtime = readRuntimeInfo(dataDir);
    expect(runtime?.pid).not.toBe(crashed?.pid);
    expect(runtime?.startedWith?.flags).toEqual(crashed?.startedWith?.flags);
    expect(runtime?.startedWith?.flags["historyDays"]).toBe("90");

    // Settings that do not hold any more are no reason not to start.
    process.kill(runtime?.pid ?? 0, "SIGKILL");
    const file = join(dataDir, "daemon.json");
    const left = JSON.parse(readFileSync(file, "utf8"));
    left.startedWith.flags.historyDays = "many";
    writeFileSync(file, JSON.stringify(left));
    const again = await runCli(["add", "The otter sleeps in the reeds."], { home, env });
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("it stops after 30 minutes") });
  },
  TIMEOUT_MS,
);

it(
  "start says that another program has the port",
  async () => {
    const { code, stderr } = await runCli(["start"], { home, env });
    expect(code).toBe(1);
    expect(stderr).toContain("is already in use by another program. Stop it, or choose another port");
  },
  TIMEOUT_MS,
);
