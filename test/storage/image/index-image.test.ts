import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { reinforceMemory } from "../../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { nodeDisk, usageBelow } from "../../../src/storage/files/disk.ts";
import { roomNeededFor } from "../../../src/storage/files/disk-space.ts";
import { StoreCatalogue } from "../../../src/storage/catalogue/catalogue.ts";
import {
  encodeImage,
  IMAGE_LAYOUT,
  IndexImage,
  removeImage,
  writeImage,
} from "../../../src/storage/image/index-image.ts";
import { imagedJournalBytes } from "../../../src/storage/image/kept-image.ts";
import { createFaultyDisk } from "../../support/faulty-disk.ts";
import { erase } from "../../support/store-survival.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../../support/store-on-disk.ts";

let store: StoreOnDisk;
beforeEach(async () => {
  store = await createStoreOnDisk();
});
afterEach(async () => {
  await store.close();
  store.removeDirectory();
});

const imageFile = () => join(store.directory, "INDEXES");
const add = async (content: string, more: object = {}) =>
  (await addMemory(store.ports, { content, ...more })).memory.id;

async function reopen(options?: Parameters<StoreOnDisk["reopen"]>[0]): Promise<void> {
  await store.close();
  store = await store.reopen(options);
}

/** What readers find, without the ordinals, which an open may deal out anew. */
async function findings(): Promise<unknown> {
  const { catalogue } = store.opened.store;
  const { ids, total } = catalogue.page({}, { limit: 1_000, offset: 0 });
  const { vector } = await store.ports.embedder.embedQuestion("tea in the garden");
  const terms = ["tea", "garden", "kettl", "coffe"].map((term) => ({ term, weight: 1 }));
  const meaning = store.opened.store.scoreVectors(vector);
  const words = store.opened.store.scoreWords(terms, 5);
  const found = ids.map((id) => {
    const entry = catalogue.find(id);
    const ordinal = entry?.ordinal ?? -1;
    return {
      ...entry,
      ordinal: null,
      meaning: meaning.of(ordinal),
      words: words.of(ordinal),
      edges: catalogue.edgesOf(id),
      next: catalogue.idAt(catalogue.around(ordinal)[2] ?? -1),
    };
  });
  return { total, found, users: [...catalogue.users()] };
}

async function fill(): Promise<string[]> {
  const ids = [];
  for (let i = 0; i < 12; i += 1)
    ids.push(
      await add(`tea ${i} in the garden with Ann`, {
        ...(i > 8 && { userId: "ann" }),
        ...(i % 3 === 0 && { sessionId: "walk", tags: ["green"], metadata: { cup: i } }),
      }),
    );
  await store.opened.checkpointer.flush();
  return ids;
}

async function changeSome([first = "", second = "", third = ""]: readonly string[]): Promise<void> {
  await add("a kettle for the garden", { supersedes: [third] });
  await updateMemory(store.ports, { id: first, content: "coffee with \ud800 Bob", tags: ["\udc00"] });
  await deleteMemory(store.ports, { id: second });
  await reinforceMemory(store.ports, { id: third, boost: 0.2 });
}

