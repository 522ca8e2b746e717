import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import type { Change } from "../../../src/core/rows.ts";
import { type Disk, listFilesBelow, nodeDisk } from "../../../src/storage/files/disk.ts";
import { RowFiles } from "../../../src/storage/tables/row-files.ts";
import { TEXTS, TOKENS, TABLE_SPECS } from "../../../src/storage/tables/specs.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../../support/store-on-disk.ts";
import { erase } from "../../support/store-survival.ts";
import { seededRandom } from "../../support/seeded-random.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "memoryd-tokens-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Memories by the order of adding, as a catalogue has them. */
class Memories {
  ids: (string | undefined)[] = [];
  orders: number[] = [];

  get ordinals() {
    return this.ids.length;
  }
  ordinalOf = (id: string) => (this.ids.includes(id) ? this.ids.indexOf(id) : undefined);
  idAt = (ordinal: number) => this.ids[ordinal];
  isLive = (ordinal: number) => this.ids[ordinal] !== undefined;
  orderAt = (ordinal: number) => this.orders[ordinal] ?? 0;

  add(id: string): void {
    this.ids.push(id);
    this.orders.push((this.orders.at(-1) ?? 0) + 3);
  }
  delete(id: string): void {
    this.ids[this.ids.indexOf(id)] = undefined;
  }
  /** As a start deals out the ordinals. */
  again(): this {
    this.orders = this.orders.filter((_, ordinal) => this.isLive(ordinal));
    this.ids = this.ids.filter((id) => id !== undefined);
    return this;
  }
}

const vectors = (seed: number) =>
  Int8Array.from({ length: 128 * (seed % 4) }, (_, i) => (seed * 31 + i) % 127);
const put = (id: string, seed: number, stamp = "s"): Change => ({
  table: "tokens",
  id,
  row: { vectors: vectors(seed), stamp },
});

function tableOf(tokens: RowFiles<"tokens">) {
  const { state, paths } = tokens.table ?? { state: { name: "tokens-g1" }, paths: [] };
  const files = paths.map((path) => ({ path, size: statSync(join(folder, path)).size, crc32: 0 }));
  return { ...state, files };
}

async function reopened(tokens: RowFiles<"tokens">, memories: Memories): Promise<RowFiles<"tokens">> {
  const table = tableOf(tokens);
  await tokens.close();
  const again = await RowFiles.open(TOKENS, nodeDisk, folder, table);
  again.place(memories.again());
  return again;
}

async function filled(count: number, disk: Disk = nodeDisk) {
  const memories = new Memories();
  const tokens = new RowFiles(TOKENS, disk, folder);
  tokens.place(memories);
  for (let i = 0; i < count; i += 1) memories.add(`m${i}`);
  await tokens.apply(memories.ids.map((id, i) => put(id ?? "", i)));
  return { memories, tokens };
}

