import { afterAll, beforeAll, expect, it } from "vitest";
import { DAMAGES, HarmedStore, type Outcome } from "../support/store-damage.ts";
import { strideOf } from "../support/stress.ts";

/** Every file is harmed, by turns in every way; those of the journal, checkpoints and large files in all of them. */
let store: HarmedStore;
beforeAll(async () => {
  store = await HarmedStore.create(6);
});
afterAll(() => store.remove());

async function harm(
  harmed: HarmedStore,
  files: readonly string[],
  stride = 1,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const damages = [...DAMAGES];
  for (const [i, file] of files.entries()) {
    for (let n = i % stride; n < damages.length; n += stride) {
      const [name, damage] = damages[n] ?? ["", (bytes: Buffer) => bytes];
      const what = `${file} ${name}`;
      outcomes.set(
        what,
        await harmed.open(file, damage).catch((error: Error) => expect.fail(`${what}: ${error.stack ?? ""}`)),
      );
    }
  }
  return outcomes;
}

it("a store with a damaged journal is refused, or nothing is missing", async () => {
  const outcomes = await harm(
    store,
    (await store.files()).filter((file) => file.startsWith("journal/")),
  );
  expect(new Set(outcomes.values())).toEqual(new Set(["refused", "whole"]));
});

it("a store with a damaged checkpoint is opened at the one before, with nothing missing", async () => {
  const outcomes = await harm(
    store,
    (await store.files()).filter((file) => file.startsWith("CHECKPOINT")),
  );
  expect([...outcomes.values()].filter((outcome) => outcome === "whole").length).toBeGreaterThan(
    outcomes.size / 2,
  );
});

it("a store with a damaged table is refused, opened at the checkpoint before, or the check of its files says so", async () => {
  const outcomes = await harm(
    store,
    (await store.files()).filter((file) => file.startsWith("tables/")),
    strideOf(10),
  );
  expect(outcomes.size).toBeGreaterThan(25);
});

it("also where the damage is in a file too large to be read at every start", async () => {
  const large = await HarmedStore.create(7, { long: true });
  try {
    const files = (await large.largeFiles()).filter((file) => file.startsWith("tables/"));
    expect(files).not.toEqual([]);
    const outcomes = await harm(large, files);
    expect(outcomes.size).toBe(files.length * DAMAGES.size);
  } finally {
    large.remove();
  }
});
