import { addMemory } from "../../src/core/memories/add-memories.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turnOfOthers } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JobRow } from "../../src/core/documents/document.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { eraseFact } from "../../src/core/facts/erase-fact.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { createFaultyDisk, EVERY_REMAINS, type FaultyDisk } from "../support/faulty-disk.ts";
import { createMemoryWorld, type MemoryWorld } from "../support/memory-world.ts";
import { StoreLedger } from "../support/store-ledger.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { BUSY, survive } from "../support/store-survival.ts";

/** Flushes when the test says so. */
const LIMITS = { ...BUSY, rows: 1_000 };
/** Some hundred syncs each, of a disk that may be busy. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const QUEUED_JOB: JobRow = {
  kind: "ingest",
  status: "queued",
  userId: null,
  project: null,
  request: {
    file: { sha256: "0".repeat(64), bytes: 9 },
    url: null,
    filename: null,
    claimedType: null,
    tags: [],
    metadata: {},
    createdBy: null,
    fetchedAt: null,
  },
  documentId: null,
  deduplicated: false,
  problem: null,
  createdAt: 1,
  startedAt: null,
  finishedAt: null,
  order: 1,
};

let top: string;
let directory: string;
let world: MemoryWorld;
let disk: FaultyDisk;
let store: StoreOnDisk;
let ledger: StoreLedger;
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), "memoryd-faults-"));
  directory = join(top, "data");
  world = createMemoryWorld();
  disk = await createFaultyDisk(directory, { foreignFolders: ["tables"] });
  store = await openStoreOnDisk(directory, world, { disk, limits: LIMITS });
  ledger = new StoreLedger(1);
  for (let i = 0; i < 4; i += 1) await ledger.add(store);
  await store.opened.checkpointer.flush();
  await ledger.add(store);
});
afterEach(async () => {
  await store.close();
  rmSync(top, { recursive: true, force: true });
});

const flush = () => store.opened.checkpointer.flush();

/** Leaves not a byte. */
async function fill(): Promise<void> {
  const plenty = 2 ** 40;
  disk.limit(plenty);
  disk.limit(plenty - (await disk.freeBytes(directory)));
}

/** As after the program ended and was started again, on the same disk or, after a power failure, on a new one. */
async function reopen(on?: FaultyDisk): Promise<void> {
  await store.close();
  disk = on ?? (await createFaultyDisk(directory, { foreignFolders: ["tables"] }));
  store = await openStoreOnDisk(directory, world, { disk, limits: LIMITS });
  await ledger.checkReopened(store);
}

async function goesOn(): Promise<void> {
  expect(await ledger.add(store)).toBe(true);
  expect(await ledger.remove(store)).toBe(true);
  await flush();
  await ledger.checkWhileOpen(store);
  await reopen();
}

describe("a store whose disk fails", () => {
  it("refuses one write when the journal's fails, and takes the next", async () => {
    disk.failAt(/^write /, "EIO");
    expect(await ledger.add(store)).toBe(false);
    await ledger.checkWhileOpen(store);
    await goesOn();
  });

  it("writes nothing more after a failed sync of the journal, and reads on", async () => {
    disk.failAt(/^sync /, "EIO");
    expect(await ledger.add(store)).toBe(false);
    expect(store.opened.journal.readOnly).toMatchObject({ code: "NOT_READY" });
    expect(await ledger.add(store)).toBe(false);
    expect(await ledger.remove(store)).toBe(false);
    await ledger.checkWhileOpen(store);
    await reopen(disk);
    await goesOn();
  });

  it.each(["zeroed", "truncated", "mixed"] as const)(
    "keeps what it showed after a restart on a disk that had lost it (%s)",
    async (remains) => {
      disk.failAt(/^sync /, "EIO");
      expect(await ledger.add(store)).toBe(false);
      // The kernel still shows what it never wrote.
      await reopen(disk);
      expect(await ledger.add(store)).toBe(true);
      await flush();
      expect(await ledger.add(store)).toBe(true);
      await store.close();
      await disk.powerFailure(remains, () => 0.4);
      await reopen();
      await goesOn();
    },
  );

  it("makes no checkpoint any more when a table cannot be synced, and keeps everything in the journal", async () => {
    disk.failAt(/^sync .*\.(lance|manifest)/, "EIO");
    await expect(flush()).rejects.toThrow();
    expect(store.opened.checkpointer.stopped).toBeDefined();
    expect(await ledger.add(store)).toBe(true);
    await ledger.checkWhileOpen(store);
    await store.close();
    await disk.powerFailure("zeroed");
    await reopen();
    await goesOn();
  });

  it.each([
    /^create CHECKPOINT/,
    /^write CHECKPOINT/,
    /^rename CHECKPOINT/,
    /^remove CHECKPOINT/,
    /^remove .*\.lance/,
  ])("tries again when %s fails", async (step) => {
    for (let i = 0; i < 3; i += 1) {
      await flush();
      expect(await ledger.add(store)).toBe(true);
    }
    disk.failAt(step, "ENOSPC");
    // Not every flush has files of tables to remove.
    const flushes = async () => {
      for (let i = 0; i < 3; i += 1) {
        await flush();
        expect(await ledger.add(store)).toBe(true);
      }
    };
    await expect(flushes()).rejects.toThrow("ENOSPC");
    await ledger.checkWhileOpen(store);
    await goesOn();
  });
});

