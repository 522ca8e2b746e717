import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import type { MemoryRow } from "../../../src/core/rows.ts";
import { type Disk, nodeDisk } from "../../../src/storage/files/disk.ts";
import { TextFile } from "../../../src/storage/image/text-file.ts";
import { erase } from "../../support/store-survival.ts";
import { placesOf, readEveryByte } from "../../support/every-byte.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../../support/store-on-disk.ts";

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "memoryd-texts-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const path = () => join(directory, "TEXTS");

interface Memory {
  readonly id: string;
  readonly order: number;
  readonly createdAt: number;
  updatedAt: number;
  version: number;
  content: string;
  isGone?: boolean;
}

/** Memories with texts of 1 to 3 lines, a file beside them and what was read from the tables. */
function memoriesOf(count: number, { key = "store", disk = nodeDisk, roomNeeded = 0 } = {}) {
  const memories: Memory[] = [];
  const contentOf = (seed: number, lines: number) => `${seed} `.repeat(lines * 40);
  let order = 0;
  const add = () => {
    order += 2;
    memories.push({
      id: `m${order}`,
      order,
      createdAt: 7,
      updatedAt: 7,
      version: 1,
      content: contentOf(order, 1 + (order % 3)),
    });
  };
  for (let i = 0; i < count; i += 1) add();
  const live = (ordinal: number) => (memories[ordinal]?.isGone === true ? undefined : memories[ordinal]);
  const ordinalOf = (id: string) => {
    const ordinal = memories.findIndex((memory) => memory.id === id);
    return live(ordinal) === undefined ? undefined : ordinal;
  };
  const warnings: string[] = [];
  const present = { key };
  const newFile = () =>
    new TextFile({
      disk,
      directory,
      catalogue: {
        get size() {
          return memories.length;
        },
        get ordinals() {
          return memories.length;
        },
        ordinalOf,
        idAt: (ordinal) => live(ordinal)?.id,
        numberAt: (ordinal, name) => memories[ordinal]?.[name] ?? 0,
      },
      store: { key: present.key },
      roomNeeded: () => roomNeeded,
      log: { warn: (_, phrase) => warnings.push(phrase) },
      from: 0,
      blockRows: 3,
    });
  const read = vi.fn(async (ids: readonly string[]) => {
    const rows = ids.flatMap((id) => memories.filter((memory) => memory.id === id));
    return new Map(rows.map(({ id, content }) => [id, { id, content } as MemoryRow]));
  });
  const source = {
    read,
    settled: (ids: readonly string[]): readonly string[] | undefined => ids,
    until: new AbortController().signal,
  };
  /** Reads all, each right; answers how many were in the file. */
  const check = async (file: TextFile) => {
    const wanted = memories.filter(({ isGone }) => isGone !== true);
    const found = new Map<string, MemoryRow>();
    const ids = wanted.map(({ id }) => id);
    const rest = await file.read(ids, found);
    expect([...rest, ...found.keys()].sort()).toEqual(ids.sort());
    for (const { id, content } of wanted) {
      if (found.has(id)) expect(found.get(id)?.content).toEqual(content);
    }
    return found.size;
  };
  return { memories, add, newFile, source, check, warnings, present, contentOf };
}

