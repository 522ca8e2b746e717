import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Change } from "../../../src/core/rows.ts";
import { tablesFolder } from "../../../src/storage/checkpoints/checkpoint.ts";
import { listFilesBelow, nodeDisk } from "../../../src/storage/files/disk.ts";
import {
  checkpointFiles,
  failPowerAtEveryStep,
  removeFolder,
  signals,
  SmallStore,
  writeThreeTimes,
} from "./checkpoint-support.ts";

let directory: string;
let store: SmallStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "memoryd-checkpointer-"));
  store = await new SmallStore(directory).open();
});
afterEach(async () => {
  await store.kill();
  await removeFolder(directory);
});

const entries = async () => [...(await store.contents())].sort(([a], [b]) => (a < b ? -1 : 1));

describe("Checkpointer", () => {
  it("brings pending rows into the tables, releases them and drops the journal up to the older checkpoint", async () => {
    await writeThreeTimes(store);
    await store.checkpointer.flush();
    expect(store.checkpointer.latest).toMatchObject({ sequence: 3, epoch: 1, nextOrder: 4 });
    expect(await entries()).toEqual([
      ["a", 0.3],
      ["c", 0.4],
      ["d", 0.5],
    ]);
    await store.kill();
    await store.open();
    expect(store.chosen?.damage).toEqual([]);
    expect(await entries()).toEqual([
      ["a", 0.3],
      ["c", 0.4],
      ["d", 0.5],
    ]);
  });

  it("never flushes twice at once, whoever asks while it does", async () => {
    await store.kill();
    let applying = 0;
    let most = 0;
    const apply = async (changes: readonly Change[]) => {
      most = Math.max(most, (applying += 1));
      await store.tables.apply(changes);
      applying -= 1;
    };
    const tables = { apply, states: () => store.tables.states(), compact: async () => false };
    await store.open({ limits: { rows: 1 }, tables });
    for (let i = 0; i < 3; i += 1) {
      store.write(signals(`${i}`, 0.5));
      const flushing = store.checkpointer.flush();
      store.write(signals(`${i}`, 0.6));
      store.checkpointer.notePending(2, 200);
      await Promise.all([flushing, store.checkpointer.flush()]);
      expect(store.checkpointer.latest?.sequence).toBe(2 * i + 2);
    }
    await store.checkpointer.close();
    expect(most).toBe(1);
  });

  it("keeps two checkpoints, and in the end only the files they name", async () => {
    for (let i = 0; i < 8; i += 1) {
      store.write(signals(`${i}`, 0.5), signals("same", i / 10));
      await store.checkpointer.flush();
    }
    expect(await checkpointFiles(directory)).toHaveLength(2);
    const many = (await listFilesBelow(nodeDisk, tablesFolder(directory))).length;
    for (let i = 0; i < 8; i += 1) {
      store.write(signals("same", i / 10));
      await store.checkpointer.flush();
    }
    expect((await listFilesBelow(nodeDisk, tablesFolder(directory))).length).toBeLessThan(many + 8);
    await store.kill();
    await store.open();
    expect((await entries()).length).toBe(9);
  });

  it("writes nothing when there is nothing new", async () => {
    await store.checkpointer.flush();
    const files = await checkpointFiles(directory);
    await store.checkpointer.flush();
    expect(await checkpointFiles(directory)).toEqual(files);
  });

  it("rests when a record is noted as pending after a flush took it along", async () => {
    await store.kill();
    let flushes = 0;
    const journal = {
      assertInPlace: async () => {
        flushes += 1;
        if (flushes > 9) throw new Error("it flushes again and again");
      },
      dropThrough: async () => undefined,
    };
    await store.open({ journal });
    store.write(signals("a", 0.1));
    await store.checkpointer.flush();
    store.checkpointer.notePending(10_000, 0);
    await store.checkpointer.flush();
    await store.checkpointer.close();
    expect(flushes).toBeLessThanOrEqual(3);
    expect(store.reported).toEqual([]);
  });

  it("starts by itself when enough is pending, and one at a time", async () => {
    store.checkpointer.notePending(9_999, 0);
    expect(store.checkpointer.latest).toBeUndefined();
    store.write(signals("a", 0.1));
    store.checkpointer.notePending(1, 0);
    await Promise.all([store.checkpointer.flush(), store.checkpointer.flush()]);
    expect(store.checkpointer.latest?.sequence).toBe(1);
    expect(store.reported).toEqual([]);
  });

  it("keeps what is pending when applying fails, and waits longer with each failure", async () => {
    await store.kill();
    let now = 0;
    let calls = 0;
    await store.open({
      now: () => now,
      limits: { rows: 1 },
      tables: {
        apply: async () => {
          calls += 1;
          if (calls < 3) throw new Error("no room");
          await store.tables.apply([signals("a", 0.1)]);
        },
        states: () => store.tables.states(),
        compact: async () => false,
      },
    });
    const settled = async () => {
      for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    store.write(signals("a", 0.1));
    store.checkpointer.notePending(1, 1);
    await settled();
    store.checkpointer.notePending(1, 1);
    await settled();
    expect([calls, store.reported.length]).toEqual([1, 1]);
    now = 1_000;
    store.checkpointer.notePending(1, 1);
    await settled();
    expect(calls).toBe(2);
    now = 2_999;
    store.checkpointer.notePending(1, 1);
    await settled();
    expect(calls).toBe(2);
    expect(await entries()).toEqual([["a", 0.1]]);
    await store.checkpointer.flush();
    expect(store.checkpointer.latest?.sequence).toBe(1);
  });

  it("writes no further checkpoint once a sync has failed", async () => {
    store.write(signals("a", 0.1));
    store.disk.failAfter(0);
    await expect(store.checkpointer.flush()).rejects.toThrow(/sync/);
    store.disk.recover();
    await expect(store.checkpointer.flush()).rejects.toThrow(/sync/);
    expect(store.checkpointer.stopped).toBeInstanceOf(Error);
    expect(await entries()).toEqual([["a", 0.1]]);
  });

  it("takes a failed sync for one whatever else failed beside it", async () => {
    await store.kill();
    await store.open({
      tables: {
        apply: (changes) => store.tables.apply(changes),
        states: async () => [{ name: "facts-g1", version: 9, rows: 0 }, ...(await store.tables.states())],
        compact: async () => false,
      },
    });
    store.write(signals("a", 0.1));
    await expect(store.checkpointer.flush()).rejects.toThrow("ENOENT");
    expect(store.checkpointer.stopped).toBeUndefined();
    store.write(signals("a", 0.2));
    store.disk.failAfter(0);
    await expect(store.checkpointer.flush()).rejects.toThrow(/sync/);
    expect(store.checkpointer.stopped).toBeInstanceOf(Error);
  });

  it("writes nothing where another store may stand by now", async () => {
    store.write(signals("a", 0.1));
    const before = await listFilesBelow(nodeDisk, directory);
    store.isInPlace = false;
    await expect(store.checkpointer.flush()).rejects.toThrow("moved away");
    expect(await listFilesBelow(nodeDisk, directory)).toEqual(before);
    store.isInPlace = true;
    await store.checkpointer.flush();
    expect(store.checkpointer.latest?.sequence).toBe(1);
  });

  it("finds everything again wherever the power fails", async () => {
    // A sample of the steps; all of them are gone through in test/survival.
    await failPowerAtEveryStep(store, { stride: 11 });
  });
});
