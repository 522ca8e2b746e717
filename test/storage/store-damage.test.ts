import { addMemory } from "../../src/core/memories/add-memories.ts";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
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