describe("files of token vectors", () => {
  it("have what was last written of every memory, through changes, deletions, rewriting and restarts", async () => {
    const random = seededRandom(7);
    const memories = new Memories();
    const wanted = new Map<string, Change["row"]>();
    let tokens = new RowFiles(TOKENS, nodeDisk, folder);
    tokens.place(memories);
    for (let round = 0; round < 60; round += 1) {
      const changes = new Map<string, Change>();
      for (let i = 0; i < 1 + random() * 8; i += 1) {
        const known = [...wanted.keys()];
        const id = random() < 0.5 ? `m${round}-${i}` : (known[Math.floor(random() * known.length)] ?? "m");
        if (random() < 0.2 && wanted.delete(id)) {
          memories.delete(id);
          changes.set(id, { table: "tokens", id, row: null });
          continue;
        }
        if (memories.ordinalOf(id) === undefined) memories.add(id);
        const change = put(id, Math.floor(random() * 1_000), random() < 0.1 ? "other" : "s");
        wanted.set(id, change.row);
        changes.set(id, change);
      }
      await tokens.apply([...changes.values()]);
      if (round % 7 === 3) await tokens.rewrite();
      if (round % 5 === 4) tokens = await reopened(tokens, memories);
      const ids = [...wanted.keys()];
      expect(await tokens.read([...ids, "never"])).toEqual(wanted);
      expect(ids.every((id) => tokens.has(memories.ordinalOf(id) ?? -1))).toBe(true);
    }
    // Few, however often there was something to write.
    expect(tokens.usage.files).toBeLessThan(14);
    await tokens.close();
  });

  it("are never changed: what a checkpoint names stays as it was while more is written", async () => {
    const { memories, tokens } = await filled(40);
    const before = tableOf(tokens);
    const bytes = before.files.map(({ path }) => readFileSync(join(folder, path)));
    for (let i = 0; i < 5; i += 1) await tokens.apply([put("m1", 100 + i), put(`m${i + 10}`, 50 + i)]);
    await tokens.rewrite();
    for (const [i, { path }] of before.files.entries())
      expect(readFileSync(join(folder, path)).equals(bytes[i] ?? Buffer.alloc(0))).toBe(true);
    await tokens.close();
    const older = await RowFiles.open(TOKENS, nodeDisk, folder, before);
    older.place(memories);
    expect((await older.read(["m1"])).get("m1")?.vectors).toEqual(vectors(1));
    await older.close();
  });

  it("keep the newest row of each where two writings that merge the same file are asked for at once", async () => {
    const { memories, tokens } = await filled(40);
    const others = memories.ids.slice(2).map((id) => put(id ?? "", 403));
    await Promise.all([tokens.apply([put("m1", 201)]), tokens.apply(others)]);
    const again = await reopened(tokens, memories);
    expect((await again.read(["m1"])).get("m1")?.vectors).toEqual(vectors(201));
    await again.close();
  });

  it("are read over those of the question before, but never over those of one that goes on", async () => {
    const { memories, tokens } = await filled(40);
    const ids = memories.ids.map((id) => id ?? "");
    const expectRows = (found: ReadonlyMap<string, { readonly vectors: Int8Array }>, from: number) => {
      for (let i = from; i < from + 10; i += 1) expect(found.get(`m${i}`)?.vectors).toEqual(vectors(i));
    };
    const turn = () => new Promise((done) => setImmediate(done));
    const bufferOf = async () => (await tokens.read(ids)).get("m1")?.vectors.buffer;
    const kept = await bufferOf();
    for (let round = 0; round < 3; round += 1) {
      await turn();
      expect(await bufferOf()).toBe(kept);
      const [first, second, none] = await Promise.all([
        tokens.read(ids.slice(0, 10)),
        tokens.read(ids.slice(10, 20)),
        tokens.read([]),
      ]);
      expectRows(first, 0);
      expectRows(second, 10);
      expect(none.size).toBe(0);
      await turn();
      expectRows(await tokens.read(ids.slice(20, 30)), 20);
    }
    await tokens.close();
  });

  it("are checked again where they stand in another file, and give nothing of others where a file was cut since", async () => {
    const { memories, tokens } = await filled(40);
    const ids = memories.ids.map((id) => id ?? "");
    expect((await tokens.read(ids)).size).toBe(40);
    await tokens.rewrite();
    const path = tableOf(tokens).files[0]?.path ?? "";
    const whole = readFileSync(join(folder, path));
    writeFileSync(join(folder, path), Buffer.from(whole).fill(0xff, 0, 8));
    expect((await tokens.read(ids)).has("m0")).toBe(false);
    writeFileSync(join(folder, path), whole);
    expect((await tokens.read(ids)).size).toBe(40);
    truncateSync(join(folder, path), 0);
    for (const { vectors: bytes } of (await tokens.read(ids)).values())
      expect(bytes.every((one) => one === 0)).toBe(true);
    await tokens.close();
  });

  it("complete texts that are older than a field of memories", () => {
    const older = Buffer.from(JSON.stringify({ content: "a text" }));
    expect(TEXTS.decode(older, "")).toEqual({ content: "a text", ...TABLE_SPECS.memories.missing });
    expect(TABLE_SPECS.memories.missing).not.toEqual({});
  });

  it("give no wrong vectors wherever they are damaged or cut", async () => {
    const { memories, tokens } = await filled(30);
    const table = tableOf(tokens);
    await tokens.close();
    const path = join(folder, table.files[0]?.path ?? "");
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at += 1 + (whole.length >> 6)) {
      for (const damaged of [Buffer.from(whole), whole.subarray(0, at), Buffer.from(whole).fill(0, at)]) {
        if (at < damaged.length) damaged[at] = (damaged[at] ?? 0) ^ 1;
        writeFileSync(path, damaged);
        const again = await RowFiles.open(TOKENS, nodeDisk, folder, table).catch(() => undefined);
        again?.place(memories);
        const found = (await again?.read(memories.ids.map((id) => id ?? ""))) ?? new Map();
        for (const [id, row] of found) expect(row).toEqual(put(id, memories.ordinalOf(id) ?? -1).row);
        await again?.close();
      }
    }
    // A row that is damaged is not carried on, so that it is made again.
    writeFileSync(path, Buffer.from(whole).fill(1, 8, 20));
    let again = await RowFiles.open(TOKENS, nodeDisk, folder, table);
    again.place(memories);
    await again.rewrite();
    again = await reopened(again, memories);
    const lacking = memories.ids.filter((_, ordinal) => !again.has(ordinal));
    expect(lacking.length).toBeGreaterThan(0);
    expect(lacking.length).toBeLessThan(5);
    expect((await again.read(memories.ids.map((id) => id ?? ""))).size).toBe(30 - lacking.length);
    await again.close();
  });

  it("are as before where the disk fails at any step, and leave nothing half-written", async () => {
    const state = { left: Infinity };
    const step = () => {
      state.left -= 1;
      if (state.left < 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    };
    const disk: Disk = {
      ...nodeDisk,
      async open(...given) {
        step();
        const file = await nodeDisk.open(...given);
        return {
          ...file,
          write: async (bytes, position) => {
            step();
            await file.write(bytes, position);
          },
        };
      },
    };
    const { memories, tokens } = await filled(20, disk);
    for (let steps = 0, done = false; !done; steps += 1) {
      state.left = steps;
      const writing = steps % 2 === 0 ? tokens.apply([put("m3", 500), put("m4", 501)]) : tokens.rewrite();
      done = await writing.then(
        () => true,
        () => false,
      );
      state.left = Infinity;
      if (done) break;
      expect((await tokens.read(["m3"])).get("m3")?.vectors).toEqual(vectors(3));
      expect(await listFilesBelow(nodeDisk, folder)).toEqual([...(tokens.table?.paths ?? [])]);
      expect((await tokens.read(memories.ids.map((id) => id ?? ""))).size).toBe(20);
    }
    await tokens.close();
  });

  it("do not keep much of what was replaced", async () => {
    const { memories, tokens } = await filled(100);
    const bytes = () =>
      tokens.table?.paths.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0) ?? 0;
    const before = bytes();
    for (let round = 0; round < 30; round += 1)
      await tokens.apply(memories.ids.slice(round, round + 10).map((id) => put(id ?? "", 1_000 + round)));
    expect(bytes()).toBeLessThan(1.6 * before);
    await tokens.close();
  });
});

