/**
 * Whole lives of a store on a simulated machine. One seed drives the disk, the clock, failures of calls, kills, power
 * failures and writers that work at once, over journal, checkpoints, purge, backups and restores; the tables are in memory.
 * After every life all that was acknowledged is there, as the feed told it.
 */
import assert from "node:assert/strict";
import type * as timersPromises from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { listBackups, removeBackup, verifyBackup, writeBackup } from "../../src/storage/copies/backups.ts";
import type { Disk } from "../../src/storage/files/disk.ts";
import { restoreBackup } from "../../src/storage/copies/restore-backup.ts";
import { TablesThread } from "../../src/storage/tables/worker-client.ts";
import type { Fault } from "../support/faulty-disk.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { StoreLedger } from "../support/store-ledger.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { BUSY, erase } from "../support/store-survival.ts";
import { minutes, times } from "../support/stress.ts";
import { tablesInMemory } from "../support/tables-in-memory.ts";

/** Waiting takes turns, not time: how many turns others had in a millisecond would make runs of one seed differ. */
vi.mock("node:timers/promises", async (original) => {
  const timers = await original<typeof timersPromises>();
  const setTimeout = async (ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    for (let turns = 0; turns < 5 + ms; turns += 1) await timers.setImmediate();
    signal?.throwIfAborted();
    return value;
  };
  return { ...timers, setTimeout };
});

/** 1 000 with the usual stress of 10. */
const SEEDS = times(1) > 1 ? times(100) : 20;
/** `MEMORYD_TEST_SEED=7` runs that one alone, to look at a failure. */
const ONLY = process.env["MEMORYD_TEST_SEED"];
const LIVES = 8;
const ROUNDS = 4;
/** So that the smallest store has files of rows. */
/** Steps of the disk: to open a store, and in a life with backups. */
const STEPS = [150, 1_200] as const;
const KEPT_BACKUPS = 2;
const DATA = "/data";
const FAULTS: readonly Fault[] = ["crash", "crash", "EIO", "ENOSPC", "short-write"];

let disk: Disk;
let milliseconds = 0;
const start = TablesThread.start;
beforeAll(() => {
  TablesThread.start = () => tablesInMemory(disk);
  // Slices of work and delays go by it: the machine's own would make runs of one seed differ.
  vi.spyOn(performance, "now").mockImplementation(() => (milliseconds += 0.01));
});
afterAll(() => {
  TablesThread.start = start;
  vi.restoreAllMocks();
});

type Contents = ReadonlyMap<string, readonly [content: string, version: number]>;

async function contentsOf({ ports }: StoreOnDisk): Promise<Contents> {
  const { ids } = ports.store.catalogue.page({}, { limit: 1_000, offset: 0 });
  const memories = await ports.store.readMemories(ids);
  return new Map(
    Array.from(memories.values(), ({ id, content, version }) => [id, [content, version]] as const),
  );
}

