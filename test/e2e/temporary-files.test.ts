import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TEMPORARY_FOLDER } from "../../src/storage/files/data-directory.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-temporary-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

it("keeps LanceDB's temporary files in the data directory, and removes those of a daemon that was killed", async () => {
  const folder = join(dataDir, TEMPORARY_FOLDER);
  const first = await startDaemonProcess(dataDir);
  const left = readdirSync(folder);
  expect(left.length).toBeGreaterThan(0);
  await first.kill();
  expect(readdirSync(folder)).toEqual(left);
  const second = await startDaemonProcess(dataDir);
  expect(readdirSync(folder).filter((name) => left.includes(name))).toEqual([]);
  await second.stop();
  expect(existsSync(folder)).toBe(false);
});
