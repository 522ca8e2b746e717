import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../../src/core/operations.ts";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import type { Change } from "../../../src/core/rows.ts";
import { readManifest } from "../../../src/storage/copies/backup-manifest.ts";
import { listBackups, removeBackup, verifyBackup } from "../../../src/storage/copies/backups.ts";
import { type Disk, listFilesBelow, nodeDisk } from "../../../src/storage/files/disk.ts";
import { restoreBackup } from "../../../src/storage/copies/restore-backup.ts";
import { type BackupWorld, createBackupWorld, textsOf } from "../../support/backup-world.ts";
import { memoryRow } from "../../support/memory-row.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../../support/store-on-disk.ts";

let world: BackupWorld;
let store: StoreOnDisk;
let folder: string;
let add: BackupWorld["add"];
let backUp: BackupWorld["backUp"];
beforeEach(async () => {
  world = await createBackupWorld();
  ({ store, folder, add, backUp } = world);
});
afterEach(() => world.close());

/** Two disks without hard links between them; each has its own. */
const otherDisk: Disk = {
  ...nodeDisk,
  device: async (path) => (path.startsWith(folder) ? 2 : 1),
  async link(from, to) {
    if (from.startsWith(folder) !== to.startsWith(folder))
      throw Object.assign(new Error("two disks"), { code: "EXDEV" });
    await nodeDisk.link(from, to);
  },
};

async function restored(name: string): Promise<{ readonly texts: string[]; readonly opened: StoreOnDisk }> {
  const target = join(folder, `restored-${name}`, "data");
  await restoreBackup(nodeDisk, join(folder, name), target);
  const opened = await openStoreOnDisk(target, createMemoryWorld());
  Object.assign(opened.ports, { ids: store.ports.ids });
  return { texts: await textsOf(opened), opened };
}

