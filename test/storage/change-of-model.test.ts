import { restoreVersion } from "../../src/core/history/memory-history.ts";
import { restoreFromTrash } from "../../src/core/history/restore-from-trash.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { stampKey } from "../../src/core/embedding.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { remake } from "../../src/core/memories/remake.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import type { Embedder } from "../../src/core/ports.ts";
import { queryMemory } from "../../src/core/recall/query-memory.ts";
import { createFakeEmbedder } from "../support/fake-embedder.ts";
import { createMemoryWorld, type MemoryWorld } from "../support/memory-world.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const first = createFakeEmbedder();
const second = createFakeEmbedder("second");

let world: MemoryWorld;
let store: StoreOnDisk;
/** What each memory says, by its id. */
const texts = new Map<string, string>();
const STOPPED = new Error("stopped");

const withEmbedder = (embedder: Embedder): MemoryWorld => ({
  ...world,
  embedder: { ...createFakeEmbedder(), ...embedder },
  ports: { ...world.ports, embedder },
});

async function add(content: string): Promise<void> {
  texts.set((await addMemory(store.ports, { content })).memory.id, content);
}

/** As after a kill: what was not brought into the tables comes from the journal. */
async function reopen(embedder: Embedder = second): Promise<void> {
  await store.close();
  store = await openStoreOnDisk(store.directory, withEmbedder(embedder), { changesModel: true });
}

/** Makes vectors of the second model, of so many memories at least. */
async function makeSome(count: number): Promise<void> {
  const { followUps } = world;
  const { signal } = new AbortController();
  const before = [...store.opened.store.lackingVectors()].length;
  const onProgress = (left: number) => {
    if (before - left >= count) throw STOPPED;
  };
  await remake({ store: store.opened.store, embedder: second, followUps, signal, onProgress }).catch(
    (error: unknown) => {
      if (error !== STOPPED) throw error;
    },
  );
}

/** Every memory is found by what it says: by vectors of the store's model, or by words where it has none yet; none that is gone. */
async function expectAllFound(): Promise<void> {
  const { catalogue } = store.ports.store;
  const lacking = new Set(store.opened.store.lackingVectors());
  for (const [id, text] of texts) {
    const { vector } = await store.ports.embedder.embedQuestion(text);
    const score = store.ports.store.scoreVectors(vector).of(catalogue.find(id)?.ordinal ?? -1);
    if (lacking.has(id)) expect(score).toBe(0);
    else expect(score).toBeGreaterThan(0.95);
  }
  for (const [id, text] of [...texts].filter((_, i) => i % 7 === 0)) {
    const { hits } = await queryMemory(store.ports, { query: text, limit: 3, filter: {}, explain: true });
    const hit = hits.find(({ memory }) => memory.id === id);
    expect(hit?.explain?.[lacking.has(id) ? "words" : "tokens"]).toBeGreaterThan(0.05);
  }
  expect(catalogue.size).toBe(texts.size);
}

const stamps = () => Object.keys(store.opened.checkpointer.latest?.stamps ?? {});

beforeEach(async () => {
  texts.clear();
  world = createMemoryWorld();
  store = await openStoreOnDisk(mkdtempSync(join(tmpdir(), "memoryd-model-")), world);
  for (let i = 0; i < 60; i += 1)
    await add(`Note ${i} tells of thing${i} in town${i % 7} beside river${i % 11}`);
  await store.opened.checkpointer.flush();
  for (let i = 60; i < 80; i += 1) await add(`Note ${i} tells of thing${i}`);
});
afterEach(async () => {
  await store.close();
  store.removeDirectory();
});

it("serves every memory through kills, writes and purges, until all have vectors of the new model", async () => {
  await store.opened.store.changeModel(second.stamp);
  expect(stamps()).toEqual([stampKey(second.stamp), stampKey(first.stamp)]);
  await reopen();
  await expectAllFound();
  for (const step of ["write", "kill", "purge", "kill"]) {
    await makeSome(16);
    await add(`Added at ${step} ${texts.size}`);
    // The last to be made again, and one that is already.
    for (const id of [
      [...store.opened.store.lackingVectors()].at(-1) ?? "",
      [...texts.keys()].at(-1) ?? "",
    ]) {
      const content = `${texts.get(id)} changed`;
      await updateMemory(store.ports, { id, content });
      texts.set(id, content);
    }
    const [gone = ""] = texts.keys();
    await deleteMemory(store.ports, { id: gone });
    texts.delete(gone);
    if (step === "kill") await reopen();
    if (step === "purge") {
      const originals = { listUnneeded: async () => [], removeUnneeded: async () => [] };
      await store.opened.purge.run({ originals });
      await reopen();
    }
    await expectAllFound();
  }
  await makeSome(Infinity);
  expect([...store.opened.store.lackingVectors()]).toEqual([]);
  await store.opened.store.modelChanged();
  expect(stamps()).toEqual([stampKey(second.stamp)]);
  await store.close();
  store = await openStoreOnDisk(store.directory, withEmbedder(second));
  await expectAllFound();
});

it("brings back what was changed and deleted under the model before, embedded with the new one", async () => {
  const [gone = "", changed = ""] = texts.keys();
  await deleteMemory(store.ports, { id: gone, trash: true });
  await updateMemory(store.ports, { id: changed, content: "something else" });
  await store.opened.store.changeModel(second.stamp);
  await reopen();
  await makeSome(Infinity);
  await restoreFromTrash(store.ports, { id: gone });
  await restoreVersion(store.ports, { id: changed, version: 1 });
  expect([...store.opened.store.lackingVectors()]).toEqual([]);
  await expectAllFound();
});

it("changes to a third model or back half way", async () => {
  const third = createFakeEmbedder("third");
  await store.opened.store.changeModel(second.stamp);
  await makeSome(16);
  await store.opened.store.changeModel(third.stamp);
  expect([...store.opened.store.lackingVectors()]).toHaveLength(texts.size);
  await reopen(third);
  await expectAllFound();
  await store.opened.store.changeModel(first.stamp);
  await reopen(first);
  // What was not replaced meanwhile has its vectors yet.
  expect([...store.opened.store.lackingVectors()]).toHaveLength(16);
  await expectAllFound();
});

it("makes again what was embedded before the change and written after it", async () => {
  await store.opened.store.changeModel(second.stamp);
  await makeSome(Infinity);
  let woken = 0;
  store.opened.store.vectors.onForeign = () => (woken += 1);
  await add("Embedded by the first model");
  expect([woken, [...store.opened.store.lackingVectors()].length]).toEqual([1, 1]);
  await makeSome(Infinity);
  expect([...store.opened.store.lackingVectors()]).toEqual([]);
});