describe("a store whose disk is full", () => {
  it("refuses to add, goes on reading and deleting, and takes up again when there is room", async () => {
    await fill();
    expect(await ledger.add(store)).toBe(false);
    await expect(addMemory(store.ports, { content: "no room" })).rejects.toMatchObject({
      code: "STORE_FULL",
    });
    await ledger.checkWhileOpen(store);
    expect(await ledger.remove(store)).toBe(true);
    expect(await ledger.remove(store)).toBe(true);
    await flush().catch(() => undefined);
    await ledger.checkWhileOpen(store);
    disk.limit(undefined);
    await expect.poll(() => ledger.add(store)).toBe(true);
    await goesOn();
  });

  it("says how much must be free, at once after a start, until there is as much", async () => {
    const needed = 50_000_000;
    await store.close();
    disk.limit(20_000_000);
    store = await openStoreOnDisk(directory, world, { disk, limits: { ...LIMITS, freeBytes: needed } });
    const figures = expect.stringMatching(
      /^the disk is full \(1\d MB free, 50 MB needed\); deleting for good still works$/,
    );
    expect(store.opened.store.addsRefused).toEqual(figures);
    expect(store.warnings).toEqual([
      expect.stringMatching(/^image of the indexes not written/),
      expect.stringMatching(/^disk is full .*"needed":50000000/),
    ]);
    await expect(addMemory(store.ports, { content: "no room" })).rejects.toMatchObject({
      code: "STORE_FULL",
      message: expect.stringMatching(/1\d MB free, 50 MB needed/),
    });
    disk.limit(undefined);
    await expect
      .poll(() => store.opened.store.lookAtDiskSpace().then(() => store.opened.store.addsRefused))
      .toBeUndefined();
    expect(await ledger.add(store)).toBe(true);
  });

  it("deletes what facts are linked to, and facts that others are linked to", async () => {
    const { ports } = store;
    const { memory } = await addMemory(store.ports, { content: "Ada moved to Paris" });
    const home = { subject: "Ada", predicate: "lives in" };
    const source = { sourceMemoryId: memory.id };
    const { fact: first } = await recordFact(ports, { ...home, object: "London", validFrom: 1, ...source });
    const { fact: second } = await recordFact(ports, { ...home, object: "Paris", validFrom: 5 });
    await fill();
    expect(await ledger.add(store)).toBe(false);
    await deleteMemory(store.ports, { id: memory.id });
    await eraseFact(ports, { id: second.id });
    expect(ports.store.catalogue.facts.find(first.id)?.latest).toMatchObject({
      sourceMemoryId: null,
      supersededBy: null,
    });
  });

  it("lets a job be given up, and takes no new one", async () => {
    const { store: memories } = store.ports;
    const put = (id: string, row: JobRow) =>
      memories.commit(() => ({ changes: [{ table: "jobs", id, row }], result: undefined }));
    await put("job-1", QUEUED_JOB);
    await fill();
    expect(await ledger.add(store)).toBe(false);
    await expect(put("job-2", QUEUED_JOB)).rejects.toMatchObject({ code: "STORE_FULL" });
    await put("job-1", { ...QUEUED_JOB, status: "cancelled", request: null, finishedAt: 5 });
    expect(memories.catalogue.documents.openJobs()).toEqual([]);
  });

  it("has all of it after a restart while it is still full", async () => {
    await fill();
    await ledger.add(store);
    expect(await ledger.remove(store)).toBe(true);
    await reopen(disk);
    expect(await ledger.remove(store)).toBe(true);
    disk.limit(undefined);
    await reopen();
    await goesOn();
  });
});

it("shows every memory, never an older state, while it is brought into the tables", async () => {
  const ids = await Promise.all(
    ["one", "two", "three"].map(async (content) => (await addMemory(store.ports, { content })).memory.id),
  );
  const over = new AbortController();
  const seen = new Map(ids.map((id) => [id, 1]));
  const read = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const atLeast = new Map(seen);
      const memories = await store.ports.store.readMemories(ids);
      await turnOfOthers();
      for (const [id, version] of atLeast)
        expect(memories.get(id)?.version ?? 0).toBeGreaterThanOrEqual(version);
    }
  };
  const readers = [read(), read(), read()];
  for (let round = 0; round < 8; round += 1) {
    await Promise.all(
      ids.map(async (id) => {
        const { version } = await updateMemory(store.ports, { id, tags: [`${round}`] });
        seen.set(id, version);
      }),
    );
    await flush();
  }
  over.abort();
  await Promise.all(readers);
});

describe("a store that lives on through failures has all it acknowledged", () => {
  // One of many; test/survival has further faults, at smaller strides.
  it("crash at many steps of its disk", async () => {
    const life = { seed: 3, stride: 127, fault: "crash", remains: EVERY_REMAINS } as const;
    expect(await survive(life)).toBeGreaterThan(1);
  });
});
