import { addMemory } from "../../src/core/memories/add-memories.ts";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { serialize } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/core/operations.ts";
import { relatedMemories } from "../../src/core/memories/related-memories.ts";
import { reinforceMemory } from "../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import type { Change } from "../../src/core/rows.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { openStore } from "../../src/storage/open-store.ts";
import { memoryStoreContract, type StoreUnderTest } from "../contract/memory-store.contract.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { memoryRow } from "../support/memory-row.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

function underTest(disk: StoreOnDisk, settle: () => Promise<void>): StoreUnderTest {
  return {
    ports: disk.ports,
    settle,
    async close() {
      await disk.close();
      disk.removeDirectory();
    },
  };
}

memoryStoreContract("the store on disk, with everything in its journal", async () => {
  const disk = await createStoreOnDisk();
  return underTest(disk, async () => {});
});

memoryStoreContract("the store on disk, with everything in its tables", async () => {
  const disk = await createStoreOnDisk();
  return underTest(disk, () => disk.opened.checkpointer.flush());
});

memoryStoreContract("the store on disk, with a checkpoint always under way", async () => {
  const disk = await createStoreOnDisk({ limits: { rows: 5 } });
  return underTest(disk, async () => {});
});

describe("a store that is opened again", () => {
  let disk: StoreOnDisk;
  beforeEach(async () => {
    disk = await createStoreOnDisk();
  });
  afterEach(async () => {
    await disk.close();
    disk.removeDirectory();
  });

  const reopen = async () => {
    await disk.close();
    disk = await disk.reopen();
  };
  const add = async (content: string, more = {}) =>
    (await addMemory(disk.ports, { content, ...more })).memory;
  const everything = async () => {
    const { ids } = disk.ports.store.catalogue.page({}, { limit: 1_000, offset: 0 });
    const memories = await disk.ports.store.readMemories(ids);
    return ids.map((id) => memories.get(id));
  };

  it("completes kept versions that are older than a field of memories", async () => {
    const { store } = disk.opened;
    const { id } = await add("tea at four");
    await updateMemory(disk.ports, { id, content: "tea at five" });
    const versions = (ids: string[]) => store.readVersions(ids);
    const [entry] = store.catalogue.versions.of(id);
    const row = (await versions([entry?.id ?? ""])).get(entry?.id ?? "");
    if (entry === undefined || row === undefined) throw new Error("no version was kept");
    const { supersedes: _later, ...older } = row.memory;
    const change = { table: "versions", id: entry.id, row: { ...row, memory: older } } as unknown as Change;
    await store.commit(() => ({ changes: [change], result: undefined }));
    expect((await versions([entry.id])).get(entry.id)).toEqual(row);
  });

  it("answers a duplicate of a record only when that can be read", async () => {
    const { store } = disk.opened;
    const terms = Array.from({ length: 300 }, (_, k) => `term${k}`).join(" ");
    const long = store.commit(({ nextOrder }) => ({
      changes: Array.from({ length: 2_000 }, (_, i) => ({
        table: "memories",
        id: `long-${i}`,
        row: memoryRow({ id: `long-${i}`, order: nextOrder + i, terms }),
      })),
      result: undefined,
    }));
    while (store.pending.rows < 10) await nextTurn();
    const isDuplicate = await store.commit(() => ({ changes: [], result: true }));
    expect([isDuplicate, store.pending.rows]).toEqual([true, 2_000]);
    expect((await store.readMemories(["long-1999"])).size).toBe(1);
    await long;
  });

  it("answers rows that were read before as they are now", async () => {
    const [one, two] = [await add("one"), await add("two")];
    await disk.opened.checkpointer.flush();
    const contents = async () => (await everything()).map((memory) => memory?.content);
    expect(await contents()).toEqual(["two", "one"]);
    await updateMemory(disk.ports, { id: one.id, content: "uno" });
    await deleteMemory(disk.ports, { id: two.id });
    expect(await contents()).toEqual(["uno"]);
    expect((await disk.ports.store.readMemories([one.id, two.id])).size).toBe(1);
    await disk.opened.checkpointer.flush();
    expect(await contents()).toEqual(["uno"]);
  });

  it("numbers memories by small integers, not by floats", async () => {
    const { id } = await add("one");
    await disk.opened.checkpointer.flush();
    await reopen();
    // "I" is an integer, "N" a float.
    expect(serialize(disk.ports.store.catalogue.find(id)?.ordinal).toString("latin1", 2, 3)).toBe("I");
  });

  it.each([false, true])("has everything as it was (in tables: %s)", async (inTables) => {
    const one = await add("one", { sessionId: "s", tags: ["x"], metadata: { n: 1 } });
    const two = await add("two", { sessionId: "s" });
    const gone = await add("gone");
    if (inTables) await disk.opened.checkpointer.flush();
    await updateMemory(disk.ports, { id: one.id, content: "uno" });
    await deleteMemory(disk.ports, { id: gone.id });
    await reinforceMemory(disk.ports, { id: two.id, boost: 1 });
    const before = await everything();
    if (inTables) await disk.opened.checkpointer.flush();

    await reopen();
    expect(await everything()).toEqual(before);
    const { store } = disk.ports;
    const ids = (term: string) =>
      store
        .scoreWords([{ term, weight: 1 }], 20)
        .top(9)
        .map((ordinal) => store.catalogue.at(ordinal)?.id);
    expect([ids("uno"), ids("one"), ids("gone")]).toEqual([[one.id], [], []]);
    expect(store.catalogue.page({ metadata: { n: 1 }, tags: ["x"] }, { limit: 9, offset: 0 }).ids).toEqual([
      one.id,
    ]);
    expect((await relatedMemories(disk.ports, { id: one.id, depth: 1 })).edges).toMatchObject([
      { source: one.id, target: two.id, kind: "next" },
    ]);
    const again = await addMemory(disk.ports, { content: "two", sessionId: "s" });
    expect(again).toMatchObject({ deduplicated: true, memory: { id: two.id } });
  });

  it("goes on counting order and time where it was, also when the newest was deleted", async () => {
    const last = await add("one");
    await deleteMemory(disk.ports, { id: last.id });
    await disk.opened.checkpointer.flush();
    await reopen();
    const next = await add("two");
    expect(next.order).toBe(last.order + 1);
    expect(next.createdAt).toBeGreaterThanOrEqual(last.createdAt);
  });

  it("honours an Idempotency-Key from before", async () => {
    const idempotency = { key: "k", bodyHash: "h" };
    const memory = await add("tea", { idempotency });
    await disk.opened.checkpointer.flush();
    await reopen();
    expect(await add("tea", { idempotency })).toEqual(memory);
  });

  it("is refused with what to do when its tables are gone, empty, cut or zeroed", async () => {
    await add("tea");
    await disk.opened.checkpointer.flush();
    await add("milk");
    await disk.opened.checkpointer.flush();
    await disk.close();
    const folder = join(disk.directory, "tables", "memories-g1.lance");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const damage of [
      (file: string) => rmSync(file),
      (file: string) => truncateSync(file, 10),
      (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
    ]) {
      const before = files.map((file) => readFileSync(file));
      for (const file of files) damage(file);
      await expect(disk.reopen()).rejects.toMatchObject({
        code: "STORE_UNUSABLE",
        message: expect.stringMatching(/backup/),
      });
      files.forEach((file, i) => writeFileSync(file, before[i] ?? ""));
    }
    disk = await disk.reopen();
    expect((await everything()).map((memory) => memory?.content)).toEqual(["milk", "tea"]);
  });

  it("is refused when its journal is gone or its checkpoint is", async () => {
    await add("tea");
    await disk.opened.checkpointer.flush();
    await disk.close();
    for (const pattern of [/^CHECKPOINT/, /^journal$/]) {
      const names = readdirSync(disk.directory).filter((name) => pattern.test(name));
      const aside = join(disk.directory, "..", `aside-${process.pid}`);
      for (const name of names) cpSync(join(disk.directory, name), join(aside, name), { recursive: true });
      for (const name of names) rmSync(join(disk.directory, name), { recursive: true });
      await expect(disk.reopen()).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
      for (const name of names) {
        rmSync(join(disk.directory, name), { recursive: true, force: true });
        cpSync(join(aside, name), join(disk.directory, name), { recursive: true });
      }
      rmSync(aside, { recursive: true });
    }
    disk = await disk.reopen();
    expect(await everything()).toHaveLength(1);
  });

  it("is refused when its vectors were made by another model", async () => {
    await add("tea");
    await disk.close();
    const file = readdirSync(disk.directory).find((name) => name.startsWith("CHECKPOINT")) ?? "";
    expect(readFileSync(join(disk.directory, file), "utf8")).toContain("words-150");
    const world = createMemoryWorld();
    const other = openStore({
      disk: nodeDisk,
      directory: disk.directory,
      clock: world.ports.clock,
      stamp: () => ({ ...world.embedder.stamp, model: "another" }),
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    await expect(other).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
      message: expect.stringMatching(/another model/),
    });
    disk = await disk.reopen();
  });
});
