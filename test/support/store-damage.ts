import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../src/core/errors.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { isVersionHint } from "../../src/storage/tables/table-files.ts";
import { createMemoryWorld, type MemoryWorld } from "./memory-world.ts";
import { StoreLedger } from "./store-ledger.ts";
import { openStoreOnDisk, type StoreOnDisk } from "./store-on-disk.ts";
import { BUSY } from "./store-survival.ts";

export type Damage = (bytes: Buffer) => Buffer;

/** Places of a file, as parts of its length. */
const PLACES = [0, 0.3, 0.5, 0.8, 0.999];

/** Every way to harm a file that is tried, by name. */
export const DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
  ["emptied", () => Buffer.alloc(0)],
  ["filled with zeros", (bytes) => Buffer.alloc(bytes.length)],
  ["cut in the middle", (bytes) => bytes.subarray(0, bytes.length >> 1)],
  ["one byte short", (bytes) => bytes.subarray(0, -1)],
  ["a page longer", (bytes) => Buffer.concat([bytes, Buffer.alloc(4096)])],
  ...PLACES.map((place): [string, Damage] => [
    `with a bit flipped at ${place}`,
    (bytes) => {
      const at = Math.floor(bytes.length * place);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      return bytes;
    },
  ]),
]);

const LONG_WORDS = 100_000;

/** What became of an opening: everything was there, it was refused, or it opened and the check of the files found it. */
export type Outcome = "whole" | "refused" | "reported";

/** A store that was closed in order, and is harmed and opened again and again. */
export class HarmedStore {
  readonly #top: string;
  readonly #world: MemoryWorld;
  readonly #ledger: StoreLedger;
  /** Checksums of its files before any harm. */
  readonly #whole: ReadonlyMap<string, string>;

  private constructor(
    top: string,
    world: MemoryWorld,
    ledger: StoreLedger,
    whole: ReadonlyMap<string, string>,
  ) {
    this.#top = top;
    this.#world = world;
    this.#ledger = ledger;
    this.#whole = whole;
  }

  /** With several flushes behind it, and records in the journal that no checkpoint has. */
  static async create(seed: number, { long = false } = {}): Promise<HarmedStore> {
    const top = await mkdtemp(join(tmpdir(), "memoryd-damage-"));
    const world = createMemoryWorld();
    const ledger = new StoreLedger(seed);
    const store = await openStoreOnDisk(join(top, "whole"), world, { limits: { ...BUSY, rows: 1_000 } });
    for (let round = 0; round < 6; round += 1) {
      await ledger.work(store);
      await store.opened.checkpointer.flush();
    }
    // Its vectors make a file too large to be read whole at every start.
    if (long) await ledger.add(store, LONG_WORDS);
    await store.opened.checkpointer.flush();
    await ledger.add(store);
    await ledger.add(store);
    await store.close();
    return new HarmedStore(top, world, ledger, await contentsOf(join(top, "whole")));
  }

  /** Relative to the data directory, with `/`. */
  files(): Promise<string[]> {
    return listFilesBelow(nodeDisk, join(this.#top, "whole"));
  }

  /** Those of a megabyte and more. */
  async largeFiles(): Promise<string[]> {
    const large: string[] = [];
    for (const file of await this.files()) {
      if (((await nodeDisk.size(join(this.#top, "whole", file))) ?? 0) >= 1024 ** 2) large.push(file);
    }
    return large;
  }

  /** Harms one file of a copy and opens it. Throws if anything was lost or altered without a word. */
  async open(file: string, damage: Damage): Promise<Outcome> {
    const directory = join(this.#top, "harmed");
    cpSync(join(this.#top, "whole"), directory, { recursive: true });
    try {
      const path = join(directory, file);
      const harmed = damage(readFileSync(path));
      writeFileSync(path, harmed);
      const before = new Map(this.#whole).set(file, checksumOf(harmed));
      let store: StoreOnDisk;
      try {
        store = await openStoreOnDisk(directory, this.#world);
      } catch (error) {
        assert.ok(error instanceof ServiceError && error.code === "STORE_UNUSABLE", String(error));
        assert.match(error.message, /backup|newer/);
        const after = await contentsOf(directory);
        if (error.message.includes("Nothing was deleted")) {
          // Found only when the tables were read, and by then what no checkpoint names has been moved aside.
          const left = new Set(after.values());
          for (const [path, hash] of before)
            assert.ok(isVersionHint(path) || left.has(hash), `${path} is gone`);
        } else assert.deepEqual(after, before, "a store that is refused was changed");
        return "refused";
      }
      try {
        return await this.#judge(store);
      } finally {
        await store.close();
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  remove(): void {
    rmSync(this.#top, { recursive: true, force: true });
  }

  async #judge(store: StoreOnDisk): Promise<Outcome> {
    try {
      await this.#ledger.checkWhileOpen(store);
      return "whole";
    } catch (error) {
      const { losses, damage, store: memories } = store.opened;
      if (losses.length > 0 || [...memories.lackingVectors()].length > 0) return "reported";
      for (let waited = 0; waited < 2_000 && damage.length === 0; waited += 50) await sleep(50);
      if (damage.length > 0) return "reported";
      throw error;
    }
  }
}

/** A checksum of every file, by path. */
async function contentsOf(directory: string): Promise<Map<string, string>> {
  const paths = await listFilesBelow(nodeDisk, directory);
  return new Map(paths.map((path) => [path, checksumOf(readFileSync(join(directory, path)))]));
}

function checksumOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
