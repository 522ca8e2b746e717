import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { deleteUserMemories } from "../../src/core/users/delete-user-memories.ts";
import { backupsIn, type BackupService, createBackupService } from "../../src/daemon/backup-service.ts";
import { createLogger } from "../../src/daemon/system.ts";
import { restore } from "../../src/daemon/stopped-store.ts";
import {
  type Ancestor,
  type Erasure,
  isErasedLater,
  type Lineage,
  noteAncestors,
} from "../../src/storage/checkpoints/erasures.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { createStoreOnDisk, openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

let store: StoreOnDisk;
let folder: string;
let service: BackupService;

const serve = ({ directory, opened, ports }: StoreOnDisk, into: string) =>
  createBackupService({
    dataDir: directory,
    folder: into,
    every: undefined,
    keep: 7,
    opened,
    documents: { neededFiles: () => [] },
    originals: { hold: () => () => {} },
    clock: ports.clock,
    log: { info: () => {}, warn: () => {} },
  });

beforeEach(async () => {
  store = await createStoreOnDisk();
  folder = mkdtempSync(join(tmpdir(), "memoryd-backups-"));
  service = serve(store, folder);
});
afterEach(async () => {
  await service.close();
  await store.close();
  store.removeDirectory();
  rmSync(folder, { recursive: true, force: true });
});

const add = (content: string, userId: string) => addMemory(store.ports, { content, userId });
const erase = (userId: string, { ports }: StoreOnDisk = store, { noteErasure } = service) =>
  deleteUserMemories(
    { ...ports, stopJob: async () => {}, noteErasure },
    { userId, keepsDocuments: false, includesFacts: false },
  );

async function backUp(name: string, by: BackupService = service): Promise<void> {
  await by.start({ name });
  await vi.waitFor(async () => expect((await by.list()).last?.name).toBe(name), { timeout: 30_000 });
}

