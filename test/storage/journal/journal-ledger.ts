import assert from "node:assert/strict";
import type { Change } from "../../../src/core/rows.ts";
import type { Journal } from "../../../src/storage/journal/journal.ts";
import { createFaultyDisk, type Fault, type FaultyDisk, type Remains } from "../../support/faulty-disk.ts";
import { numbered, openForTest } from "./journal-fixture.ts";

/** A life of the journal between two openings. */
export interface Life {
  readonly actions: readonly Action[];
  /** Which step of the disk fails, counted from the opening; past the end: none. */
  readonly faultStep: number;
  readonly fault: Fault;
  /** How it ends: closed, the process killed, or the machine without power. */
  readonly end: "close" | "kill" | Remains;
  readonly seed: number;
}

export type Action =
  | { readonly kind: "append"; readonly sizes: readonly number[]; readonly awaited: boolean }
  /** A checkpoint of what is durable, and the segments before it dropped. */
  | { readonly kind: "drop" };

export const SEGMENT_BYTES = 6_000;

/** What callers were told, to hold the journal to. */
export class Ledger {
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
    assert.ok(journal, "opens after any failure");
    await journal?.close();
  }

  async #open(disk: FaultyDisk): Promise<Journal | undefined> {
    let opened;
    try {
      opened = await openForTest(this.#folder, {
        disk,
        after: this.#checkpoint,
        segmentBytes: SEGMENT_BYTES,
      });
    } catch (error) {
      // A failing disk may keep it from opening, but no crash makes a journal that is refused.
      if ((error as { code?: string }).code === "STORE_UNUSABLE") throw error;
      return undefined;
    }
    const { records, journal } = opened;
    const last = this.#checkpoint + records.length;
    for (const [i, { sequence, time, changes }] of records.entries()) {
      assert.equal(sequence, this.#checkpoint + 1 + i);
      const size = bodyHashOf(changes).length;
      assert.deepEqual(changes, numbered(time, size).changes);
      const allowed = this.#durable.has(sequence)
        ? [this.#durable.get(sequence)]
        : this.#uncertain.get(sequence);
      assert.ok(
        allowed?.includes(time),
        `record ${time} at ${sequence} was never accepted there, or was refused`,
      );
      this.#durable.set(sequence, time);
    }
    for (const sequence of this.#durable.keys()) {
      assert.ok(sequence <= Math.max(last, this.#checkpoint), `acknowledged ${sequence} is gone`);
    }
    assert.equal(journal.position.sequence, last);
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
            assert.ok(!this.#durable.has(sequence), `${sequence} was acknowledged twice`);
            this.#durable.set(sequence, number);
          },
          () => {
            // Refused for certain; a read-only journal does not know.
            if (journal.readOnly === undefined) forget();
          },
        );
        answers.push(answered);
      } catch (error) {
        assert.match((error as { code: string }).code, /NOT_READY|STORE_FULL/);
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

function bodyHashOf(changes: readonly Change[]): string {
  const row = changes[0]?.row;
  return row && "bodyHash" in row ? row.bodyHash : "";
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
