import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eraseHistory, memoryHistory, restoreVersion } from "../../src/core/history/memory-history.ts";
import { restoreFromTrash } from "../../src/core/history/restore-from-trash.ts";
import { eraseFromTrash, expireVersions, listTrash } from "../../src/core/history/trash.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { deleteUserMemories } from "../../src/core/users/delete-user-memories.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { restoreBackup } from "../../src/storage/copies/restore-backup.ts";
import { type BackupWorld, createBackupWorld } from "../support/backup-world.ts";
import { placesOf, readEveryByte } from "../support/every-byte.ts";
import { createFaultyDisk } from "../support/faulty-disk.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { erase } from "../support/store-survival.ts";
import { strideOf } from "../support/stress.ts";

const PAGE = { limit: 100, offset: 0 };

let world: BackupWorld;
let store: StoreOnDisk;
beforeEach(async () => {
  world = await createBackupWorld();
  store = world.store;
});
afterEach(async () => {
  await store.close();
  await world.close();
});

const add = async (content: string, more: object = {}) =>
  (await addMemory(store.ports, { content, ...more })).memory.id;
const texts = async (id: string, { ports }: StoreOnDisk = store) =>
  (await memoryHistory(ports, { id, ...PAGE })).items.map(({ memory }) => memory.content);
const trash = async ({ ports }: StoreOnDisk = store) =>
  (await listTrash(ports, PAGE)).items.map(({ memory }) => memory.content);
/** What is in the journal alone is as after a kill. */
async function reopen(options: Parameters<StoreOnDisk["reopen"]>[0] = {}) {
  await store.close();
  store = await store.reopen(options);
}

