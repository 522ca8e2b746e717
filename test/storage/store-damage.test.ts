import { afterAll, beforeAll, expect, it } from "vitest";
import { DAMAGES, HarmedStore } from "../support/store-damage.ts";

const TIMEOUT_MS = 120_000;
/** Every file is harmed in one way, by turns; test/e2e goes through all of them. */
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
    const stride = Math.max(1, Math.floor(files.length / 12));
    for (let i = 0; i < Math.max(files.length, damages.length); i += stride) {
      const file = files[i % files.length] ?? "";
      const [name, damage] = damages[i % damages.length] ?? ["", (bytes: Buffer) => bytes];
      await store.open(file, damage).catch((error: Error) => expect.fail(`${file} ${name}: ${error.stack ?? ""}`));
    }
  },
  TIMEOUT_MS,
);
