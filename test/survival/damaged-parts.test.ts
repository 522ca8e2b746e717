import { addMemory } from "../../src/core/memories/add-memories.ts";
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { remake } from "../../src/core/memories/remake.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { queryMemory } from "../../src/core/recall/query-memory.ts";
import type { Embedder } from "../../src/core/ports.ts";
import { edgeId, type EdgeRow } from "../../src/core/rows.ts";
import { FollowUps } from "../../src/core/memories/follow-ups.ts";
import { chooseCheckpoint, scrub } from "../../src/storage/checkpoints/checkpoint.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { createFakeEmbedder } from "../support/fake-embedder.ts";
import { createMemoryWorld, type MemoryWorld } from "../support/memory-world.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

/** A closed store whose tables have everything; its files are harmed one by one in copies. */
let world: MemoryWorld;
let top: string;
let whole: { readonly vectors: number[][] };
beforeAll(async () => {
  world = createMemoryWorld();
  top = mkdtempSync(join(tmpdir(), "memoryd-parts-"));
  const store = await openStoreOnDisk(join(top, "whole"), world);
  // Enough for an index.
  for (let i = 0; i < 6; i += 1) await addMany(store, i);
  const [source = "", target = ""] = idsOf(store);
  const edge = { source, target, kind: "link", weight: 1, createdAt: 0 } as const;
  await store.opened.store.commit(({ now }) => ({
    changes: [
      { table: "signals", id: source, row: { salience: 1, lastSeenAt: now } },
      { table: "edges", id: edgeId(edge), row: edge },
    ],
    result: undefined,
  }));
  await store.opened.checkpointer.flush();
  await addMany(store, 6);
  await store.opened.checkpointer.flush();
  whole = { vectors: vectorsOf(store) };
  await store.close();
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

async function addMany(store: StoreOnDisk, round: number): Promise<void> {
  for (let i = 0; i < 100; i += 1)
    await addMemory(store.ports, {
      content: `note ${i} of round ${round} about tea`,
      sessionId: `s${i % 3}`,
      userId: "u",
    });
}

const idsOf = ({ opened }: StoreOnDisk) => [...opened.store.memoryIds()];
const vectorsOf = (store: StoreOnDisk) =>
  idsOf(store).map((id) => {
    const { catalogue } = store.opened.store;
    const [first = []] = store.opened.store.windowsOf(catalogue.find(id)?.ordinal ?? -1);
    return [...first].slice(0, 4);
  });
const edgesOf = (store: StoreOnDisk): EdgeRow[] =>
  idsOf(store).flatMap((id) =>
    store.opened.store.catalogue.edgesOf(id).filter(({ source }) => source === id),
  );

const filesOf = (kind: RegExp) =>
  readdirSync(join(top, "whole", "tables"), { recursive: true, encoding: "utf8" })
    .filter((path) => kind.test(path) && statSync(join(top, "whole", "tables", path)).isFile())
    .sort();

function harmed(files: readonly string[], how: "flip" | "remove"): string {
  const directory = mkdtempSync(join(top, "harmed-"));
  cpSync(join(top, "whole"), directory, { recursive: true });
  for (const file of files) {
    const path = join(directory, "tables", file);
    if (how === "remove") {
      rmSync(path);
      continue;
    }
    const bytes = readFileSync(path);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 0x20;
    writeFileSync(path, bytes);
  }
  return directory;
}

function makeAgain(
  store: StoreOnDisk,
  onProgress?: (left: number) => void,
  embedder: Embedder = world.embedder,
): Promise<void> {
  const followUps = new FollowUps(store.opened.store, {
    onPending: () => {},
    isBusy: () => false,
    nextTurn: async () => {},
  });
  return remake({
    store: store.opened.store,
    embedder,
    followUps,
    signal: new AbortController().signal,
    ...(onProgress !== undefined && { onProgress }),
  });
}

it.each([
  ["flip", /^vectors-.*lance\/data\//],
  ["remove", /^vectors-.*lance\/data\//],
  ["flip", /^tokens-.*flat\//],
  ["remove", /^tokens-.*flat\//],
] as const)("serves what it can, and makes vectors and tokens again: %s %s", async (how, kind) => {
  const files = filesOf(kind);
  expect(files).not.toEqual([]);
  let store = await openStoreOnDisk(harmed(files, how), world);
  if ([...store.opened.store.lackingVectors()].length === 0) {
    // Too large to be read whole at every start: the check in the background finds it, for the next.
    await expect.poll(() => existsSync(join(store.directory, "DAMAGED")), { timeout: 20_000 }).toBe(true);
    await store.close();
    store = await store.reopen();
  }
  expect(idsOf(store)).toHaveLength(700);
  const question = { query: "note 7 of round 3 about tea", limit: 3, filter: {} };
  expect((await queryMemory(store.ports, question)).hits).not.toEqual([]);
  // Those of the journal have theirs where the checkpoint before is used.
  expect([...store.opened.store.lackingVectors()].length).toBeGreaterThanOrEqual(600);
  expect(store.opened.losses).toEqual([]);

  // Broken off, it goes on at the next start.
  const stop = new Error("stopped");
  const stopping = makeAgain(store, (left) => {
    if (left < 400) throw stop;
  });
  await expect(stopping).rejects.toBe(stop);
  await store.opened.checkpointer.flush();
  await store.close();
  store = await store.reopen();
  const left = [...store.opened.store.lackingVectors()].length;
  expect(left).toBeLessThan(400);
  expect(left).toBeGreaterThan(0);
  await makeAgain(store);
  expect(vectorsOf(store)).toEqual(whole.vectors);

  for (let i = 0; i < 3; i += 1) {
    await store.opened.checkpointer.flush();
    await store.close();
    store = await store.reopen();
  }
  expect(vectorsOf(store)).toEqual(whole.vectors);
  expect((await store.ports.store.readTokens(idsOf(store))).size).toBe(700);
  expect(store.opened.damage).toEqual([]);
  await store.close();
});

it.each([/^edges-.*lance\/data\//, /^edges-.*manifest$/])(
  "infers again what memories replace: %s",
  async (kind) => {
    const directory = harmed(filesOf(kind), "flip");
    const chosen = await chooseCheckpoint(nodeDisk, directory, { hasJournal: true });
    let store = await openStoreOnDisk(directory, world);
    expect(edgesOf(store)).toEqual([]);
    // What the store does without is not reported again while the first checkpoint still names it.
    const latest = () => store.opened.checkpointer.latest ?? assert.fail();
    expect(await scrub(nodeDisk, directory, latest)).not.toEqual([]);
    expect(await scrub(nodeDisk, directory, latest, undefined, chosen?.damagedFiles)).toEqual([]);
    expect(store.opened.losses.join()).toMatch(/Links between memories were lost/);
    const rent = "the rent of the studio in the old town is";
    for (const content of [`${rent} 640 a month`, `${rent} raised to 690 a month`])
      await addMemory(store.ports, { content, userId: "w" });
    await store.opened.checkpointer.flush();
    await store.close();
    store = await store.reopen();
    expect(store.opened.store.lacksEdges).toBe(true);
    await makeAgain(store);
    expect(edgesOf(store).map(({ kind: is }) => is)).toEqual(["updates"]);
    await store.close();
    store = await store.reopen();
    expect(store.opened.store.lacksEdges).toBe(false);
    await store.close();
  },
);

it("makes the vectors of another model again, also after a kill in between", async () => {
  const other = createMemoryWorld();
  const embedder = createFakeEmbedder("another");
  // Its ids go on where those of the store end.
  const changed = { ...other, embedder, ports: { ...world.ports, embedder } };
  const directory = harmed([], "flip");
  await expect(openStoreOnDisk(directory, changed)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
  let store = await openStoreOnDisk(directory, changed, { changesModel: true });
  expect([...store.opened.store.lackingVectors()]).toHaveLength(700);
  await addMemory(store.ports, { content: "by the new model", userId: "v" });
  const stop = new Error("stopped");
  const stopping = makeAgain(
    store,
    (left) => {
      if (left < 600) throw stop;
    },
    embedder,
  );
  await expect(stopping).rejects.toBe(stop);
  await store.close();
  store = await store.reopen();
  expect([...store.opened.store.lackingVectors()].length).toBeLessThan(600);
  await makeAgain(store, undefined, embedder);
  expect([...store.opened.store.lackingVectors()]).toEqual([]);
  await store.opened.checkpointer.flush();
  await store.close();
  store = await openStoreOnDisk(directory, changed);
  expect([...store.opened.store.lackingVectors()]).toEqual([]);
  await store.close();
});

it("makes the vectors of changed texts again after a change of the model there and back", async () => {
  const other = createMemoryWorld();
  const embedder = createFakeEmbedder("another");
  const changed = { ...other, embedder, ports: { ...other.ports, embedder } };
  const directory = harmed([], "flip");
  let store = await openStoreOnDisk(directory, changed, { changesModel: true });
  const [id = ""] = idsOf(store);
  const userId = store.opened.store.catalogue.find(id)?.userId ?? undefined;
  await updateMemory(store.ports, { id, content: "another text", ...(userId !== undefined && { userId }) });
  await store.close();
  store = await openStoreOnDisk(directory, world);
  expect([...store.opened.store.lackingVectors()]).toEqual([id]);
  await makeAgain(store);
  expect([...store.opened.store.lackingVectors()]).toEqual([]);
  await store.close();
});

it.each(["flip", "remove"] as const)("does without indexes and LanceDB's own notes: %s", async (how) => {
  const files = filesOf(/(_indices|_transactions).*\.\w+$/);
  expect(files.some((file) => file.startsWith("memories-") && file.includes("_indices"))).toBe(true);
  let store = await openStoreOnDisk(harmed(files, how), world);
  for (let i = 0; i < 3; i += 1) {
    expect((await store.opened.store.readMemories(idsOf(store))).size).toBe(700);
    expect(vectorsOf(store)).toEqual(whole.vectors);
    await addMemory(store.ports, { content: `after ${how} ${i}`, userId: "v" });
    await store.opened.store.commit(() => ({
      changes: [{ table: "memories", id: idsOf(store).at(-1) ?? "", row: null }],
      result: undefined,
    }));
    await store.opened.checkpointer.flush();
    await store.close();
    store = await store.reopen();
  }
  await store.close();
});

it("loses signals alone where these are damaged, and says so", async () => {
  const store = await openStoreOnDisk(harmed(filesOf(/^signals-.*lance\/data\//), "flip"), world);
  expect(idsOf(store)).toHaveLength(700);
  expect(vectorsOf(store)).toEqual(whole.vectors);
  expect(store.opened.losses.join()).toMatch(/found and reinforced was lost/);
  expect(store.warnings.join()).toMatch(/signals-g1.*has changed/);
  await store.close();
});

it.each(["flip", "remove"] as const)("is refused where memories are damaged: %s", async (how) => {
  const directory = harmed(filesOf(/^memories-.*lance\/data\//), how);
  await expect(openStoreOnDisk(directory, world)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
});
