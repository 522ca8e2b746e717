import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFaultyDisk, EVERY_REMAINS } from "../support/faulty-disk.ts";
import { numbered, openForTest, withFolder } from "../storage/journal/journal-fixture.ts";
import { type Action, Ledger, type Life, SEGMENT_BYTES } from "../storage/journal/journal-ledger.ts";
import { minutes, times } from "../support/stress.ts";

/** Some hundred lives, each with a dozen syncs of a disk that may be busy. */
const TIMEOUT_MS = minutes(2);

const faults = ["short-write", "EIO", "ENOSPC", "crash"] as const;

const size = fc.oneof(
  { weight: 8, arbitrary: fc.nat(2_000) },
  { weight: 2, arbitrary: fc.integer({ min: 5_000, max: 60_000 }) },
  { weight: 1, arbitrary: fc.constant(1_200_000) },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      sizes: fc.array(size, { maxLength: 5 }),
      awaited: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "drop" as const }) },
);
const life: fc.Arbitrary<Life> = fc.record({
  actions: fc.array(action, { maxLength: 8 }),
  faultStep: fc.integer({ min: 1, max: 60 }),
  fault: fc.constantFrom(...faults),
  end: fc.constantFrom("close", "kill", ...EVERY_REMAINS),
  seed: fc.nat(),
});

describe("whatever becomes of the disk, every acknowledged record is there once, in order, and nothing else", () => {
  it(
    "over many lives with failures at random",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 5 }), (lives) =>
          withFolder(async (folder) => {
            const ledger = new Ledger(folder);
            for (const each of lives) await ledger.live(each);
            await ledger.check();
          }),
        ),
        { numRuns: times(15) },
      );
    },
    TIMEOUT_MS,
  );

  /** Opens a new journal, appends alone and together, fills segments, drops some, all of them, and goes on. */
  const usual: readonly Action[] = [
    { kind: "append", sizes: [10], awaited: true },
    { kind: "append", sizes: [3_000, 3_000, 3_000], awaited: true },
    { kind: "append", sizes: [2_000], awaited: true },
    { kind: "append", sizes: [1_200_000, 5], awaited: true },
    { kind: "append", sizes: [5], awaited: true },
    { kind: "drop" },
    { kind: "append", sizes: [1, 2], awaited: true },
    { kind: "append", sizes: [3], awaited: false },
  ];

  /** What a journal does after the failure: appends, fills a segment, drops, and goes on. */
  const further: readonly Action[] = [
    { kind: "append", sizes: [10, 3_000], awaited: true },
    { kind: "append", sizes: [4_000], awaited: true },
    { kind: "drop" },
    { kind: "append", sizes: [1, 2], awaited: true },
  ];

  for (const fault of faults) {
    it(
      `with ${fault} at every step of a usual life where it matters, and then the power failing`,
      async () => {
        for (const [i, name] of (await logOf(usual)).entries()) {
          // Where nothing is written, both are what EIO is.
          const matters = /^(write|create) /.test(name) || fault === "EIO" || fault === "crash";
          if (!matters) continue;
          await withFolder(async (folder) => {
            const ledger = new Ledger(folder);
            const end = EVERY_REMAINS[i % EVERY_REMAINS.length] ?? "zeroed";
            await ledger.live({ actions: usual, faultStep: i + 1, fault, end, seed: i });
            await ledger.live({ actions: further, faultStep: Infinity, fault, end: "close", seed: i });
            await ledger.check();
          });
        }
      },
      TIMEOUT_MS,
    );
  }
});

/** The steps that a life takes on a disk that does not fail. */
async function logOf(actions: readonly Action[]): Promise<readonly string[]> {
  let log: readonly string[] = [];
  await withFolder(async (folder) => {
    const disk = await createFaultyDisk(folder);
    const { journal } = await openForTest(folder, { disk, segmentBytes: SEGMENT_BYTES });
    for (const action of actions) {
      if (action.kind === "drop") await journal.dropThrough(journal.position.sequence);
      else await Promise.all(action.sizes.map((size) => journal.append(numbered(1, size)).durable));
    }
    ({ log } = disk);
  });
  expect(log.length).toBeGreaterThan(30);
  return log;
}
