import { addMemory } from "../../src/core/memories/add-memories.ts";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eraseFact } from "../../src/core/facts/erase-fact.ts";
import { eraseHistory } from "../../src/core/history/memory-history.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { tablesFolder } from "../../src/storage/checkpoints/checkpoint.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { placesOf, readEveryByte } from "../support/every-byte.ts";
import { createFaultyDisk } from "../support/faulty-disk.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { erase } from "../support/store-survival.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** No compressor makes it shorter, and no other text holds it. */
const marker = () => `mk${randomBytes(15).toString("hex")}`;

let store: StoreOnDisk;
beforeEach(async () => {
  store = await createStoreOnDisk({ limits: { freeBytes: 0 } });
  Object.assign(store.ports, { ids: { newId: marker } });
});
afterEach(async () => {
  await store.close();
  store.removeDirectory();
});

async function add(content: string, fields = {}): Promise<string> {
  return (await addMemory(store.ports, { content, ...fields })).memory.id;
}

describe("erasing", () => {
  it("leaves nothing of what was deleted or replaced in any file, and all of the rest", async () => {
    const gone: string[] = [];
    const doomed = () => {
      gone.push(marker());
      return gone.at(-1) ?? "";
    };
    const kept = [marker(), marker(), marker()];
    await add(`stays ${kept[0]}`, { tags: [kept[1]], metadata: { note: kept[2] } });
    const userId = marker();
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(
        await add(`goes ${doomed()}`, {
          tags: [doomed()],
          metadata: { [doomed()]: doomed() },
          userId,
          project: doomed(),
          sessionId: doomed(),
        }),
      );
      if (i === 0) await store.opened.checkpointer.flush();
    }
    const changed = await add(`first ${doomed()}`, { tags: [doomed()] });
    const { fact } = await recordFact(store.ports, {
      subject: doomed(),
      predicate: "keeps",
      object: doomed(),
      metadata: { a: doomed() },
      validFrom: 1,
    });
    await store.opened.checkpointer.flush();
    // An image of the indexes, which has tags and words too.
    await store.close();
    store = await store.reopen();
    await updateMemory(store.ports, { id: changed, content: "second", tags: [] });
    // Else the version before stays.
    await eraseHistory(store.ports, { id: changed });

    const before = await readEveryByte(store.directory);
    expect([...before.files.keys()]).toEqual(expect.arrayContaining(["INDEXES"]));
    for (const text of [...gone, ...kept])
      expect(placesOf(text, before), `the places of ${text}`).not.toEqual([]);

    for (const id of ids) await deleteMemory(store.ports, { id });
    await eraseFact(store.ports, { id: fact.id });
    expect(store.opened.purge.waiting).toMatchObject({
      items: 5,
      rows: { memories: 3, facts: 1, versions: 1 },
    });
    const report = await erase(store);

    const after = await readEveryByte(store.directory);
    for (const text of gone) expect(placesOf(text, after), `the places of ${text}`).toEqual([]);
    for (const id of [...ids, fact.id, userId])
      expect(placesOf(id, after), `the places of ${id}`).toEqual([]);
    for (const text of kept) expect(placesOf(text, after), `the places of ${text}`).not.toEqual([]);
    expect(after.unseen).toEqual([]);
    expect(store.opened.purge.waiting).toBeUndefined();
    const memories = report.tables.find(({ table }) => table === "memories");
    expect(memories?.rows).toBe(3);
    expect(report.journal.after.bytes).toBeLessThan(report.journal.before.bytes);
    const tables = store.opened.checkpointer.latest?.tables ?? [];
    expect(tables.map(({ name }) => name)).toEqual(tables.map(({ name }) => name.replace(/\d+$/, "2")));

    // Made after the purge, it has the names and words of the rest alone.
    await store.close();
    store = await store.reopen();
    const imaged = await readEveryByte(store.directory);
    expect([...imaged.files.keys()]).toContain("INDEXES");
    for (const text of gone) expect(placesOf(text, imaged), `the places of ${text}`).toEqual([]);
    expect(placesOf(kept[1] ?? "", imaged)).toContain("INDEXES");

    const image = imaged.files.get("INDEXES");
    await store.close();
    store = await store.reopen();
    expect(await nodeDisk.readFile(join(store.directory, "INDEXES"))).toEqual(image);
    expect(store.ports.store.catalogue.size).toBe(2);
    expect((await store.ports.store.readMemories([changed])).get(changed)?.content).toBe("second");
    expect(store.opened.purge.waiting).toBeUndefined();
  });
});

