/** A store of an earlier version is opened by this one: killed anywhere, nothing is lost. */
import { cpSync, rmSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { type Disk, nodeDisk } from "../../src/storage/files/disk.ts";
import { openStore } from "../../src/storage/open-store.ts";
import { createFaultyDisk } from "../support/faulty-disk.ts";
import { unpackStore } from "../support/store-fixture.ts";

/** A prime, so that all kinds of steps have their turn. */
const STRIDE = 97;
const clock = { now: () => Date.parse("2026-11-22T13:00:00Z") };
const log = { info() {}, warn() {}, error() {} };
const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const open = (directory: string, disk: Disk = nodeDisk) =>
  openStore({ disk, directory, clock, stamp: () => MINILM.stamp, log });

it("is whole after a kill at any step of its first opening", async () => {
  const { directory, rows } = unpackStore("0.1.0-killed");
  directories.push(directory);
  const memories = Object.keys(rows["memories"] ?? {}).length;
  const whole = `${directory}-whole`;
  directories.push(whole);
  cpSync(directory, whole, { recursive: true });
  let isThrough = false;
  for (let step = 1; !isThrough; step += STRIDE) {
    rmSync(directory, { recursive: true, force: true });
    cpSync(whole, directory, { recursive: true });
    const disk = await createFaultyDisk(directory, { foreignFolders: ["tables"] });
    disk.failAt(disk.steps + step, "crash", { lasting: true });
    isThrough = await open(directory, disk).then(
      async (opened) => {
        await opened.store.close().catch(() => undefined);
        return disk.steps < step;
      },
      () => false,
    );
    const opened = await open(directory);
    expect(opened.store.catalogue.size).toBe(memories);
    await opened.checkpointer.note();
    await opened.checkpointer.note();
    await opened.store.close();
  }
});
