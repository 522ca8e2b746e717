import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listBackups, verifyBackup } from "../../src/storage/copies/backups.ts";
import { type Disk, nodeDisk } from "../../src/storage/files/disk.ts";
import { restoreBackup } from "../../src/storage/copies/restore-backup.ts";
import { type BackupWorld, createBackupWorld, textsOf } from "../support/backup-world.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { createFaultyDisk } from "../support/faulty-disk.ts";
import { openStoreOnDisk } from "../support/store-on-disk.ts";

let world: BackupWorld;
let folder: string;
let add: BackupWorld["add"];
let backUp: BackupWorld["backUp"];
beforeEach(async () => {
  world = await createBackupWorld();
  ({ folder, add, backUp } = world);
});
afterEach(() => world.close());

describe("a disk that fails", () => {
  it("at any step of restoring leaves no store or a whole one, and works the next time", async () => {
    await add("one");
    await backUp("one");
    const root = mkdtempSync(join(tmpdir(), "memoryd-restore-"));
    const target = join(root, "data");
    const disk = await createFaultyDisk(root);
    const through: Disk = {
      ...disk,
      open: (path, mode) => (path.startsWith(root) ? disk : nodeDisk).open(path, mode),
      list: (path) => (path.startsWith(root) ? disk : nodeDisk).list(path),
      size: (path) => (path.startsWith(root) ? disk : nodeDisk).size(path),
      readFile: (path) => (path.startsWith(root) ? disk : nodeDisk).readFile(path),
    };
    try {
      let isWhole = false;
      for (let step = 1; !isWhole; step += 17) {
        disk.failAt(disk.steps + step, "EIO", { lasting: true });
        isWhole = await restoreBackup(through, join(folder, "one"), target).then(
          () => true,
          () => false,
        );
        disk.heal();
        if (!isWhole) expect(existsSync(target)).toBe(false);
      }
      const opened = await openStoreOnDisk(target, createMemoryWorld());
      expect(await textsOf(opened)).toEqual(["one"]);
      await opened.close();
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  it("at any step of a backup leaves no backup or a whole one, and the next one works", async () => {
    await add("one");
    await world.store.opened.checkpointer.flush();
    const disk = await createFaultyDisk(folder);
    const through: Disk = {
      ...nodeDisk,
      open: (path, mode) => (path.startsWith(folder) ? disk : nodeDisk).open(path, mode),
      link: (from, to) => disk.link(from, to),
      rename: (from, to) => disk.rename(from, to),
      syncDirectory: (path) => (path.startsWith(folder) ? disk : nodeDisk).syncDirectory(path),
      makeDirectory: (path) => (path.startsWith(folder) ? disk : nodeDisk).makeDirectory(path),
    };
    let made = 0;
    for (let step = 1; made === 0; step += 23) {
      disk.failAt(disk.steps + step, "ENOSPC", { lasting: true });
      const error = await backUp(`at-${step}`, { disk: through }).catch((failure: Error) => failure);
      disk.heal();
      if (error instanceof Error) expect(error).toMatchObject({ code: "STORE_FULL" });
      else made += 1;
      expect((await listBackups(nodeDisk, folder)).items).toHaveLength(made);
    }
    const [backup] = (await listBackups(nodeDisk, folder)).items;
    await verifyBackup(nodeDisk, folder, backup?.name ?? "", 1);
  });
});