describe("a file of texts", () => {
  it("has the rows once it was filled, and after a restart without reading them again", async () => {
    const { memories, add, newFile, source, check } = memoriesOf(7);
    const file = newFile();
    expect(await check(file)).toBe(0);
    expect(await file.extend(source)).toBe(true);
    expect(await check(file)).toBe(7);
    add();
    add();
    expect(await file.extend(source)).toBe(false);
    add();
    expect(await file.extend(source)).toBe(true);
    expect(await check(file)).toBe(10);
    await file.close();
    // An open deals out the ordinals anew.
    memories.splice(9, 1);
    memories.splice(2, 3);
    for (let i = 0; i < 4; i += 1) add();
    source.read.mockClear();
    const again = newFile();
    await again.extend(source);
    expect(await check(again)).toBe(10);
    expect(source.read.mock.calls.flat(2)).toEqual(memories.slice(6).map(({ id }) => id));
    await again.close();
  });

  it("leaves a memory that has changed to the tables, and is not damaged by it", async () => {
    const { memories, newFile, source, check, warnings, contentOf } = memoriesOf(7);
    const file = newFile();
    await file.extend(source);
    const changed = memories[3];
    if (changed === undefined) throw new Error("there are seven");
    [changed.version, changed.content] = [2, contentOf(99, 2)];
    expect(await check(file)).toBe(6);
    changed.isGone = true;
    expect(await check(file)).toBe(6);
    expect(warnings).toEqual([]);
    await file.close();
  });

  it("says that it is made again where a memory has other times and the same version", async () => {
    const { memories, newFile, source, warnings } = memoriesOf(7);
    const file = newFile();
    await file.extend(source);
    if (memories[3] !== undefined) memories[3].updatedAt = 5;
    expect(await file.read(["m8"], new Map())).toEqual(["m8"]);
    expect(warnings).toEqual(["TEXTS does not fit the store and is made again"]);
    await file.close();
  });

  it("takes no row of a memory that changes while it is read", async () => {
    const { memories, newFile, source, check } = memoriesOf(7);
    const file = newFile();
    let isDeciding = true;
    source.settled = (ids) => (isDeciding ? undefined : ids.filter((id) => id !== "m14"));
    await file.extend(source);
    expect(await check(file)).toBe(0);
    isDeciding = false;
    const { read } = source;
    source.read = vi.fn(async (ids: readonly string[]) => {
      const rows = await read(ids);
      const [first, second] = memories;
      // One is shown meanwhile, and one deleted; another is staged all the time.
      if (first !== undefined) first.version = 2;
      if (second !== undefined) second.isGone = true;
      return rows;
    });
    await file.extend(source);
    expect(await check(file)).toBe(4);
    await file.close();
  });

  it("gives no wrong row and comes to have all again, wherever it is damaged or cut", async () => {
    const { newFile, source, check } = memoriesOf(7);
    const file = newFile();
    await file.extend(source);
    await file.close();
    const whole = readFileSync(path());
    for (const at of [0, 3, 10, 90, 400, whole.length >> 1, whole.length - 200, whole.length - 1]) {
      for (const damaged of [Buffer.from(whole), whole.subarray(0, at), Buffer.from(whole).fill(0, at)]) {
        if (at < damaged.length) damaged[at] = (damaged[at] ?? 0) ^ 1;
        writeFileSync(path(), damaged);
        const again = newFile();
        await again.extend(source);
        await vi.waitFor(async () => {
          await again.extend(source);
          expect(await check(again)).toBe(7);
        });
        await again.close();
      }
    }
  });

  it("of another store is not read", async () => {
    const { newFile, source, check, present } = memoriesOf(7);
    const file = newFile();
    await file.extend(source);
    await file.close();
    present.key = "other";
    const other = newFile();
    source.read.mockClear();
    await other.extend(source);
    expect(source.read).toHaveBeenCalled();
    expect(await check(other)).toBe(7);
    await other.close();
  });

  it("is gone after clearing, also in the middle of filling, and can be made again", async () => {
    const { newFile, source, check } = memoriesOf(7);
    const file = newFile();
    await file.extend(source);
    await file.clear();
    expect([existsSync(path()), await check(file)]).toEqual([false, 0]);
    const { read } = source;
    let cleared: Promise<void> | undefined;
    source.read = vi.fn(async (ids: readonly string[]) => {
      cleared = file.clear();
      return read(ids);
    });
    await file.extend(source);
    await cleared;
    expect([existsSync(path()), await check(file)]).toEqual([false, 0]);
    source.read = read;
    await file.extend(source);
    expect(await check(file)).toBe(7);
    await file.close();
  });

  it("is not kept where the disk has no room or takes nothing", async () => {
    const full: Disk = {
      ...nodeDisk,
      async open(...given) {
        const opened = await nodeDisk.open(...given);
        const write = () => Promise.reject(Object.assign(new Error("no space"), { code: "ENOSPC" }));
        return { ...opened, write };
      },
    };
    for (const options of [{ roomNeeded: 2 ** 60 }, { disk: full }]) {
      const { newFile, source, check, warnings } = memoriesOf(7, options);
      const file = newFile();
      expect(await file.extend(source)).toBe(true);
      expect([existsSync(path()), await check(file)]).toEqual([false, 0]);
      expect(await file.extend(source)).toBe(false);
      expect(warnings).toEqual(["TEXTS is not used"]);
      await file.close();
    }
  });

  it("is made again once more than a quarter of its memories have changed, also before a restart", async () => {
    for (const restarts of [false, true]) {
      const { memories, newFile, source, check, contentOf, warnings } = memoriesOf(9);
      let file = newFile();
      await file.extend(source);
      const change = (ordinal: number) => {
        const memory = memories[ordinal];
        if (memory !== undefined) [memory.version, memory.content] = [2, contentOf(99 + ordinal, 2)];
      };
      change(1);
      change(4);
      for (let times = 0; times < 3; times += 1) expect(await check(file)).toBe(7);
      expect(await file.extend(source)).toBe(false);
      change(7);
      if (restarts) {
        await file.close();
        file = newFile();
        await file.extend(source);
      }
      expect(await check(file)).toBe(6);
      expect(await file.extend(source)).toBe(true);
      expect(await check(file)).toBe(9);
      expect(await file.extend(source)).toBe(false);
      expect(warnings).toEqual([]);
      await file.clear();
    }
  });

  it("is made again at a start where it was made without more than a quarter of the memories", async () => {
    const { newFile, source, check } = memoriesOf(9);
    const settled = vi.spyOn(source, "settled").mockImplementation((ids) => ids.slice(3));
    const file = newFile();
    await file.extend(source);
    expect(await check(file)).toBe(6);
    await file.close();
    const again = newFile();
    await again.extend(source);
    expect(await check(again)).toBe(6);
    await again.close();
    settled.mockRestore();
    const last = newFile();
    await last.extend(source);
    expect(await check(last)).toBe(9);
    await last.close();
  });

  it("gives the rows that it began to read, though it is cleared meanwhile", async () => {
    const state = { isCleared: Promise.resolve(), release: () => {} };
    const disk: Disk = {
      ...nodeDisk,
      async open(...given) {
        const opened = await nodeDisk.open(...given);
        const readSync = (into: Uint8Array, position: number) => {
          const end = performance.now() + 6;
          while (performance.now() < end);
          return opened.readSync(into, position);
        };
        const read = async (into: Uint8Array, position: number) => {
          const length = await opened.read(into, position);
          await state.isCleared;
          return length;
        };
        return { ...opened, readSync, read };
      },
    };
    const { newFile, source, check } = memoriesOf(7, { disk });
    const file = newFile();
    await file.extend(source);
    state.isCleared = new Promise((resolve) => (state.release = resolve));
    const checked = check(file);
    await file.clear();
    state.release();
    expect(await checked).toBe(7);
    await file.close();
  });

  it("is read in other threads where the disk is slow, and not at all where it fails", async () => {
    const state = { slow: true };
    const disk: Disk = {
      ...nodeDisk,
      async open(...given) {
        const opened = await nodeDisk.open(...given);
        const readSync = (into: Uint8Array, position: number) => {
          if (!state.slow) throw new Error("the disk is gone");
          const end = performance.now() + 6;
          while (performance.now() < end);
          return opened.readSync(into, position);
        };
        return { ...opened, readSync };
      },
    };
    const { newFile, source, check } = memoriesOf(7, { disk });
    const file = newFile();
    await file.extend(source);
    expect(await check(file)).toBe(7);
    state.slow = false;
    expect(await check(file)).toBe(0);
    await file.close();
  });
});

