import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { runCli } from "../support/run-cli.ts";

let directory: string;
let daemon: DaemonProcess | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "memoryd-survival-"));
});
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
  rmSync(directory, { recursive: true, force: true });
});

it("a second daemon on the same directory ends with a sentence, and the first goes on", async () => {
  daemon = await startDaemonProcess(directory);
  const content = "The spare key is under the blue flowerpot";
  expect((await call(daemon, "POST", "/memory/add", { content })).status).toBe(200);

  const env = { MEMORYD_DATA_DIR: directory, MEMORYD_PORT: "0" };
  const second = await runCli(["start"], { home: directory, env });
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(String(daemon.pid));
  expect(second.stderr).not.toMatch(/^\s+at /m);

  expect((await call(daemon, "POST", "/memory/add", { content: "The cat is called Miso" })).status).toBe(200);
  const { body } = await call(daemon, "POST", "/memory/query", { query: "where is the key" });
  expect(body.matches[0].content).toBe(content);
  expect(await daemon.stop()).toBe(0);
});

/** More than what LanceDB is left to work in, with room to fill. */
const DISK_MB = 340;
/** So much that less than that is left. */
const FILLER_MB = 120;
const MEGABYTE = Buffer.alloc(1024 ** 2, 1);

/** A file system of its own; false where this user may not mount one. */
function mountDisk(path: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", path]).status === 0;
}

/** Fills to the last byte. */
function fillUp(path: string): void {
  for (const piece of [MEGABYTE, MEGABYTE.subarray(0, 4096)]) {
    try {
      for (;;) appendFileSync(path, piece);
    } catch {
      // Full for pieces of that size.
    }
  }
}

it("a daemon on a full disk answers, deletes, and has everything once there is room", async (test) => {
  if (!mountDisk(directory)) return test.skip("no file system can be mounted here: needs root on Linux");
  const filler = join(directory, "filler");
  const dataDir = join(directory, "data");
  try {
    const first = await startDaemonProcess(dataDir);
    daemon = first;
    const kept = new Map<string, string>();
    let count = 0;
    const add = async () => {
      const content = `note ${(count += 1)}: the violin number ${count} was lent to a neighbour`;
      const { status, body } = await call(daemon ?? first, "POST", "/memory/add", { content });
      if (status === 200) kept.set(body.id, content);
      return { status, code: body.code };
    };
    for (let i = 0; i < 6; i += 1) expect((await add()).status).toBe(200);

    for (let i = 0; i < FILLER_MB; i += 1) appendFileSync(filler, MEGABYTE);
    const full = { status: 503, code: "STORE_FULL" };
    await expect.poll(add, { timeout: 10_000, interval: 200 }).toEqual(full);
    fillUp(filler);
    expect(await add()).toEqual(full);
    const figures = expect.stringMatching(/^the disk is full \(\d+ MB free, 269 MB needed\)/);
    const { status: readiness, body: ready } = await call(daemon, "GET", "/readyz");
    expect([readiness, ready]).toEqual([200, { ok: true, adds_refused: figures }]);
    expect((await call(daemon, "GET", "/stats")).body.store.adds_refused).toEqual(figures);
    expect(daemon.output()).toContain('"msg":"disk is full"');
    const [one = "", two = "", three = ""] = kept.keys();
    expect((await call(daemon, "PATCH", `/memory/${three}`, { content: "changed" })).status).toBe(503);
    for (const id of [one, two]) {
      expect((await call(daemon, "DELETE", `/memory/${id}`)).status).toBe(200);
      kept.delete(id);
    }
    const { status, body } = await call(daemon, "POST", "/memory/query", { query: kept.get(three), k: 3 });
    expect([status, body.matches[0].id]).toEqual([200, three]);
    expect((await call(daemon, "GET", "/livez")).status).toBe(200);

    await daemon.kill();
    rmSync(filler);
    daemon = await startDaemonProcess(dataDir);
    const { body: all } = await call(daemon, "GET", "/memory/all?l=500");
    expect(
      new Map(all.items.map((item: { id: string; content: string }) => [item.id, item.content])),
    ).toEqual(kept);
    expect((await add()).status).toBe(200);
  } finally {
    await daemon?.kill();
    spawnSync("umount", [directory]);
  }
});
