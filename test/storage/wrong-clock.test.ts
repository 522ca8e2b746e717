import { addMemory } from "../../src/core/memories/add-memories.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findFacts } from "../../src/core/facts/find-facts.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { currentFact } from "../../src/core/facts/fact-operations.ts";
import { exportRecords } from "../../src/core/transfer/export-records.ts";
import { createMemoryWorld, type MemoryWorld } from "../support/memory-world.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NOW = Date.parse("2026-05-05T12:00:00Z");
const IN_2099 = Date.parse("2099-05-05T12:00:00Z");
const DAY_MS = 86_400_000;

let world: MemoryWorld;
let disk: StoreOnDisk;
beforeEach(async () => {
  world = createMemoryWorld();
  world.now = NOW;
  disk = await openStoreOnDisk(mkdtempSync(join(tmpdir(), "memoryd-clock-")), world);
});
afterEach(async () => {
  await disk.close();
  disk.removeDirectory();
});

const add = async (content: string) => (await addMemory(disk.ports, { content })).memory;
const lives = async (object: string) =>
  (await recordFact(disk.ports, { subject: "Ann", predicate: "lives in", object })).fact;
const city = () => currentFact(disk.ports, { subject: "Ann", predicate: "lives in" }).object;
async function reopen() {
  await disk.close();
  disk = await disk.reopen();
}
/** Times of memories and facts as they leave in an export. */
async function times(): Promise<number[]> {
  const all: number[] = [];
  for await (const record of exportRecords(disk.ports, { waypoints: true })) {
    if (record.kind === "memory")
      all.push(record.memory.createdAt, record.memory.updatedAt, record.signals.lastSeenAt);
    if (record.kind === "waypoint") all.push(record.edge.createdAt);
    if (record.kind !== "fact") continue;
    for (const { recordedAt, updatedAt, validFrom, validTo } of record.versions)
      all.push(recordedAt, updatedAt, validFrom, validTo ?? 0);
  }
  return all;
}

it("dates what comes after a minute in 2099 by the right clock again, and says that it jumped", async () => {
  await add("before");
  world.now = IN_2099;
  await add("by the wrong clock");
  expect(disk.warnings).toEqual([]);
  world.now = NOW + 60_000;
  expect((await add("after")).createdAt).toBe(NOW + 60_000);
  expect((await lives("Bern")).recordedAt).toBe(NOW + 60_000);
  expect(disk.warnings.join()).toMatch(/earlier time than the last record.*2099/);
});

it("never dates a record more than some minutes ahead of the clock, nor before the last where that is so", async () => {
  await add("before");
  world.now = NOW - 60_000;
  expect((await add("a minute back")).createdAt).toBe(NOW);
  world.now = NOW - 3_600_000;
  expect((await add("an hour back")).createdAt).toBe(NOW - 3_600_000);
  await reopen();
  expect((await add("after a restart")).createdAt).toBe(NOW - 3_600_000);
  const { catalogue } = disk.ports.store;
  const page = catalogue.page({}, { limit: 9, offset: 0 });
  expect((await disk.ports.store.readMemories(page.ids)).get(page.ids[0] ?? "")?.content).toBe(
    "after a restart",
  );
});

it("knows what was recorded by then in the order of recording, whatever times it bears", async () => {
  await lives("Bern");
  world.now = IN_2099;
  await lives("Basel");
  world.now = NOW + 60_000;
  await lives("Chur");
  const knownAt = (at: number) =>
    findFacts(disk.ports, { knownAt: at, limit: 9 })
      .facts.map(({ object }) => object)
      .sort();
  expect(knownAt(NOW)).toEqual(["Bern"]);
  expect(knownAt(NOW + 60_001)).toEqual(["Basel", "Bern", "Chur"]);
});

it("exports all versions also while some are dated in the future", async () => {
  world.now = IN_2099;
  await lives("Basel");
  world.now = NOW + 60_000;
  await lives("Chur");
  expect((await times()).filter((time) => time >= IN_2099).length).toBeGreaterThan(0);
});

it.each(["journal", "tables"])(
  "goes by the clock at once after a restart of a store that is in 2099, in its %s",
  async (place) => {
    await add("before");
    await lives("Bern");
    world.now = IN_2099;
    const last = await add("by the wrong clock");
    await lives("Basel");
    if (place === "tables") await disk.opened.checkpointer.flush();
    world.now = NOW + DAY_MS;
    const before = await times();
    await reopen();

    expect(await times()).toEqual(before);
    const { catalogue } = disk.ports.store;
    expect(catalogue.page({}, { limit: 9, offset: 0 }).ids[0]).toBe(last.id);
    expect(catalogue.facts.latestRecordedAt).toBe(NOW);
    expect(city()).toBe("Bern");
    expect((await lives("Davos")).recordedAt).toBe(NOW + DAY_MS);
    expect(city()).toBe("Davos");
    const knownAt = (at: number) =>
      findFacts(disk.ports, { knownAt: at, limit: 9 }).facts.map(({ object }) => object);
    expect(knownAt(NOW + DAY_MS).sort()).toEqual(["Basel", "Bern", "Davos"]);
    expect((await add("after")).createdAt).toBe(NOW + DAY_MS);
  },
);

it.each([
  ["is a day late", NOW - DAY_MS],
  ["shows a time before the program was made", 0],
])("rewrites nothing where the clock %s", async (_, now) => {
  await add("by the right clock");
  await lives("Bern");
  const before = await times();
  world.now = now;
  await reopen();
  expect(await times()).toEqual(before);
});