describe("a store's token vectors", () => {
  let store: StoreOnDisk;
  beforeEach(async () => {
    store = await createStoreOnDisk({ limits: { freeBytes: 0 } });
  });
  afterEach(async () => {
    await store.close();
    store.removeDirectory();
  });
  const add = async (content: string) => (await addMemory(store.ports, { content })).memory.id;
  const read = async (...ids: string[]) => store.opened.store.readTokens(ids);
  const tokenFiles = async () =>
    (await listFilesBelow(nodeDisk, store.directory)).filter((path) => path.includes("tokens-"));
  const holds = async (bytes: Int8Array | undefined) =>
    (await tokenFiles()).some((path) =>
      readFileSync(join(store.directory, path)).includes(Buffer.from(bytes ?? [])),
    );

  it("are in no file any more once a memory is deleted or changed, and purged", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await add(`tea${i} in garden${i}`));
    const [gone = "", changed = "", ...kept] = ids;
    await store.opened.checkpointer.flush();
    const rows = structuredClone(await read(...ids));
    expect([await holds(rows.get(gone)?.vectors), await holds(rows.get(changed)?.vectors)]).toEqual([
      true,
      true,
    ]);
    await deleteMemory(store.ports, { id: gone });
    await updateMemory(store.ports, { id: changed, content: "coffee on roof" });
    await erase(store);
    for (const [id, { vectors: bytes }] of rows) expect(await holds(bytes)).toBe(kept.includes(id));
    const now = await read(...ids);
    await store.close();
    store = await store.reopen();
    expect(await read(...ids)).toEqual(now);
    expect([...now.keys()].sort()).toEqual([changed, ...kept].sort());
  });

  it("stand in files that nothing but a checkpoint names", async () => {
    await add("a cup of tea");
    await store.opened.checkpointer.flush();
    await store.close();
    store = await store.reopen();
    const { tables = [] } = store.opened.checkpointer.latest ?? {};
    const named = tables.flatMap(({ name, files }) => (name.startsWith("tokens-") ? files : []));
    expect(await tokenFiles()).toEqual(named.map(({ path }) => `tables/${path}`));
    expect(store.warnings).toEqual([]);
  });
});

