import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PurgeReport } from "../../src/core/status.ts";
import { COMPACTION_THRESHOLDS } from "../../src/storage/tables/table-spec.ts";
import { createFaultyDisk, type Fault, type FaultyDisk, type Remains } from "./faulty-disk.ts";
import { createMemoryWorld } from "./memory-world.ts";
import { seededRandom } from "./seeded-random.ts";
import { StoreLedger } from "./store-ledger.ts";
import { openStoreOnDisk, type StoreOnDisk } from "./store-on-disk.ts";

/** So low that a few writes bring a flush, and a few flushes a compaction and the removal of files. */
export const BUSY = {
  rows: 12,
  freeBytes: 0,
  compaction: { ...COMPACTION_THRESHOLDS, fragments: 3, freshFragments: 2 },
};
const ROUNDS = 6;

export interface Survival {
  readonly seed: number;
  /** Steps of the disk from one failure to the next. */
  readonly stride: number;
  readonly fault: Fault;
  /** What the power leaves after each failure, by turns; none: the process ends and the machine goes on. */
  readonly remains: readonly Remains[];
  /** Whether what was deleted is erased beside the work, again and again. */
  readonly erasing?: boolean;
}

/**
 * One store after the other life: each opens it, works, and meets its failure some steps later than the one before,
 * until a life gets by without. Whatever was acknowledged must be there at every opening, and be found.
 *
 * @returns how many failures there were.
 */
export async function survive({ seed, stride, fault, remains, erasing = false }: Survival): Promise<number> {
  const top = await mkdtemp(join(tmpdir(), "memoryd-survival-"));
  const directory = join(top, "data");
  const world = createMemoryWorld();
  const ledger = new StoreLedger(seed);
  const random = seededRandom(seed);
  let lives = 0;
  let history: readonly string[] = [];
  try {
    for (let step = 1; ; step += stride) {
      lives += 1;
      // Clocks are set back now and then.
      world.now += random() < 0.2 ? -50 : 10;
      const disk = await createFaultyDisk(directory, { foreignFolders: ["tables"] });
      disk.failAt(step, fault);
      const open = () => openStoreOnDisk(directory, world, { disk, limits: BUSY });
      await liveOn(disk, open, ledger, erasing ? erase : async () => undefined);
      const left = remains[lives % remains.length];
      history = [
        `life ${lives}, ${fault} at step ${step}, power ${left ?? "on"}`,
        ...disk.log.slice(Math.max(0, step - 15), step + 10),
      ];
      if (disk.steps < step) return lives - 1;
      if (left !== undefined) await disk.powerFailure(left, random);
      await checkOn(directory, () => openStoreOnDisk(directory, world), ledger);
    }
  } catch (error) {
    throw new Error(`seed ${seed}: ${history.join("\n  ")}\nthen ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await rm(top, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Erases what was deleted from a store that has no documents. */
export function erase(store: StoreOnDisk): Promise<PurgeReport> {
  const originals = { listUnneeded: async () => [], removeUnneeded: async () => [] };
  return store.opened.purge.run({ originals });
}

async function liveOn(
  disk: FaultyDisk,
  open: () => Promise<StoreOnDisk>,
  ledger: StoreLedger,
  beside: (store: StoreOnDisk) => Promise<unknown>,
): Promise<void> {
  let store: StoreOnDisk;
  try {
    store = await open();
  } catch (error) {
    // A failing disk may keep it from opening; but no failure makes a store that is damaged.
    if ((error as { code?: string }).code === "STORE_UNUSABLE") throw error;
    return;
  }
  try {
    await ledger.checkReopened(store);
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = beside(store).catch(() => undefined);
      await ledger.work(store);
      // Some work falls beside it, some behind.
      if (round % 2 === 0) await running;
    }
    await store.opened.checkpointer.flush().catch(() => undefined);
    await ledger.checkWhileOpen(store);
  } finally {
    await store.close();
  }
}

/** Nothing is written: the next life finds what the failure left. */
async function checkOn(
  directory: string,
  open: () => Promise<StoreOnDisk>,
  ledger: StoreLedger,
): Promise<void> {
  const store = await open();
  try {
    await ledger.checkReopened(store);
  } finally {
    await store.close();
  }
}
