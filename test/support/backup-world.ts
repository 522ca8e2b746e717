import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import {
  type Backup,
  type BackupTarget,
  type HeldState,
  writeBackup,
} from "../../src/storage/copies/backups.ts";
import { type Disk, nodeDisk } from "../../src/storage/files/disk.ts";
import { createStoreOnDisk, type StoreOnDisk } from "./store-on-disk.ts";

type Backing = Partial<BackupTarget> &
  Partial<Pick<HeldState, "originals" | "models">> & { readonly disk?: Disk };

export interface BackupWorld {
  readonly store: StoreOnDisk;
  /** Of backups. */
  readonly folder: string;
  /** @returns the id. */
  readonly add: (content: string) => Promise<string>;
  readonly backUp: (name: string, options?: Backing) => Promise<Backup>;
  readonly close: () => Promise<void>;
}

/** A real store, whose ids no other store has, and a folder for its backups. */
export async function createBackupWorld(): Promise<BackupWorld> {
  const store = await createStoreOnDisk();
  Object.assign(store.ports, { ids: { newId: () => randomUUID() } });
  const folder = mkdtempSync(join(tmpdir(), "memoryd-backups-"));
  return {
    store,
    folder,
    add: async (content) => (await addMemory(store.ports, { content })).memory.id,
    backUp(name, { disk = nodeDisk, originals = [], models = [], ...more } = {}) {
      const source = {
        disk,
        directory: store.directory,
        hold: async () => ({ ...(await store.opened.checkpointer.hold()), originals, models }),
      };
      const createdAt = store.ports.clock.now();
      return writeBackup(source, { folder, name, createdAt, program: "1.2.3", ...more });
    },
    async close() {
      await store.close();
      store.removeDirectory();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The contents of all memories of a store, sorted. */
export async function textsOf({ ports }: StoreOnDisk): Promise<string[]> {
  const { ids } = ports.store.catalogue.page({}, { limit: 1_000, offset: 0 });
  return [...(await ports.store.readMemories(ids)).values()].map(({ content }) => content).sort();
}