describe("a backup", () => {
  it("has all that was answered before it, also what was in the journal alone, and nothing after", async () => {
    await add("in the tables");
    await store.opened.checkpointer.flush();
    const gone = await add("deleted before");
    await add("in the journal");
    await deleteMemory(store.ports, { id: gone });
    const backup = await backUp("one");
    await add("after");
    expect(backup).toMatchObject({
      name: "one",
      memories: 2,
      storeId: store.opened.storeId,
      position: "1.4",
    });

    const { texts, opened } = await restored("one");
    expect(texts).toEqual(["in the journal", "in the tables"]);
    await opened.close();
  });

  it("that begins while a long record is being shown has all of it", async () => {
    await add("before");
    const changes = (first: number): Change[] =>
      Array.from({ length: 4_000 }, (_, i) => ({
        table: "memories",
        id: `long-${i}`,
        row: memoryRow({
          id: `long-${i}`,
          order: first + i,
          terms: Array.from({ length: 300 }, (__, k) => `term${(i * 7 + k * 13) % 50_000}`).join(" "),
        }),
      }));
    const answered = store.opened.store.commit(({ nextOrder }) => ({
      changes: changes(nextOrder),
      result: undefined,
    }));
    for (let turn = 0; turn < 100_000 && store.opened.store.pending.rows < 100; turn += 1) await nextTurn();
    expect((await backUp("one")).memories).toBe(4_001);
    await answered;
  });

  it("is restored as a store of its own, which goes on and is backed up itself", async () => {
    await add("one");
    await backUp("one");
    const { opened } = await restored("one");
    expect(opened.opened.storeId).not.toBe(store.opened.storeId);
    await addMemory(opened.ports, { content: "two" });
    await opened.close();
    const again = await opened.reopen();
    expect(await textsOf(again)).toEqual(["one", "two"]);
    await again.close();
    // What the restored store did has not reached the backup.
    await expect(verifyBackup(nodeDisk, folder, "one", 1)).resolves.toMatchObject({ memories: 1 });
  });

  it("keeps its files while the store goes on, however many checkpoints come after", async () => {
    await add("one");
    const held = await store.opened.checkpointer.hold();
    const files = held.checkpoint.tables.flatMap((table) => table.files.map(({ path }) => path));
    for (let i = 0; i < 4; i += 1) {
      await add(`more ${i}`);
      await store.opened.checkpointer.flush();
    }
    const there = () => files.filter((path) => existsSync(join(store.directory, "tables", path))).length;
    expect(there()).toBe(files.length);
    held.release();
    for (let i = 0; i < 3; i += 1) {
      await add(`even more ${i}`);
      await store.opened.checkpointer.flush();
    }
    expect(there()).toBeLessThan(files.length);
  });

  it("and a purge exclude each other", async () => {
    await add("one");
    const held = await store.opened.checkpointer.hold();
    const originals = { listUnneeded: async () => [], removeUnneeded: async () => [] };
    await expect(store.opened.purge.run({ originals })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.opened.checkpointer.hold()).rejects.toMatchObject({ code: "CONFLICT" });
    held.release();
    await store.opened.purge.run({ originals });
    (await store.opened.checkpointer.hold()).release();
  });

  it("shares files with the store on one disk, and says that this protects from less", async () => {
    await add("one");
    const backup = await backUp("one");
    expect(backup.sharesDisk).toBe(true);
    expect(backup.addedBytes).toBeLessThan(backup.bytes / 2);
    const linked = (await listFilesBelow(nodeDisk, join(folder, "one", "tables"))).map(
      (path) => statSync(join(folder, "one", "tables", path)).nlink,
    );
    expect(Math.min(...linked)).toBeGreaterThan(1);
  });

  it("on another disk copies what no earlier one there has", async () => {
    await add("one");
    const first = await backUp("one", { disk: otherDisk });
    expect(first).toMatchObject({ sharesDisk: false, addedBytes: first.bytes });
    const unchanged = await backUp("two", { disk: otherDisk });
    expect(unchanged.addedBytes).toBeLessThan(first.bytes / 2);
    await removeBackup(nodeDisk, folder, "one");
    const { texts, opened } = await restored("two");
    expect(texts).toEqual(["one"]);
    await opened.close();
  });

  it("has originals of documents and the keys", async () => {
    const bytes = Buffer.from("an original");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await nodeDisk.makeDirectory(join(store.directory, "files"));
    writeFileSync(join(store.directory, "files", sha256), bytes);
    writeFileSync(join(store.directory, "KEYS"), "keys");
    await add("one");
    await backUp("one", { originals: [sha256, "0".repeat(64)] });
    const { opened } = await restored("one");
    expect(readFileSync(join(opened.directory, "files", sha256))).toEqual(bytes);
    expect(readFileSync(join(opened.directory, "KEYS"), "utf8")).toBe("keys");
    await opened.close();
  });

  it("takes a name once, and none that is a path", async () => {
    await backUp("one");
    await expect(backUp("one")).rejects.toMatchObject({ code: "CONFLICT" });
    for (const name of ["../../one", ".hidden", "a/b", "", "x".repeat(65)])
      await expect(backUp(name)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(removeBackup(nodeDisk, folder, "..")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("is not made of a damaged store", async () => {
    await add("one");
    await store.opened.checkpointer.flush();
    const path =
      (store.opened.checkpointer.latest?.tables ?? [])
        .flatMap(({ files }) => files.map((file) => file.path))
        .find((file) => file.startsWith("memories") && file.endsWith(".lance")) ?? "";
    flipByte(join(store.directory, "tables", path));
    await expect(backUp("one")).rejects.toMatchObject({ code: "DAMAGED" });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a damaged backup", () => {
  it("is found by reading it, is not restored, and the others are listed", async () => {
    await add("one");
    await backUp("one", { disk: otherDisk });
    const { files } = await readManifest(nodeDisk, folder, "one");
    const target = join(folder, "new");
    for (const { path } of files) {
      const place = join(folder, "one", path);
      const whole = readFileSync(place);
      flipByte(place);
      await expect(verifyBackup(nodeDisk, folder, "one", 1)).rejects.toThrow(`${path} has changed`);
      expect((await listBackups(nodeDisk, folder)).damaged).toEqual([expect.stringContaining(path)]);
      await expect(restoreBackup(nodeDisk, join(folder, "one"), target)).rejects.toMatchObject({
        code: "DAMAGED",
      });
      writeFileSync(place, whole);
    }
    expect(existsSync(target)).toBe(false);
    await expect(verifyBackup(nodeDisk, folder, "one", 7)).resolves.toMatchObject({ verifiedAt: 7 });
    // Removed by somebody else at the last moment.
    const removing: Disk = {
      ...nodeDisk,
      open: async (path, mode) => {
        if (mode === "create") rmSync(join(folder, "one"), { recursive: true });
        return await nodeDisk.open(path, mode);
      },
    };
    cpSync(join(folder, "one"), join(folder, "kept"), { recursive: true });
    await expect(verifyBackup(removing, folder, "one", 8)).rejects.toMatchObject({ code: "NOT_FOUND" });
    renameSync(join(folder, "kept"), join(folder, "one"));
    flipByte(join(folder, "one", "MANIFEST"));
    await backUp("two", { disk: otherDisk });
    const { items, damaged } = await listBackups(nodeDisk, folder);
    expect(items.map(({ name }) => name)).toEqual(["two"]);
    expect(damaged).toEqual([expect.stringContaining("The backup one is damaged")]);
  });

  it("of a newer format is refused with the way back", async () => {
    await backUp("one");
    const manifest = readFileSync(join(folder, "one", "MANIFEST"), "utf8");
    writeFileSync(join(folder, "one", "MANIFEST"), manifest.replace("backup 1 crc32", "backup 2 crc32"));
    await expect(restoreBackup(nodeDisk, join(folder, "one"), join(folder, "new"))).rejects.toThrow(
      "made by a newer version",
    );
  });
});

describe("restoring", () => {
  it("touches no folder that holds anything", async () => {
    await backUp("one");
    const target = join(folder, "full");
    await nodeDisk.makeDirectory(target);
    writeFileSync(join(target, "mine"), "");
    await expect(restoreBackup(nodeDisk, join(folder, "one"), target)).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(readdirSync(target)).toEqual(["mine"]);
    const other = join(folder, "a store");
    await restoreBackup(nodeDisk, join(folder, "one"), other);
    for (const inside of ["new", "tables/new", "files/deep/new"])
      await expect(restoreBackup(nodeDisk, join(folder, "one"), join(other, inside))).rejects.toThrow(
        `inside the data directory ${other}`,
      );
    await expect(restoreBackup(nodeDisk, join(folder, "none"), join(folder, "new"))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

it("A killed process leaves something that the next backup removes", async () => {
  const left = join(folder, `.unfinished-${store.opened.storeId}`);
  await nodeDisk.makeDirectory(join(left, "tables"));
  writeFileSync(join(left, "tables", "half"), "x");
  await backUp("one");
  expect(readdirSync(folder)).toEqual(["one"]);
});

it("A removal that was killed is finished by the next backup and the next removal", async () => {
  const killed = async (name: string) => {
    let removals = 0;
    const disk = {
      ...nodeDisk,
      async remove(path: string) {
        if ((removals += 1) > 1) throw new Error("killed");
        await nodeDisk.remove(path);
      },
    };
    await expect(removeBackup(disk, folder, name)).rejects.toThrow("killed");
    expect(readdirSync(folder)).toContain(`.removed-${name}`);
  };
  await add("one");
  for (const name of ["one", "two", "three"]) await backUp(name);
  await killed("one");
  await removeBackup(nodeDisk, folder, "two");
  expect(readdirSync(folder)).toEqual(["three"]);
  await killed("three");
  await backUp("four");
  expect(readdirSync(folder)).toEqual(["four"]);
});

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  // Another file in its place: others may share the old one.
  rmSync(path);
  writeFileSync(path, bytes);
}