describe("a store with a file of texts", () => {
  let store: StoreOnDisk;
  beforeEach(async () => {
    store = await createStoreOnDisk({ limits: { freeBytes: 0 }, texts: { from: 0, blockRows: 3 } });
  });
  afterEach(async () => {
    await store.close();
    store.removeDirectory();
  });

  const add = async (content: string) => (await addMemory(store.ports, { content })).memory.id;
  const texts = () => join(store.directory, "TEXTS");
  const bytesOf = () => (existsSync(texts()) ? statSync(texts()).size : 0);
  /** Asks until the file has grown, as questions do. */
  const fill = async (ids: readonly string[], before = bytesOf()) => {
    await vi.waitFor(async () => {
      await store.opened.store.readTokens(ids);
      expect(bytesOf()).toBeGreaterThan(before);
    });
  };

  it("answers as before through changes, deletions and restarts", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await add(`tea number ${i} in the garden`));
    const readAll = async () => [
      await store.opened.store.readTokens(ids),
      await store.opened.store.readMemories(ids),
    ];
    const all = await readAll();
    await fill(ids);
    expect(await readAll()).toEqual(all);
    const [changed = "", gone = "", tagged = ""] = ids;
    await updateMemory(store.ports, { id: changed, content: "coffee on the roof" });
    await updateMemory(store.ports, { id: tagged, tags: ["green"], metadata: { cup: [1, null] } });
    await deleteMemory(store.ports, { id: gone });
    const live = await readAll();
    for (const [i, rows] of live.entries()) {
      expect([rows.has(gone), rows.size]).toEqual([false, 5]);
      expect(rows.get(changed)).not.toEqual(all[i]?.get(changed));
    }
    for (const flushes of [true, false]) {
      if (flushes) await store.opened.checkpointer.flush();
      await store.close();
      store = await store.reopen();
      const before = bytesOf();
      // One that has followed another asks as well.
      for (const thing of ["kettle", "cup", "spoon"]) await add(`a ${thing}, ${flushes}`);
      await fill(ids, before);
      expect(await readAll()).toEqual(live);
    }
    expect(store.warnings).toEqual([]);
  });

  it("has nothing of a deleted memory in it once that is purged, whether it was opened since or not", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await add(`tea number ${i} in the garden`));
    await fill(ids);
    for (const isOpened of [true, false]) {
      const gone = ids.pop() ?? "";
      const text = (await store.opened.store.readMemories([gone])).get(gone)?.content ?? "";
      // The last of them is in the second block.
      await vi.waitFor(() => expect(readFileSync(texts()).includes(text)).toBe(true));
      await deleteMemory(store.ports, { id: gone });
      if (!isOpened) {
        await store.close();
        store = await store.reopen();
      }
      await erase(store);
      expect(existsSync(texts())).toBe(false);
      await fill(ids);
      expect(readFileSync(texts()).includes(text)).toBe(false);
    }
  });

  it("purges all but a file that cannot be removed, names it, and begins again once that is gone", async () => {
    await add("a cup of tea");
    const canary = "q7x".repeat(12);
    await deleteMemory(store.ports, { id: await add(`the word is ${canary}`) });
    await store.opened.checkpointer.flush();
    for (const name of ["TEXTS", "INDEXES"]) {
      const folder = join(store.directory, name);
      rmSync(folder, { force: true });
      mkdirSync(join(folder, "inner"), { recursive: true });
      await expect(erase(store)).rejects.toMatchObject({
        code: "INTERNAL",
        message: expect.stringContaining(`${folder} cannot be removed`),
      });
      expect(placesOf(canary, await readEveryByte(store.directory))).toEqual([]);
      expect(store.opened.purge.waiting).toBeDefined();
      rmSync(folder, { recursive: true });
    }
    await erase(store);
    expect(store.opened.purge.waiting).toBeUndefined();
  });
});
