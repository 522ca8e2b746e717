import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import {
  type BackupParts,
  type BackupService,
  createBackupService,
} from "../../src/daemon/backup-service.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

const HOUR_MS = 3_600_000;
const LOOK_MS = 60_000;
const FIRST_LOOK_MS = 600_000;

let store: StoreOnDisk;
let folder: string;
let now: number;
let service: BackupService;
const warnings: object[] = [];

beforeEach(async () => {
  store = await createStoreOnDisk();
  folder = mkdtempSync(join(tmpdir(), "memoryd-backups-"));
  now = Date.UTC(2026, 4, 1, 12);
  warnings.length = 0;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await service.close();
  await store.close();
  store.removeDirectory();
  rmSync(folder, { recursive: true, force: true });
});

function begin(parts: Partial<BackupParts> = {}): void {
  service = createBackupService({
    dataDir: store.directory,
    folder,
    every: HOUR_MS,
    keep: 2,
    opened: store.opened,
    documents: { neededFiles: () => [] },
    originals: { hold: () => () => {} },
    clock: { now: () => now },
    log: { info: () => {}, warn: (details: object) => warnings.push(details) },
    ...parts,
  });
  service.begin();
}

const add = async (content: string) => (await addMemory(store.ports, { content })).memory.id;
const names = () =>
  readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .sort();
const settled = async () => {
  await vi.waitFor(async () => expect((await service.list()).running).toBeNull(), { timeout: 30_000 });
};
async function after(ms: number): Promise<void> {
  now += ms;
  await vi.advanceTimersByTimeAsync(Math.max(ms, LOOK_MS));
}

it("makes one when it is due and something was written, and keeps so many", async () => {
  await add("one");
  begin();
  await after(FIRST_LOOK_MS - LOOK_MS);
  expect(names()).toEqual([]);
  now = Date.UTC(2026, 4, 1, 12) - LOOK_MS;
  await after(LOOK_MS);
  await vi.waitFor(() => expect(names()).toEqual(["20260501-120000"]), { timeout: 30_000 });
  await settled();
  await service.start({ name: "mine" });
  await settled();
  // Nothing is new.
  await after(2 * HOUR_MS);
  await settled();
  expect(names()).toEqual(["20260501-120000", "mine"]);
  for (const hour of ["15", "16"]) {
    await add(`at ${hour}`);
    await after(HOUR_MS);
    await vi.waitFor(() => expect(names()).toContain(`20260501-${hour}0000`), { timeout: 30_000 });
    await settled();
  }
  await vi.waitFor(() => expect(names()).toEqual(["20260501-150000", "20260501-160000", "mine"]), {
    timeout: 30_000,
  });
});

it("makes one at a time, tells how the last one went, and stops on close", async () => {
  await add("one");
  begin({ every: undefined });
  const started = await service.start({});
  expect(started.name).toBe("20260501-120000");
  await expect(service.start({ name: "two" })).rejects.toMatchObject({ code: "CONFLICT" });
  await settled();
  expect((await service.list()).last).toMatchObject({ name: started.name });
  await expect(service.start({ name: started.name })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(service.start({ name: "../x" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  // The same second has another name.
  expect((await service.start({})).name).toBe("20260501-120000-2");
  await service.close();
  expect(names()).not.toContain("two");
});

it("warns at once of a folder that cannot be one, and not of one that is yet to be made", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  begin({ every: undefined, folder: join(folder, "later") });
  begin({ every: undefined, folder: file });
  await vi.waitFor(() => expect(warnings.length).toBeGreaterThan(0), { timeout: 30_000 });
  expect(warnings).toEqual([
    { folder: file, reason: expect.stringContaining(`where ${file} needs a folder`) },
  ]);
});

it("goes on after a failure, and says what it was", async () => {
  await add("one");
  let fails = true;
  begin({
    originals: {
      hold: () => {
        if (fails) throw new Error("no");
        return () => {};
      },
    },
  });
  await after(FIRST_LOOK_MS);
  await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 30_000 });
  expect((await service.list()).last).toMatchObject({ problem: "no" });
  fails = false;
  await after(HOUR_MS);
  await vi.waitFor(() => expect(names()).toHaveLength(1), { timeout: 30_000 });
  await settled();
});

it("skips one where the disk has no room, says so once, and goes on when there is", async () => {
  await add("one");
  let free = 200e6;
  begin({ freeBytes: async () => free });
  await after(FIRST_LOOK_MS);
  await vi.waitFor(
    async () =>
      expect((await service.list()).last?.problem).toMatch(/^A backup was due and is skipped: 200 MB free, /),
    { timeout: 30_000 },
  );
  await after(HOUR_MS);
  expect([names(), warnings.length]).toEqual([[], 1]);
  free = 2e9;
  await after(HOUR_MS);
  await vi.waitFor(() => expect(names()).toHaveLength(1), { timeout: 30_000 });
  await settled();
  expect((await service.list()).last?.problem).toBeNull();
});

it("holds nothing after it failed at an added model that lacks a file", async () => {
  await add("one");
  const model = join(store.directory, "models", "half");
  mkdirSync(model, { recursive: true });
  writeFileSync(join(model, "MODEL.json"), JSON.stringify({ version: 1, sha256: {}, figures: {} }));
  const held = new Set<number>();
  let holds = 0;
  const hold = () => {
    const id = (holds += 1);
    held.add(id);
    return () => void held.delete(id);
  };
  begin({ every: undefined, originals: { hold } });
  await service.start({});
  await settled();
  expect((await service.list()).last?.problem).toMatch(/sectors\.json/);
  expect([holds, held.size]).toEqual([2, 0]);
  rmSync(model, { recursive: true });
  await service.start({});
  await settled();
  expect((await service.list()).last?.problem).toBeNull();
  expect(names()).toHaveLength(1);
});

it("says that its folder, or one that was asked for, cannot be one", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "x");
  begin({ every: undefined, folder: file });
  const refused = {
    code: "INVALID_REQUEST",
    message: expect.stringMatching(/needs a folder\. Name another/),
  };
  await expect(service.start({})).rejects.toMatchObject(refused);
  await expect(service.list()).rejects.toMatchObject(refused);
  await expect(service.start({ folder: join(file, "x") })).rejects.toMatchObject(refused);
  expect((await service.start({ folder })).name).toBe("20260501-120000");
});