describe("the image of the indexes", () => {
  it("answers as the tables do, with all that came after it", async () => {
    const ids = await fill();
    await reopen();
    const image = readFileSync(imageFile());
    for (const some of [ids.slice(0, 3), ids.slice(3, 6)]) {
      await changeSome(some);
      await store.opened.checkpointer.flush();
    }
    await changeSome(ids.slice(6));
    const live = await findings();
    await reopen();
    expect(await findings()).toEqual(live);
    // It was read: a start that cannot writes another one.
    expect(readFileSync(imageFile()).equals(image)).toBe(true);
    await store.close();
    await removeImage(nodeDisk, store.directory);
    store = await store.reopen();
    expect(await findings()).toEqual(live);
    expect(readFileSync(imageFile()).equals(image)).toBe(false);
  });

  it("is made again wherever it is damaged or cut", async () => {
    await fill();
    await reopen();
    const live = await findings();
    const whole = readFileSync(imageFile());
    for (const at of [0, 10, 200, whole.length >> 1, whole.length - 1]) {
      for (const damaged of [Buffer.from(whole), whole.subarray(0, at)]) {
        damaged[at] = (damaged[at] ?? 0) ^ 1;
        await store.close();
        writeFileSync(imageFile(), damaged);
        store = await store.reopen();
        expect(await findings()).toEqual(live);
        expect(readFileSync(imageFile()).equals(whole)).toBe(true);
      }
    }
  });

  it("of a later moment than the checkpoint is not read", async () => {
    const ids = await fill();
    await reopen();
    await changeSome(ids);
    await store.opened.checkpointer.flush();
    const live = await findings();
    await store.close();
    await removeImage(nodeDisk, store.directory);
    store = await store.reopen();
    // A checkpoint and an image of now, of which the checkpoint is lost.
    await store.close();
    const newest = (await nodeDisk.list(store.directory))
      .map(({ name }) => name)
      .filter((name) => name.startsWith("CHECKPOINT"))
      .sort()
      .at(-1);
    writeFileSync(join(store.directory, newest ?? ""), "damaged");
    store = await store.reopen();
    expect(await findings()).toEqual(live);
  });

  it("takes no room that adding needs", async () => {
    await fill();
    const { tables = [] } = store.opened.checkpointer.latest ?? {};
    const used = async () => (await usageBelow(nodeDisk, store.directory)).bytes;
    const capacity = (await used()) + roomNeededFor(tables) + 1_024;
    await reopen({ disk: { ...nodeDisk, freeBytes: async () => capacity - (await used()) } });
    await store.opened.store.lookAtDiskSpace();
    expect(await nodeDisk.size(imageFile())).toBeUndefined();
    expect(store.opened.store.addsRefused).toBeUndefined();
  });

  it("goes with a purge", async () => {
    await fill();
    await reopen();
    expect(await nodeDisk.size(imageFile())).toBeGreaterThan(0);
    await erase(store);
    expect(await nodeDisk.size(imageFile())).toBeUndefined();
  });

  it("is written by the next start after a purge, and read by the one after with all that came since", async () => {
    const ids = await fill();
    await deleteMemory(store.ports, { id: ids[11] ?? "" });
    await erase(store);
    await addMemory(store.ports, { content: "tea that no checkpoint has yet" });
    await reopen();
    const image = readFileSync(imageFile());
    for (const some of [ids.slice(0, 6), ids.slice(6, 9)]) {
      await changeSome(some);
      await store.opened.checkpointer.flush();
    }
    await changeSome([ids[8] ?? "", ids[9] ?? "", ids[2] ?? ""]);
    const live = await findings();
    await reopen();
    expect(await findings()).toEqual(live);
    expect(readFileSync(imageFile()).equals(image)).toBe(true);
    await store.close();
    await removeImage(nodeDisk, store.directory);
    store = await store.reopen();
    expect(await findings()).toEqual(live);
    expect(store.warnings).toEqual([]);
  });

  it("is not left half written where the disk fails meanwhile", async () => {
    await fill();
    const disk = await createFaultyDisk(store.directory, { foreignFolders: ["tables"] });
    disk.failAt(/^write INDEXES/, "ENOSPC");
    await reopen({ disk });
    disk.heal();
    expect(await nodeDisk.size(imageFile())).toBeUndefined();
    const live = await findings();
    await reopen();
    expect(await nodeDisk.size(imageFile())).toBeGreaterThan(0);
    expect(await findings()).toEqual(live);
  });

  it("lets the journal go that was kept for it when the disk becomes full", async () => {
    const ids = await fill();
    let free = 2 ** 40;
    await reopen({ disk: { ...nodeDisk, freeBytes: async () => free } });
    for (let i = 0; i < 3; i += 1) {
      await changeSome(ids.slice(3 * i));
      await store.opened.checkpointer.flush();
    }
    // Both kept checkpoints have all records.
    await store.opened.checkpointer.note();
    await store.opened.checkpointer.note();
    const { bytes } = store.opened.journal;
    free = 2 ** 20;
    await vi.waitFor(
      async () => {
        await store.opened.store.lookAtDiskSpace();
        expect(store.opened.journal.bytes).toBeLessThan(bytes);
      },
      { timeout: 30_000 },
    );
    expect(await nodeDisk.size(imageFile())).toBeUndefined();
    const live = await findings();
    await reopen({});
    expect(await findings()).toEqual(live);
  });

  it("is brought up to date from as much of the journal as its tables are large", () => {
    const file = { path: "memories-g1.lance/data/a", crc32: 1 };
    expect(imagedJournalBytes([])).toBe(64 * 1024 ** 2);
    const tables = [1, 2].map((half) => ({ files: [{ ...file, size: half * 1024 ** 3 }] }));
    expect(imagedJournalBytes(tables)).toBe(384 * 1024 ** 2);
  });

  it("has another layout with other columns: an earlier program takes one that lacks some for damaged", () => {
    const { numbers } = new StoreCatalogue(() => 0).toPart();
    const ofMemories = [
      "order",
      "createdAt",
      "occurredAt",
      "lastSeenAt",
      "salience",
      "version",
      "words",
      "traits",
    ];
    const named = [
      "speaker",
      "user",
      "project",
      "session",
      "createdBy",
      "document",
      "primarySector",
      "sectors",
    ];
    const lists = ["tags", "metadata", "names"].flatMap((list) =>
      ["Starts", "Lengths", "Values"].map((part) => list + part),
    );
    const others = ["series", "hashes", "firstOfHash", "ids", "ordinalOfId"];
    expect({ layout: IMAGE_LAYOUT, columns: Object.keys(numbers).toSorted() }).toEqual({
      layout: 7,
      columns: [...ofMemories, ...named, ...lists, ...others].toSorted(),
    });
  });

  it("gives back any columns, and none under another key", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double(), { maxLength: 40 }),
        fc.array(fc.string({ unit: "binary" })),
        async (doubles, strings) => {
          const { directory } = store;
          const rows = Int8Array.from(doubles.keys());
          const part = { numbers: { doubles: Float64Array.from(doubles), rows }, json: { strings } };
          await writeImage(
            nodeDisk,
            directory,
            encodeImage({ key: "a", sequence: 7 }, { part, other: part }),
          );
          const image = await IndexImage.open(nodeDisk, directory, "a");
          const target = new Uint8Array(rows.length);
          expect(image?.sequence).toBe(7);
          expect(await image?.read("other", { rows: () => target })).toEqual(part);
          expect(new Int8Array(target.buffer)).toEqual(rows);
          expect(await IndexImage.open(nodeDisk, directory, "b")).toBeUndefined();
          await image?.close();
          await removeImage(nodeDisk, directory);
        },
      ),
      { numRuns: 20 },
    );
  });
});
