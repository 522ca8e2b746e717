import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { RequestLedger } from "../../src/core/idempotency.ts";
import type { CheckpointerLimits } from "../../src/storage/checkpoints/checkpointer.ts";
import { type Disk, nodeDisk } from "../../src/storage/files/disk.ts";
import { type OpenedStore, openStore } from "../../src/storage/open-store.ts";
import { createMemoryWorld, type MemoryWorld } from "./memory-world.ts";

export interface StoreOnDisk {
  readonly directory: string;
  readonly ports: MemoryPorts;
  readonly opened: OpenedStore;
  /** What the store logged above info: phrase and details. */
  readonly warnings: string[];
  /** Opens the same directory again, as after a restart; close the old one first. */
  reopen(options?: ReopenOptions): Promise<StoreOnDisk>;
  close(): Promise<void>;
  removeDirectory(): void;
}

export interface ReopenOptions {
  readonly disk?: Disk;
  readonly limits?: Partial<CheckpointerLimits>;
  readonly changesModel?: boolean;
}

/** A real store in a directory of its own, with the ports of a memory world around it. */
export async function createStoreOnDisk(options: ReopenOptions = {}): Promise<StoreOnDisk> {
  const directory = mkdtempSync(join(tmpdir(), "memoryd-store-"));
  return openStoreOnDisk(directory, createMemoryWorld(), options);
}

/** Opens the store in a directory, or makes one there. */
export async function openStoreOnDisk(
  directory: string,
  world: MemoryWorld,
  options: ReopenOptions = {},
): Promise<StoreOnDisk> {
  const warnings: string[] = [];
  const note = (details: object, phrase: string) => warnings.push(`${phrase} ${JSON.stringify(details)}`);
  const opened = await openStore({
    disk: options.disk ?? nodeDisk,
    directory,
    clock: world.ports.clock,
    stamp: () => world.embedder.stamp,
    log: { info: () => {}, warn: note, error: note },
    // Also of the small stores of tests.
    imageFrom: 1,
    changesModel: () => options.changesModel === true,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  return {
    directory,
    ports: { ...world.ports, store: opened.store, requests: new RequestLedger() },
    opened,
    warnings,
    reopen: (again = options) => openStoreOnDisk(directory, world, again),
    close: () => opened.store.close(),
    removeDirectory: () => rmSync(directory, { recursive: true, force: true }),
  };
}
