import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { deleteUserMemories } from "../../src/core/users/delete-user-memories.ts";
import { type BackupService, createBackupService } from "../../src/daemon/backup-service.ts";
import { createLogger } from "../../src/daemon/log.ts";
import { restore } from "../../src/daemon/stopped-store.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/disk.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

let store: StoreOnDisk;
let folder: string;
let service: BackupService;

beforeEach(async () => {
  store = await createStoreOnDisk();
  folder = mkdtempSync(join(tmpdir(), "memoryd-backups-"));
  service = createBackupService({
    dataDir: store.directory,
    folder,
    every: undefined,
    keep: 7,
    opened: store.opened,
    documents: { neededFiles: () => [] },
    originals: { hold: () => () => {} },
    clock: store.ports.clock,
    log: { info: () => {}, warn: () => {} },
  });
});
afterEach(async () => {
  await service.close();
  await store.close();
  store.removeDirectory();
  rmSync(folder, { recursive: true, force: true });
});

const add = (content: string, userId: string) => addMemory(store.ports, { content, userId });
const erase = (userId: string) =>
  deleteUserMemories(
    { ...store.ports, stopJob: async () => {}, noteErasure: service.noteErasure },
    { userId, keepsDocuments: false, includesFacts: false },
  );

async function backUp(name: string): Promise<void> {
  await service.start({ name });
  await vi.waitFor(async () => expect((await service.list()).last?.name).toBe(name), { timeout: 30_000 });
}

/** The bytes of all files of a restored backup, as text. */
async function restored(name: string, from?: string) {
  const target = join(folder, `.restored-${name}`);
  rmSync(target, { recursive: true, force: true });
  const report = await restore(join(folder, name), target, {
    log: createLogger("silent"),
    from,
    onProgress: () => {},
  });
  const paths = await listFilesBelow(nodeDisk, target);
  const bytes = paths.map((path) => readFileSync(join(target, path)).toString("latin1")).join("\n");
  return { report, bytes };
}

it("A user who was erased does not come back with a backup from before, not even as bytes", async () => {
  await add("the kettle is red", "ann");
  await add("the bicycle is blue", "bob");
  await backUp("before");
  await erase("ann");
  const { report, bytes } = await restored("before");
  expect(report).toMatchObject({ memories: 1, erasedUsers: 1 });
  expect(bytes).not.toContain("kettle");
  expect(bytes).toContain("bicycle");
});

it("What the same user added since is in a backup from after", async () => {
  await add("the kettle is red", "ann");
  await erase("ann");
  await add("the kettle is green", "ann");
  await backUp("after");
  const { report, bytes } = await restored("after");
  expect(report).toMatchObject({ memories: 1, erasedUsers: 0 });
  expect(bytes).toContain("green");
});

it("A folder that was away learns of it with the next backup, or by the data directory", async () => {
  await add("the kettle is red", "ann");
  await backUp("before");
  const noted = join(folder, "ERASED");
  await erase("ann");
  rmSync(noted);
  expect((await restored("before")).report.erasedUsers).toBe(0);
  expect((await restored("before", store.directory)).report.erasedUsers).toBe(1);
  await backUp("next");
  expect((await restored("before")).report.erasedUsers).toBe(1);
});

it("The list names nobody, and is of one store", async () => {
  await add("the kettle is red", "ann");
  await backUp("before");
  await erase("ann");
  const list = readFileSync(join(folder, "ERASED"), "utf8");
  expect(list).not.toContain("ann");
  writeFileSync(join(folder, "ERASED"), list.replace(store.opened.storeId, "another"));
  expect((await restored("before")).report.erasedUsers).toBe(0);
});