/** Works in the store that was restored last of a backup, with another folder for its backups. */
async function inRestored(
  name: string,
  into: string,
  work: (second: StoreOnDisk, by: BackupService) => Promise<void>,
): Promise<void> {
  const second = await openStoreOnDisk(join(folder, `.restored-${name}`), createMemoryWorld());
  const by = serve(second, into);
  try {
    await work(second, by);
  } finally {
    await by.close();
    await second.close();
  }
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

it("leaves no byte of an erased user in the backups that a new one took the place of", async () => {
  await add("ann's canary-73 sings", "ann");
  await add("bob stays", "bob");
  await backUp("first");
  await backUp("second");
  const holds = async () => {
    const paths = await listFilesBelow(nodeDisk, folder);
    return paths.filter((path) => readFileSync(join(folder, path)).includes("canary-73"));
  };
  expect(await holds()).not.toEqual([]);
  await erase("ann");
  expect(await service.copies()).toEqual({ made: null, removed: 0, remaining: 2 });
  await store.opened.purge.run({
    originals: { listUnneeded: async () => [], removeUnneeded: async () => [] },
  });
  const { made, ...rest } = await service.renew();
  expect(rest).toEqual({ removed: 2, remaining: 0 });
  expect((await service.list()).items.map(({ name }) => name)).toEqual([made]);
  expect(await holds()).toEqual([]);
  expect(JSON.stringify(await restored(made ?? ""))).toContain("bob stays");
});

it("replaces those of before it alone, also of the store that this one was restored from, and counts what is left", async () => {
  await add("one", "ann");
  await backUp("first");
  await restored("first");
  await add("two", "ann");
  await backUp("went-on");
  await backUp("broken");
  writeFileSync(join(folder, "broken", "MANIFEST"), "x");
  await inRestored("first", folder, async (second, by) => {
    expect(await by.copies()).toEqual({ made: null, removed: 0, remaining: 3 });
    const { opened, directory } = second;
    const before = await backupsIn(folder).survey({ dataDir: directory, storeId: opened.storeId });
    await backUp("made", by);
    await backUp("newer", by);
    const copies = await backupsIn(folder).replace(before, "made");
    expect(copies).toEqual({ made: "made", removed: 1, remaining: 2 });
    const left = (await by.list()).items.map(({ name }) => name);
    expect(left.sort()).toEqual(["made", "newer", "went-on"]);
  });
});

it("does not know how many there are where the chosen folder is away", async () => {
  rmSync(folder, { recursive: true });
  expect(await service.copies()).toMatchObject({
    remaining: null,
    problem: expect.stringMatching(/folder is missing/),
  });
  const own = { dataDir: store.directory, storeId: store.opened.storeId };
  // The one in the data directory is made with the first backup.
  expect(await backupsIn(join(store.directory, "backups")).copies(own)).toMatchObject({ remaining: 0 });
});

it("Nor do their earlier versions and trash, also of one who has nothing else", async () => {
  const { memory: changed } = await add("the kettle is red", "ann");
  await updateMemory(store.ports, { id: changed.id, content: "the pot is red" });
  await deleteMemory(store.ports, { id: changed.id, trash: true });
  const { memory: other } = await add("the bicycle is blue", "bob");
  await deleteMemory(store.ports, { id: other.id, trash: true });
  await backUp("before");
  await erase("ann");
  const { report, bytes } = await restored("before");
  expect(report).toMatchObject({ memories: 0, erasedUsers: 1 });
  expect(bytes).not.toMatch(/kettle|the pot/);
  expect(bytes).toContain("bicycle");
});

it("Nor when it was erased in a store that was restored of that backup", async () => {
  await add("the kettle is red", "ann");
  await add("the bicycle is blue", "bob");
  await backUp("one");
  await restored("one");
  const others = join(folder, ".others");
  await inRestored("one", others, async (second, by) => {
    await backUp("two", by);
    await erase("ann", second, by);
  });
  expect(await restored("one")).toMatchObject({ report: { memories: 1, erasedUsers: 1 } });
  // The restored store went on without ann; what another erases is of both its backup and the first.
  await inRestored("one", others, async (third, by) => {
    await addMemory(third.ports, { content: "the bicycle is gone", userId: "bob" });
    await erase("bob", third, by);
  });
  const { report, bytes } = await restored("one");
  expect(report).toMatchObject({ memories: 0, erasedUsers: 2 });
  expect(bytes).not.toMatch(/kettle|bicycle/);
});

it("notes an erasure in no folder that a backup from elsewhere names", async () => {
  const named = mkdtempSync(join(tmpdir(), "memoryd-no-backups-"));
  writeFileSync(join(named, "letter.txt"), "x");
  await add("the kettle is red", "ann");
  await noteAncestors(nodeDisk, store.directory, [
    { storeId: "another", epoch: 1, sequence: 1, folder: named },
  ]);
  await erase("ann");
  expect(readdirSync(named)).toEqual(["letter.txt"]);
  rmSync(named, { recursive: true });
});

it("refuses a list of erasures that is none, with a sentence", async () => {
  await add("the kettle is red", "ann");
  await backUp("one");
  for (const text of ["{", "5", JSON.stringify({ user: 5 })]) {
    writeFileSync(join(folder, "ERASED"), text);
    await expect(restored("one")).rejects.toThrow(/ERASED is damaged/);
  }
});

it("knows by lineage whether an erasure is later than a backup, and by time where neither is the other's past", () => {
  const at = (storeId: string, sequence: number, ...ancestors: Ancestor[]) => ({
    storeId,
    epoch: 1,
    sequence,
    ancestors,
  });
  const left = (storeId: string, sequence: number): Ancestor => ({
    storeId,
    epoch: 1,
    sequence,
    folder: "/b",
  });
  const erased = (lineage: Lineage, time = 0) => ({
    ...lineage,
    user: "",
    at: time,
    keepsDocuments: false,
    includesFacts: false,
  });
  const backup = (lineage: Lineage, createdAt = 10) => ({ ...lineage, createdAt });
  const cases: [Erasure, ReturnType<typeof backup>, boolean][] = [
    [erased(at("a", 5)), backup(at("a", 4)), true],
    [erased(at("a", 5), 99), backup(at("a", 5)), false],
    // In a store restored at 4: whatever the clock said.
    [erased(at("c", 7, left("a", 4), left("b", 6))), backup(at("a", 4)), true],
    [erased(at("c", 7, left("a", 4), left("b", 6))), backup(at("b", 6, left("a", 4))), true],
    // The backup is of a store restored after the erasure.
    [erased(at("a", 3), 99), backup(at("b", 6, left("a", 4))), false],
    // Both went on after the restore.
    [erased(at("a", 5), 11), backup(at("b", 6, left("a", 4))), true],
    [erased(at("a", 5), 9), backup(at("b", 6, left("a", 4))), false],
    [erased(at("b", 6, left("a", 4)), 11), backup(at("a", 5)), true],
    [erased(at("b", 6, left("a", 4)), 9), backup(at("a", 5)), false],
    [erased(at("b", 6), 99), backup(at("a", 1)), false],
  ];
  for (const [erasure, of, expected] of cases) expect(isErasedLater(erasure, of)).toBe(expected);
});