describe("a store's copies of texts", () => {
  let store: StoreOnDisk;
  beforeEach(async () => {
    store = await createStoreOnDisk({ limits: { freeBytes: 0 } });
  });
  afterEach(async () => {
    await store.close();
    store.removeDirectory();
  });
  const add = async (content: string) => (await addMemory(store.ports, { content })).memory.id;
  const restart = async () => {
    await store.close();
    store = await store.reopen();
  };
  const paths = () =>
    (store.opened.checkpointer.latest?.tables ?? [])
      .flatMap(({ files }) => files)
      .filter(({ path }) => path.startsWith("texts-"))
      .map(({ path }) => join(store.directory, "tables", path));

  it("answer as the tables do through changes, deletions and restarts", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await add(`tea number ${i} in the garden`));
    const [changed = "", gone = "", tagged = ""] = ids;
    for (const flushes of [true, false, true]) {
      if (flushes) await store.opened.checkpointer.flush();
      await updateMemory(store.ports, { id: changed, content: `coffee on the roof, ${flushes}` });
      await updateMemory(store.ports, { id: tagged, tags: ["green"], metadata: { cup: [1, null] } });
      if (!flushes) await deleteMemory(store.ports, { id: gone });
      const live = await store.opened.store.readMemories(ids);
      await restart();
      expect(await store.opened.store.readMemories(ids)).toEqual(live);
      await store.opened.checkpointer.flush();
      expect(await store.opened.store.readMemories(ids)).toEqual(live);
    }
    expect(store.warnings).toEqual([]);
  });

  it("are made again from the table where they are gone, and read there where they are damaged", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await add(`tea number ${i} in the garden`));
    await store.opened.checkpointer.flush();
    // So that both checkpoints name it.
    await store.opened.checkpointer.note();
    const live = await store.opened.store.readMemories(ids);
    const [path = ""] = paths();
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.from(whole).fill(1, 8, 40));
    expect(await store.opened.store.readMemories(ids)).toEqual(live);
    await store.close();
    rmSync(path);
    store = await store.reopen();
    expect(await store.opened.store.readMemories(ids)).toEqual(live);
    expect(paths().some((made) => readFileSync(made).includes("tea number 0"))).toBe(true);
  });

  it("have nothing of a deleted or changed memory once that is purged, whether it was opened since or not", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await add(`tea number ${i} in the garden`));
    await store.opened.checkpointer.flush();
    const has = (text: string) => paths().some((path) => readFileSync(path).includes(text));
    for (const isOpened of [true, false]) {
      const [gone, changed] = [ids.pop() ?? "", ids.pop() ?? ""];
      expect([has(`number ${ids.length}`), has(`number ${ids.length + 1}`)]).toEqual([true, true]);
      await deleteMemory(store.ports, { id: gone });
      await updateMemory(store.ports, { id: changed, content: "coffee on the roof" });
      if (!isOpened) await restart();
      await erase(store);
      expect(has("number 0")).toBe(true);
      expect([has(`number ${ids.length}`), has(`number ${ids.length + 1}`)]).toEqual([false, false]);
    }
  });
});
