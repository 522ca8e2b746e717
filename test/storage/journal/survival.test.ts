import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../../src/storage/journal/journal.ts";
import { createFaultyDisk, type Fault, type FaultyDisk, type Remains } from "../../support/faulty-disk.ts";
import { numbered, openForTest, withFolder } from "./journal-fixture.ts";

/** A life of the journal between two openings. */
interface Life {
  readonly actions: readonly Action[];
  /** Which step of the disk fails, counted from the opening; past the end: none. */
  readonly faultStep: number;
  readonly fault: Fault;
  /** How it ends: closed, the process killed, or the machine without power. */
  readonly end: "close" | "kill" | Remains;
  readonly seed: number;
}

type Action =
  | { readonly kind: "append"; readonly sizes: readonly number[]; readonly awaited: boolean }
  /** A checkpoint of what is durable, and the segments before it dropped. */
  | { readonly kind: "drop" };

const SEGMENT_BYTES = 6_000;

/** Some hundred lives, each with a dozen syncs of a disk that may be busy. */
const TIMEOUT_MS = 120_000;

/** What callers were told, to hold the journal to. */
class Ledger {
  readonly #folder: string;
  /** Sequence → number of the record that was acknowledged, or seen after an opening. */
  readonly #durable = new Map<number, number>();
  /** Sequence → numbers of the records of which nobody knows: not answered, or refused by a read-only journal. */
  readonly #uncertain = new Map<number, number[]>();
  #checkpoint = 0;
  #lastNumber = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async live(life: Life): Promise<void> {
    const disk = await createFaultyDisk(this.#folder);
    disk.failAt(life.faultStep, life.fault);
    const journal = await this.#open(disk);
    const answers: Promise<void>[] = [];
    if (journal !== undefined) {
      for (const action of life.actions) {
        if (action.kind === "drop") await this.#drop(journal);
        else answers.push(...(await this.#append(journal, action)));
      }
    }
    if (life.end === "close" || life.end === "kill") {
      if (life.end === "kill") disk.failAt(disk.steps + 1, "crash");
      else await journal?.close().catch(() => undefined);
    } else {
      await disk.powerFailure(life.end, randomOf(life.seed));
    }
    await Promise.all(answers);
    await journal?.close().catch(() => undefined);
  }

  /** Opens on a healthy disk and compares; what is there now stays. */
  async check(): Promise<void> {
    const disk = await createFaultyDisk(this.#folder);
    const journal = await this.#open(disk);
    expect(journal, "opens after any failure").toBeDefined();
    await journal?.close();
  }

  async #open(disk: FaultyDisk): Promise<Journal | undefined> {
    let opened;
    try {
      opened = await openForTest(this.#folder, { disk, after: this.#checkpoint, segmentBytes: SEGMENT_BYTES });
    } catch (error) {
      // A failing disk may keep it from opening, but no crash makes a journal that is refused.
      if ((error as { code?: string }).code === "STORE_UNUSABLE") throw error;
      return undefined;
    }
    const { records, journal } = opened;
    const last = this.#checkpoint + records.length;
    for (const [i, { sequence, time, changes }] of records.entries()) {
      expect(sequence).toBe(this.#checkpoint + 1 + i);
      const size = (changes[0]?.row as { bodyHash: string }).bodyHash.length;
      expect(changes).toEqual(numbered(time, size).changes);
      const allowed = this.#durable.has(sequence) ? [this.#durable.get(sequence)] : this.#uncertain.get(sequence);
      expect(allowed, `record ${time} at ${sequence}`).toContain(time);
      this.#durable.set(sequence, time);
    }
    for (const sequence of this.#durable.keys()) {
      if (sequence > this.#checkpoint) expect(last, `acknowledged ${sequence}`).toBeGreaterThanOrEqual(sequence);
    }
    expect(journal.position.sequence).toBe(last);
    this.#uncertain.clear();
    return journal;
  }

  /** Resolves when the appends have been made, and, if awaited, answered; the answers. */
  async #append(journal: Journal, { sizes, awaited }: Action & { kind: "append" }): Promise<Promise<void>[]> {
    const answers: Promise<void>[] = [];
    for (const size of sizes) {
      const number = (this.#lastNumber += 1);
      try {
        const { sequence, durable } = journal.append(numbered(number, size));
        const others = this.#uncertain.get(sequence) ?? [];
        this.#uncertain.set(sequence, [...others, number]);
        const forget = () => {
          const left = this.#uncertain.get(sequence)?.filter((other) => other !== number) ?? [];
          this.#uncertain.set(sequence, left);
        };
        const answered = durable.then(
          () => {
            expect(this.#durable.has(sequence)).toBe(false);
            this.#durable.set(sequence, number);
          },
          () => {
            // Refused for certain; a read-only journal does not know.
            if (journal.readOnly === undefined) forget();
          },
        );
        answers.push(answered);
      } catch (error) {
        expect(error).toHaveProperty("code", expect.stringMatching(/NOT_READY|STORE_FULL/));
      }
    }
    if (awaited) await Promise.all(answers);
    return answers;
  }

  async #drop(journal: Journal): Promise<void> {
    this.#checkpoint = journal.position.sequence;
    await journal.dropThrough(this.#checkpoint).catch(() => undefined);
  }
}

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const remains = ["zeroed", "truncated", "kept", "mixed"] as const;
const faults = ["short-write", "EIO", "ENOSPC", "crash"] as const;

const size = fc.oneof(
  { weight: 8, arbitrary: fc.nat(2_000) },
  { weight: 2, arbitrary: fc.integer({ min: 5_000, max: 60_000 }) },
  { weight: 1, arbitrary: fc.constant(1_200_000) },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("append" as const), sizes: fc.array(size, { maxLength: 5 }), awaited: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "drop" as const }) },
);
const life: fc.Arbitrary<Life> = fc.record({
  actions: fc.array(action, { maxLength: 8 }),
  faultStep: fc.integer({ min: 1, max: 60 }),
  fault: fc.constantFrom(...faults),
  end: fc.constantFrom("close", "kill", ...remains),
  seed: fc.nat(),
});

describe("whatever becomes of the disk, every acknowledged record is there once, in order, and nothing else", () => {
  it("over many lives with failures at random", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 5 }), (lives) =>
        withFolder(async (folder) => {
          const ledger = new Ledger(folder);
          for (const each of lives) await ledger.live(each);
          await ledger.check();
        }),
      ),
      { numRuns: 40 },
    );
  }, TIMEOUT_MS);

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

  for (const fault of faults) {
    it(`with ${fault} at every step of a usual life, and then the power failing`, async () => {
      for (let step = 1, steps = Infinity; step <= steps; step += 1) {
        await withFolder(async (folder) => {
          const ledger = new Ledger(folder);
          const end = remains[step % remains.length] ?? "zeroed";
          await ledger.live({ actions: usual, faultStep: step, fault, end, seed: step });
          await ledger.live({ actions: usual, faultStep: Infinity, fault, end: "close", seed: step });
          await ledger.check();
        });
        if (steps === Infinity) steps = await stepsOf(usual);
      }
    }, TIMEOUT_MS);
  }
});

async function stepsOf(actions: readonly Action[]): Promise<number> {
  let steps = 0;
  await withFolder(async (folder) => {
    const disk = await createFaultyDisk(folder);
    const { journal } = await openForTest(folder, { disk, segmentBytes: SEGMENT_BYTES });
    for (const action of actions) {
      if (action.kind === "drop") await journal.dropThrough(journal.position.sequence);
      else for (const size of action.sizes) await journal.append(numbered(1, size)).durable;
    }
    steps = disk.steps;
  });
  expect(steps).toBeGreaterThan(30);
  return steps;
}