describe("the history on the disk", () => {
  it.each(["the journal", "the tables"])("is there after a restart, from %s", async (where) => {
    const changed = await add("one");
    const gone = await add("gone");
    await store.opened.checkpointer.flush();
    await updateMemory(store.ports, { id: changed, content: "two", changedBy: "agent" });
    await deleteMemory(store.ports, { id: gone, trash: true, deletedBy: "agent" });
    if (where === "the tables") await store.opened.checkpointer.flush();
    await reopen();
    expect(await texts(changed)).toEqual(["two", "one"]);
    expect(await trash()).toEqual(["gone"]);
    await restoreVersion(store.ports, { id: changed, version: 1 });
    await restoreFromTrash(store.ports, { id: gone });
    await store.opened.checkpointer.flush();
    await reopen();
    expect(await texts(changed)).toEqual(["one", "two", "one"]);
    expect(await texts(gone)).toEqual(["gone", "gone"]);
    expect(await trash()).toEqual([]);
    const { version } = store.ports.store.catalogue.find(gone) ?? {};
    expect(version).toBe(2);
    const { ordinal = -1 } = store.ports.store.catalogue.find(gone) ?? {};
    expect(store.ports.store.windowsOf(ordinal).length).toBe(1);
  });

  it("keeps the days that it has counted, and those of a backup", async () => {
    const { clock } = store.ports;
    const start = clock.now();
    let now = start;
    Object.assign(clock, { now: () => now });
    const gone = await add("gone");
    await deleteMemory(store.ports, { id: gone, trash: true });
    await world.backUp("old");
    for (let day = 0; day < 29; day += 1) {
      now += 24 * 3_600_000;
      expect(await expireVersions(store.ports)).toBe(0);
      if (day % 10 === 0) await reopen();
    }
    // A store of long ago is opened: nothing of it goes for a week.
    const directory = join(world.folder, "restored", "data");
    await restoreBackup(nodeDisk, join(world.folder, "old"), directory);
    const later = createMemoryWorld();
    later.now = start + 365 * 24 * 3_600_000;
    const restored = await openStoreOnDisk(directory, later);
    try {
      expect(await expireVersions(restored.ports)).toBe(0);
      expect(await trash(restored)).toEqual(["gone"]);
      await restoreFromTrash(restored.ports, { id: gone });
      expect(restored.ports.store.catalogue.find(gone)?.version).toBe(2);
    } finally {
      await restored.close();
    }
    now += 24 * 3_600_000;
    expect(await expireVersions(store.ports)).toBe(1);
    await reopen();
    expect(await trash()).toEqual([]);
  });

  it("leaves every file when it is erased, and only then", async () => {
    const secret = "canary-8f31c6";
    const kept = "keeper-77aa01";
    const changed = await add(`the code is ${secret}-a`);
    const deleted = await add(`a note with ${secret}-b`);
    const staying = await add(`a note with ${kept}-a`);
    const other = await add(`first ${kept}-b`);
    await store.opened.checkpointer.flush();
    await updateMemory(store.ports, { id: changed, content: "no code" });
    await updateMemory(store.ports, { id: other, content: "second" });
    await deleteMemory(store.ports, { id: deleted, trash: true });
    await deleteMemory(store.ports, { id: staying, trash: true });
    // The text stays: there is nothing to purge.
    expect(store.opened.purge.waiting).toBeUndefined();
    await erase(store);
    const before = await readEveryByte(store.directory);
    expect(placesOf(secret, before)).not.toEqual([]);

    await eraseHistory(store.ports, { id: changed });
    await eraseFromTrash(store.ports, { id: deleted });
    expect(store.opened.purge.waiting).toMatchObject({ items: 2, rows: { versions: 2 } });
    await erase(store);
    const after = await readEveryByte(store.directory);
    expect(placesOf(secret, after)).toEqual([]);
    expect(after.unseen).toEqual([]);
    expect(await trash()).toEqual([`a note with ${kept}-a`]);
    expect(await texts(other)).toEqual(["second", `first ${kept}-b`]);
    await reopen();
    expect(await trash()).toEqual([`a note with ${kept}-a`]);

    await deleteUserMemories(
      { ...store.ports, stopJob: async () => {}, noteErasure: async () => {} },
      { userId: "nobody", keepsDocuments: false, includesFacts: false },
    );
    expect(await trash()).toHaveLength(1);
  });

  it("is lost alone where its files are damaged", async () => {
    const changed = await add("one");
    await updateMemory(store.ports, { id: changed, content: "two" });
    const gone = await add("gone");
    await deleteMemory(store.ports, { id: gone, trash: true });
    await store.opened.checkpointer.flush();
    await add("three");
    await store.opened.checkpointer.flush();
    await store.close();
    const tables = join(store.directory, "tables");
    const files = readdirSync(tables, { recursive: true, encoding: "utf8" }).filter((path) =>
      /^versions-.*\.(lance|manifest)$/.test(path),
    );
    expect(files.length).toBeGreaterThan(1);
    for (const path of files.filter((each) => /[\\/](data|_versions)[\\/]/.test(each))) {
      const bytes = readFileSync(join(tables, path));
      bytes.fill(0, 0, 64);
      writeFileSync(join(tables, path), bytes);
    }
    store = await store.reopen();
    expect(store.opened.losses).toEqual(["Earlier versions of memories and the trash were lost."]);
    expect(await texts(changed)).toEqual(["two"]);
    expect(await trash()).toEqual([]);
    await updateMemory(store.ports, { id: changed, content: "four" });
    await store.opened.checkpointer.flush();
    await reopen();
    expect(await texts(changed)).toEqual(["four", "two"]);
  });

  it.each(["crash", "EIO"] as const)(
    "has each answered change and the version before (%s)",
    async (fault) => {
      for (let step = 1; step <= 90; step += strideOf(9)) {
        const directory = join(world.folder, `faulty-${step}`);
        mkdirSync(directory);
        const disk = await createFaultyDisk(directory, { foreignFolders: ["tables"] });
        const memories = createMemoryWorld();
        let under = await openStoreOnDisk(directory, memories, { disk, limits: { rows: 6, freeBytes: 0 } });
        const { id } = (await addMemory(under.ports, { content: "0" })).memory;
        disk.failAt(disk.steps + step, fault);
        let [answered, asked] = [0, 0];
        while (asked < 12 && asked === answered) {
          asked += 1;
          const content = String(asked);
          await updateMemory(under.ports, { id, content }).then(
            () => (answered = asked),
            () => undefined,
          );
        }
        await under.close().catch(() => undefined);
        under = await openStoreOnDisk(directory, memories);
        const found = await texts(id, under);
        const [newest = ""] = found;
        expect([answered, asked]).toContain(Number(newest));
        expect(found).toEqual(
          Array.from({ length: Number(newest) + 1 }, (_, i) => String(Number(newest) - i)),
        );
        await under.close();
        rmSync(directory, { recursive: true });
      }
    },
  );
});
