import { copyFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Checkpoint,
  chooseCheckpoint,
  decodeCheckpoint,
  encodeCheckpoint,
  noteSuspects,
  scrub,
  tablesFolder,
} from "../../../src/storage/checkpoints/checkpoint.ts";
import { listFilesBelow, nodeDisk } from "../../../src/storage/files/disk.ts";
import { manifestName } from "../../../src/storage/tables/table-files.ts";
import { checkpointFiles, removeFolder, signals, SmallStore, writeThreeTimes } from "./checkpoint-support.ts";

const checkpoint: Checkpoint = {
  number: 7,
  storeId: "store",
  epoch: 2,
  sequence: 41,
  stamps: { s1: { model: "m", windows: "w", pooling: "mean", projection: "p" } },
  analyserVersion: 1,
  clockFloor: 1_700_000_000_000,
  nextOrder: 12,
  tables: [
    { name: "signals-g1", version: 3, rows: 2, files: [{ path: "signals-g1.lance/a", size: 1, crc32: 2 }] },
  ],
};

describe("a CHECKPOINT file", () => {
  it("comes back as it was written", () => {
    expect(decodeCheckpoint(7, encodeCheckpoint(checkpoint))).toEqual(checkpoint);
  });

  it("is known as damaged wherever a bit is wrong or the end is missing", () => {
    const whole = encodeCheckpoint(checkpoint);
    for (let i = 0; i < whole.length; i += 1) {
      const flipped = Buffer.from(whole);
      flipped[i] = (flipped[i] ?? 0) ^ 1;
      // The format's own digit is the exception: a store of another format is not read either.
      if (whole.subarray(0, i).toString() === "memoryd checkpoint ") continue;
      expect(decodeCheckpoint(7, flipped)).toBe("CHECKPOINT-0000000007 is damaged");
      expect(decodeCheckpoint(7, whole.subarray(0, i))).toBe("CHECKPOINT-0000000007 is damaged");
    }
    expect(decodeCheckpoint(7, Buffer.alloc(whole.length))).toBe("CHECKPOINT-0000000007 is damaged");
  });

  it("of a newer format is refused with what to do", () => {
    const newer = Buffer.from(
      encodeCheckpoint(checkpoint).toString().replace("checkpoint 2", "checkpoint 3"),
    );
    expect(() => decodeCheckpoint(7, newer)).toThrow(/format 3 .* newer version/s);
  });
});

