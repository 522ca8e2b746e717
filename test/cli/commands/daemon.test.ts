/** `memoryd logs` as it is run: the built program and a log that others write. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { logFileOf, openRotatingLog } from "../../../src/daemon/rotating-log.ts";
import { environmentOf, LAUNCHER, runCliHere } from "../../support/run-cli.ts";

const PATIENCE_MS = 15_000;

let home: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-logs-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  child = undefined;
  rmSync(home, { recursive: true, force: true });
});

const run = (...words: string[]) => runCliHere(words, { home, env: { MEMORYD_DATA_DIR: home } });

/** Begins to follow; what was printed so far. */
function follow(...words: string[]): () => string {
  child = spawn(process.execPath, [LAUNCHER, "logs", "-f", ...words], {
    env: environmentOf(home, { MEMORYD_DATA_DIR: home }),
    cwd: home,
  });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return () => text;
}

async function until(printed: () => string, expected: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (printed() !== expected && Date.now() < deadline) await sleep(20);
  expect(printed()).toBe(expected);
}

it("prints the last lines, across what was set aside", async () => {
  writeFileSync(`${logFileOf(home)}.2`, "1\n2\n");
  writeFileSync(`${logFileOf(home)}.1`, "3\n4\n");
  writeFileSync(logFileOf(home), "5\n6\n");
  expect(await run("logs", "-n", "5")).toEqual({ code: 0, stdout: "2\n3\n4\n5\n6\n", stderr: "" });
});

it("says why there is none", async () => {
  const { code, stderr } = await run("logs");
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^There is no log in .+ `memoryd start --detach`/) as string,
  });
});

it("follows a log that is not there yet, is set aside and emptied", async () => {
  const printed = follow();
  const sink = openRotatingLog(logFileOf(home), { maxBytes: 20 });
  sink.write("first line\n");
  await until(printed, "first line\n");
  let all = "first line\n";
  for (const line of ["second line\n", "third line\n", "fourth line\n"]) {
    sink.write(line);
    await until(printed, (all += line));
  }
  sink.close();
  truncateSync(logFileOf(home));
  writeFileSync(logFileOf(home), "x\n", { flag: "a" });
  await until(printed, "first line\nsecond line\nthird line\nfourth line\nx\n");
});
