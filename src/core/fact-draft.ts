import { ServiceError } from "./errors.ts";
import { type Fact, type FactChange, factRowId, type FactSlot, slotKey } from "./fact.ts";
import type { FactBook } from "./fact-book.ts";
import { presentOf } from "./fact-store.ts";
import type { Clock, WriteSection } from "./ports.ts";

/**
 * The facts as they will be after a write that is being decided: the book with what the write did so far on top,
 * so that later items of a batch see earlier ones, and the book stays untouched until all is decided.
 */
export class FactDraft {
  /** Transaction time of the record: the section's, but after every earlier record's, so that `knownAt` tells them apart. */
  readonly recordedAt: number;
  /** What counts as now for valid time, see `presentOf`. */
  readonly now: number;
  readonly #book: FactBook;
  readonly #written = new Map<string, Fact>();
  readonly #timelines = new Map<string, Map<string, Fact>>();
  readonly #changes = new Map<string, FactChange>();

  constructor(book: FactBook, section: WriteSection, clock: Clock) {
    this.#book = book;
    this.recordedAt = Math.max(section.now, book.latestRecordedAt + 1);
    this.now = presentOf(clock, this.recordedAt);
  }

  /**
   * The latest version of a fact.
   *
   * @throws {ServiceError} NOT_FOUND if there is none; FORBIDDEN if `userId` is given and not its owner.
   */
  require(id: string, userId: string | undefined): Fact {
    const fact = this.#written.get(id) ?? this.#book.find(id)?.latest;
    if (fact === undefined) throw factNotFound();
    if (userId !== undefined && fact.userId !== userId) {
      throw new ServiceError("FORBIDDEN", "This fact belongs to another user; nothing was changed.");
    }
    return fact;
  }

  /** The latest version of each fact of a timeline, in no order. */
  timeline(slot: FactSlot): readonly Fact[] {
    return [...this.#timeline(slot).values()];
  }

  put(facts: readonly Fact[]): void {
    for (const fact of facts) {
      this.#timeline(fact).set(fact.id, fact);
      this.#written.set(fact.id, fact);
      const id = factRowId(fact);
      this.#changes.set(id, { table: "facts", id, row: fact });
    }
  }

  /** In the order of writing, each row once. */
  get changes(): readonly FactChange[] {
    return [...this.#changes.values()];
  }

  #timeline(slot: FactSlot): Map<string, Fact> {
    const key = slotKey(slot);
    const known = this.#timelines.get(key);
    if (known !== undefined) return known;
    const facts = new Map<string, Fact>();
    for (const { latest } of this.#book.timeline(slot)?.facts ?? []) {
      facts.set(latest.id, this.#written.get(latest.id) ?? latest);
    }
    this.#timelines.set(key, facts);
    return facts;
  }
}

export function factNotFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no fact with this id.");
}