describe("while it erases", () => {
  it("takes writes and answers reads, and has them all afterwards", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 40; i += 1) ids.push(await add(`number ${i} ${marker()}`));
    await store.opened.checkpointer.flush();
    const wanted = new Map<string, string | null>();
    const over = new AbortController();
    const work = async (own: string[]): Promise<void> => {
      for (let turn = 0; !over.signal.aborted || turn < 10; turn += 1) {
        const id = own[turn % own.length] ?? "";
        const dice = turn % 5;
        if (dice === 0) {
          const content = `added ${marker()}`;
          const added = await add(content);
          own.push(added);
          wanted.set(added, content);
        } else if (dice === 4) {
          await deleteMemory(store.ports, { id });
          own.splice(own.indexOf(id), 1);
          wanted.set(id, null);
        } else if (dice === 3) {
          await store.opened.checkpointer.flush();
        } else {
          const content = `changed ${marker()}`;
          await updateMemory(store.ports, { id, content });
          wanted.set(id, content);
        }
        const seen = await store.ports.store.readMemories(own);
        expect(seen.size).toBe(own.length);
        expect((await store.ports.store.readTokens(own)).size).toBe(own.length);
      }
    };
    const workers = [0, 1, 2, 3].map((place) => work(ids.slice(place * 10, place * 10 + 10)));
    for (let round = 0; round < 2; round += 1) await erase(store);
    over.abort();
    await Promise.all(workers);
    const check = async () => {
      const seen = await store.ports.store.readMemories([...wanted.keys()]);
      for (const [id, content] of wanted) expect(seen.get(id)?.content ?? null).toBe(content);
    };
    await check();
    await store.close();
    store = await store.reopen();
    await check();
  });

  it("refuses a second, and begins again when the first is over", async () => {
    await add("something");
    const first = erase(store);
    await expect(erase(store)).rejects.toMatchObject({ code: "CONFLICT" });
    await first;
    await erase(store);
  });

  it("can be stopped, which leaves nothing behind but what waits", async () => {
    const text = marker();
    await deleteMemory(store.ports, { id: await add(text) });
    const stop = new AbortController();
    const files = async () => (await listFilesBelow(nodeDisk, tablesFolder(store.directory))).join();
    await store.opened.checkpointer.flush();
    const before = await files();
    const originals = { listUnneeded: async () => [], removeUnneeded: async () => [] };
    const stopped = store.opened.purge.run({
      originals,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(stopped).rejects.toThrow(/abort/);
    expect(await files()).toBe(before);
    expect(store.opened.purge.waiting).toMatchObject({ items: 1 });
    await store.close();
    store = await store.reopen();
    expect(store.opened.purge.waiting).toMatchObject({ items: 1 });
    await erase(store);
    expect(placesOf(text, await readEveryByte(store.directory))).toEqual([]);
  });

  it("is ended by closing the store", async () => {
    const id = await add("stays");
    const erasing = erase(store).catch((error: unknown) => error);
    await store.close();
    await erasing;
    store = await store.reopen();
    expect((await store.ports.store.readMemories([id])).size).toBe(1);
  });

  it("is refused without room for a copy, and leaves what there was", async () => {
    await store.close();
    const disk = await createFaultyDisk(store.directory, { foreignFolders: ["tables"] });
    store = await store.reopen({ disk, limits: { freeBytes: 0 } });
    Object.assign(store.ports, { ids: { newId: marker } });
    const id = await add(`stays ${"long ".repeat(1_000)}`);
    await deleteMemory(store.ports, { id: await add("goes") });
    await store.opened.checkpointer.flush();
    const plenty = 2 ** 40;
    disk.limit(plenty);
    disk.limit(plenty - (await disk.freeBytes(store.directory)) + 1_000);
    await expect(erase(store)).rejects.toMatchObject({
      code: "STORE_FULL",
      message: expect.stringMatching(/Nothing was changed/),
    });
    expect(store.opened.checkpointer.latest?.tables.every(({ name }) => name.endsWith("-g1"))).toBe(true);
    expect((await store.ports.store.readMemories([id])).size).toBe(1);
    disk.limit(undefined);
    await erase(store);
    expect((await store.ports.store.readMemories([id])).size).toBe(1);
  });

  it.each([
    /^create CHECKPOINT/,
    /^rename CHECKPOINT/,
    /^sync .*\.lance/,
    /^sync-folder data/,
    /^remove .*\.lance/,
    /^rmdir /,
  ])("keeps everything when %s fails, and erases at the next try or start", async (step) => {
    await store.close();
    const disk = await createFaultyDisk(store.directory, { foreignFolders: ["tables"] });
    store = await store.reopen({ disk, limits: { freeBytes: 0 } });
    Object.assign(store.ports, { ids: { newId: marker } });
    const [text, gone] = [marker(), marker()];
    const id = await add(text);
    await deleteMemory(store.ports, { id: await add(gone) });
    await store.opened.checkpointer.flush();
    disk.failAt(step, "EIO");
    await expect(erase(store)).rejects.toThrow();
    expect(store.opened.purge.waiting).toMatchObject({ items: 1 });
    expect((await store.ports.store.readMemories([id])).get(id)?.content).toBe(text);
    const later = await add("afterwards");
    disk.heal();
    if (store.opened.checkpointer.stopped !== undefined) {
      await store.close();
      store = await store.reopen({ limits: { freeBytes: 0 } });
    }
    await erase(store);
    const left = await readEveryByte(store.directory);
    expect(placesOf(gone, left)).toEqual([]);
    expect(left.unseen).toEqual([]);
    await store.close();
    store = await store.reopen({ limits: { freeBytes: 0 } });
    expect((await store.ports.store.readMemories([id, later])).size).toBe(2);
  });
});
