import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { readCheckpoints } from "../../src/storage/checkpoints/checkpoint.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { DAMAGES, HarmedStore } from "../support/store-damage.ts";
import { createStoreOnDisk } from "../support/store-on-disk.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** Every file is harmed in one way, by turns; test/survival goes through all of them. */
let store: HarmedStore;
beforeAll(async () => {
  store = await HarmedStore.create(5);
});
afterAll(() => store.remove());

it.each([/^journal\//, /^CHECKPOINT/, /^tables\//])(
  "a store with a damaged file (%s) is whole, or refused as it is, or reported",
  async (kind) => {
    const files = (await store.files()).filter((file) => kind.test(file));
    const damages = [...DAMAGES];
    const stride = Math.max(1, Math.floor(files.length / 8));
    for (let i = 0; i < Math.max(files.length, damages.length); i += stride) {
      const file = files[i % files.length] ?? "";
      const [name, damage] = damages[i % damages.length] ?? ["", (bytes: Buffer) => bytes];
      await store
        .open(file, damage)
        .catch((error: Error) => expect.fail(`${file} ${name}: ${error.stack ?? ""}`));
    }
  },
);

it("a store whose journal is gone before its first flush is not taken for a new one", async () => {
  const young = await createStoreOnDisk();
  await addMemory(young.ports, { content: "the first memory" });
  await young.close();
  const journal = join(young.directory, "journal");
  for (const name of readdirSync(journal)) rmSync(join(journal, name));
  await expect(young.reopen()).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
  rmSync(journal, { recursive: true });
  await expect(young.reopen()).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
  young.removeDirectory();
});

it("files of a newer checkpoint that is passed over are kept until the next, and stay where they are if the start is refused", async () => {
  const harmed = await createStoreOnDisk({ limits: { rows: 1_000_000, bytes: 1e9 } });
  const tables = join(harmed.directory, "tables");
  for (const subject of ["first", "second"]) {
    // More than is read against its checksum at a start.
    for (let i = 0; i < 80; i += 1)
      await addMemory(harmed.ports, { content: `${subject} ${i} ${randomBytes(12_000).toString("base64")}` });
    await recordFact(harmed.ports, { subject, predicate: "is", object: "here" });
    await harmed.opened.checkpointer.flush();
  }
  await harmed.close();
  const { readable } = await readCheckpoints(nodeDisk, harmed.directory);
  const [newest = [], older = []] = readable.map((each) => each.tables.flatMap(({ files }) => files));
  const olderPaths = new Set(older.map(({ path }) => path));
  const newer = newest.map(({ path }) => path).filter((path) => !olderPaths.has(path));
  const spoil = (path: string) => {
    const whole = readFileSync(join(tables, path));
    writeFileSync(join(tables, path), Buffer.from(whole).fill(0xff, whole.length - 700));
    return () => writeFileSync(join(tables, path), whole);
  };
  spoil(newer.find((path) => /^facts.*_versions/.test(path)) ?? "");
  const large = older.filter(({ path, size }) => /^memories.*\/data\//.test(path) && size > 1024 ** 2);
  const mends = large.map(({ path }) => spoil(path));
  const files = async () => (await listFilesBelow(nodeDisk, tables)).sort();
  const before = await files();
  await expect(harmed.reopen()).rejects.toThrow("Nothing was deleted");
  expect(await files()).toEqual(before);

  for (const mend of mends) mend();
  const { opened, directory, ...store } = await harmed.reopen();
  const aside = join(directory, "set-aside");
  const kept = readdirSync(aside).map((start) => join(aside, start));
  for (const path of newer) expect([tables, ...kept].some((at) => existsSync(join(at, path)))).toBe(true);
  await opened.checkpointer.flush();
  expect(existsSync(aside)).toBe(false);
  await store.close();
  store.removeDirectory();
});