describe("a store with checkpoints", () => {
  let directory: string;
  let store: SmallStore;
  const inTables = (path: string) => join(tablesFolder(directory), path);
  const versions = () => inTables("signals-g1.lance/_versions");
  const wanted = new Map([
    ["a", 0.3],
    ["c", 0.4],
    ["d", 0.5],
  ]);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "memoryd-checkpoint-"));
    store = await new SmallStore(directory).open();
    await writeThreeTimes(store);
  });
  afterEach(async () => {
    await store.kill();
    await removeFolder(directory);
  });

  const newestVersion = () => store.checkpointer.latest?.tables[0]?.version ?? 0;

  it("opens at its checkpoint after a kill, whatever was applied since, and replays", async () => {
    await store.tables.apply([signals("a", 0.9), signals("stray", 1)]);
    await store.kill();
    await store.open();
    expect((await store.tables.read("signals", ["a", "stray"])).get("a")?.salience).toBe(0.3);
    expect((await store.tables.read("signals", ["stray"])).size).toBe(0);
    expect(await store.contents()).toEqual(wanted);
    await store.checkpointer.flush();
    await store.kill();
    await store.open();
    expect(await store.contents()).toEqual(wanted);
  });

  it("makes a table again that came after the checkpoint", async () => {
    const request = { table: "requests", id: "a", row: { bodyHash: "h", ids: [], createdAt: 1 } } as const;
    store.write(request);
    await store.tables.apply([request]);
    await store.kill();
    await store.open();
    expect((await store.tables.read("requests", ["a"])).size).toBe(0);
    await store.checkpointer.flush();
    expect((await store.tables.read("requests", ["a"])).size).toBe(1);
  });

  it("passes over manifests after its checkpoint, zero-filled or cut short", async () => {
    const version = newestVersion();
    await store.kill();
    await writeFile(join(versions(), manifestName(version + 1)), Buffer.alloc(500));
    await copyFile(join(versions(), manifestName(version)), join(versions(), manifestName(version + 2)));
    await truncate(join(versions(), manifestName(version + 2)), 100);
    await store.open();
    expect(await store.contents()).toEqual(wanted);
  });

  it.each([
    [
      "zero-filled",
      (path: string) => readFile(path).then(({ length }) => writeFile(path, Buffer.alloc(length))),
    ],
    ["cut short", (path: string) => truncate(path, 50)],
    ["missing", (path: string) => rm(path)],
  ])("goes back to the older checkpoint when the newest one's manifest is %s", async (_, damage) => {
    const version = newestVersion();
    await store.kill();
    await damage(join(versions(), manifestName(version)));
    await store.open();
    expect(store.chosen?.damage).toHaveLength(1);
    expect(store.chosen?.checkpoint.tables[0]?.version).toBeLessThan(version);
    expect(await store.contents()).toEqual(wanted);
    await store.checkpointer.flush();
    await store.kill();
    await store.open();
    expect(store.chosen?.damage).toEqual([]);
    expect(await store.contents()).toEqual(wanted);
  });

  it("goes back to the older checkpoint when the newest CHECKPOINT is damaged", async () => {
    await store.kill();
    const newest = (await checkpointFiles(directory)).at(-1) ?? "";
    await truncate(join(directory, newest), 40);
    await store.open();
    expect(store.chosen?.damage).toEqual([`${newest} is damaged`]);
    expect(await store.contents()).toEqual(wanted);
  });

  it("is opened without a table that can be done without, when a file that both checkpoints need is missing", async () => {
    await store.kill();
    for (const path of await listFilesBelow(nodeDisk, inTables("signals-g1.lance/data"))) {
      await rm(inTables(`signals-g1.lance/data/${path}`));
    }
    await store.open();
    expect(store.chosen?.lost).toEqual(new Set(["signals"]));
    expect(store.chosen?.damage.join()).toMatch(/missing/);
    await store.kill();
    for (const name of await checkpointFiles(directory)) await writeFile(join(directory, name), "");
    await expect(store.open()).rejects.toMatchObject({ code: "STORE_UNUSABLE", message: /damaged/ });
  });

  it("is refused without its CHECKPOINT files, and never opened as empty", async () => {
    await store.kill();
    for (const name of await checkpointFiles(directory)) await rm(join(directory, name));
    await expect(store.open()).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
      message: /without its CHECKPOINT/,
    });
    const empty = join(directory, "empty");
    await mkdir(empty);
    expect(await chooseCheckpoint(nodeDisk, empty, { hasJournal: false })).toBeUndefined();
    await expect(chooseCheckpoint(nodeDisk, empty, { hasJournal: true })).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
    });
  });

  it("is refused when a table has not the rows its checkpoint says", async () => {
    await store.kill();
    const newest = (await checkpointFiles(directory)).at(-1) ?? "";
    const written = decodeCheckpoint(9, await readFile(join(directory, newest)));
    if (typeof written === "string") throw new Error(written);
    const wrong = { ...written, tables: written.tables.map((table) => ({ ...table, rows: table.rows + 1 })) };
    await writeFile(join(directory, newest), encodeCheckpoint(wrong));
    await expect(store.open()).rejects.toMatchObject({ code: "STORE_UNUSABLE", message: /3 rows|4 rows/ });
  });

  it("remembers every file that was found damaged, of this start and those before", async () => {
    await noteSuspects(nodeDisk, directory, ["one", "two"]);
    await noteSuspects(nodeDisk, directory, ["two", "three"]);
    await noteSuspects(nodeDisk, directory, []);
    expect((await readFile(join(directory, "DAMAGED"), "utf8")).split("\n")).toEqual(["one", "two", "three"]);
  });

  it("finds a flipped bit by scrubbing, and nothing in a whole store", async () => {
    const { latest } = store.checkpointer;
    if (latest === undefined) throw new Error("no checkpoint");
    expect(await scrub(nodeDisk, directory, () => latest)).toEqual([]);
    const path = latest.tables[0]?.files.find(({ path }) => path.includes("/data/"))?.path ?? "";
    const bytes = await readFile(inTables(path));
    bytes[20] = (bytes[20] ?? 0) ^ 4;
    await writeFile(inTables(path), bytes);
    expect(await scrub(nodeDisk, directory, () => latest)).toMatchObject([
      { sentence: `${path} has changed` },
    ]);
    await expect(scrub(nodeDisk, directory, () => latest, AbortSignal.abort())).rejects.toThrow();
    const without = { ...latest, tables: [] };
    let asked = 0;
    expect(await scrub(nodeDisk, directory, () => (asked++ === 0 ? latest : without))).toEqual([]);
  });
});