class Machine {
  readonly #random: () => number;
  readonly #disk: SimulatedDisk;
  readonly #world = createMemoryWorld();
  readonly #ledger: StoreLedger;
  readonly #backups: string;
  /** By name, of backups that were acknowledged. */
  readonly #backedUp = new Map<string, Contents>();
  #restores = 0;
  #names = 0;
  readonly told: string[] = [];

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#disk = new SimulatedDisk(this.#random);
    this.#ledger = new StoreLedger(seed);
    this.#backups = this.#random() < 0.5 ? "/backups" : "/other/backups";
  }

  /** Opens the store, works, meets a failure or none, and ends in one of several ways. */
  async live(): Promise<void> {
    const fail =
      this.#random() < 0.8
        ? { at: 1 + this.#below(this.#oneOf(STEPS)), fault: this.#oneOf(FAULTS) }
        : undefined;
    const view = this.#disk.view(fail);
    disk = view;
    // Clocks are set forth and back.
    this.#world.now += this.#random() < 0.2 ? -50 : 10 + this.#below(60_000);
    this.told.push(`${fail?.fault ?? "no fault"} at ${fail?.at ?? "-"}`);
    try {
      await this.#work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.told.push(`  ended by ${(error as Error).message}`);
    }
    view.off = true;
    const isPowerLost = this.#random() < 0.5;
    if (isPowerLost) this.#disk.powerFailure();
    this.told.push(`  ${view.steps} steps, ${isPowerLost ? "power failed" : "killed"}`);
    disk = this.#disk.view();
    if (this.#random() < 0.2) await this.#damageCheckpoint();
    const store = await this.#open();
    try {
      await this.#ledger.checkReopened(store);
      await this.#checkBackups();
    } finally {
      await store.close();
    }
  }

  /** Of the two that are kept the newest; the other one and the journal have everything. */
  async #damageCheckpoint(): Promise<void> {
    const names = (await disk.list(DATA))
      .map(({ name }) => name)
      .filter((name) => /^CHECKPOINT-\d+$/.test(name));
    const newest = names.toSorted((a, b) => (a < b ? 1 : -1))[0];
    if (newest === undefined || names.length < 2) return;
    this.#disk.damage(`${DATA}/${newest}`);
    this.told.push(`  ${newest} damaged`);
  }

  async #work(): Promise<void> {
    const store = await this.#open();
    try {
      await this.#ledger.checkReopened(store);
      for (let round = 0; round < ROUNDS; round += 1) {
        const beside = this.#random() < 0.3 ? erase(store).catch(() => undefined) : undefined;
        await this.#ledger.work(store);
        if (this.#random() < 0.5) await beside;
        milliseconds += this.#below(2_000);
        if (this.#random() < 0.4) await this.#backUp(store);
        await beside;
      }
      if (this.#random() < 0.5) await store.opened.checkpointer.flush().catch(() => undefined);
      await this.#ledger.checkWhileOpen(store);
    } finally {
      await store.close().catch(() => undefined);
    }
  }

  #open(): Promise<StoreOnDisk> {
    return openStoreOnDisk(DATA, this.#world, { disk, limits: BUSY });
  }

  async #backUp(store: StoreOnDisk): Promise<void> {
    this.#names += 1;
    const name = `b${this.#names}`;
    const hold = async () => ({ ...(await store.opened.checkpointer.hold()), originals: [], models: [] });
    const before = await contentsOf(store);
    const target = { folder: this.#backups, name, createdAt: this.#names, program: "0" };
    const made = await writeBackup({ disk, directory: DATA, hold }, target).catch((error: unknown) => {
      if (isDamage(error)) throw error;
      return undefined;
    });
    if (made === undefined) return;
    this.#backedUp.set(name, before);
    for (const each of [...this.#backedUp.keys()].slice(0, -KEPT_BACKUPS)) {
      this.#backedUp.delete(each);
      await removeBackup(disk, this.#backups, each).catch(() => undefined);
    }
    this.told.push(`  backup ${name}`);
  }

  /** Every acknowledged backup is there and whole, and restores to a store of what it was made of. */
  async #checkBackups(): Promise<void> {
    const { items, damaged } = await listBackups(disk, this.#backups);
    assert.deepEqual(damaged, [], "damaged backups");
    for (const { name } of items) await verifyBackup(disk, this.#backups, name, 1);
    for (const [name, contents] of this.#backedUp) {
      assert.ok(
        items.some((item) => item.name === name),
        `the backup ${name} is gone`,
      );
      if (this.#random() < 0.6) continue;
      this.#restores += 1;
      const place = `/restored/${this.#restores}`;
      await disk.makeDirectory("/restored");
      await restoreBackup(disk, `${this.#backups}/${name}`, place);
      const restored = await openStoreOnDisk(place, this.#world, { disk, limits: BUSY });
      try {
        assert.deepEqual(await contentsOf(restored), contents, `what was restored of ${name}`);
      } finally {
        await restored.close();
      }
    }
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T;
  }
}

/** What a failing disk may bring about: errors of the disk, and refusals, but none that says the store is damaged. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code !== undefined && !isDamage(error) && code !== "ERR_ASSERTION";
}

function isDamage(error: unknown): boolean {
  return ["STORE_UNUSABLE", "DAMAGED"].includes((error as { code?: string }).code ?? "");
}

async function simulate(seed: number): Promise<string[]> {
  milliseconds = 0;
  const machine = new Machine(seed);
  try {
    for (let life = 0; life < LIVES; life += 1) await machine.live();
    return machine.told;
  } catch (error) {
    const told = machine.told.join("\n");
    throw new Error(`MEMORYD_TEST_SEED=${seed} fails: ${(error as Error).message}\n${told}`, {
      cause: error,
    });
  }
}

it(
  `loses nothing that was acknowledged in ${SEEDS} simulated machines`,
  { timeout: minutes(5) },
  async () => {
    const seeds = ONLY === undefined ? Array.from({ length: SEEDS }, (_, i) => i + 1) : [Number(ONLY)];
    for (const seed of seeds) await simulate(seed);
  },
);

it("is the same for the same seed", async () => {
  const told = await simulate(77);
  expect(await simulate(77)).toEqual(told);
  expect(told).not.toEqual(await simulate(78));
});
