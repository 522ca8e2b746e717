import { owned } from "../owned.ts";
import { factRowId, objectKey, slotKey } from "./fact.ts";
import type { Fact, FactChange, FactSlot } from "./fact.ts";
import type { FactReads } from "./fact-book.ts";
import { presentOf } from "./fact-store.ts";
import type { Clock, WriteSection } from "../ports.ts";

/** The facts with what the write did so far on top; the book stays untouched until all is decided. */
export class FactDraft {
  /** Transaction time: after every earlier record's, but for those that a wrong clock dated far ahead. */
  readonly recordedAt: number;
  /** The present for valid time, see `presentOf`. */
  readonly now: number;
  readonly #book: FactReads;
  readonly #written = new Map<string, Fact>();
  /** Written facts, by timeline and id. */
  readonly #timelines = new Map<string, Map<string, Fact>>();
  readonly #changes = new Map<string, FactChange>();

  constructor(book: FactReads, section: WriteSection, clock: Clock) {
    this.#book = book;
    this.recordedAt = presentOf({ now: () => section.now }, book.latestRecordedAt + 1);
    this.now = presentOf(clock, this.recordedAt);
  }

  /**
   * The latest version of a fact.
   * @throws {ServiceError} NOT_FOUND if there is none; FORBIDDEN if `userId` is given and not its owner.
   */
  require(id: string, userId: string | undefined): Fact {
    return owned("fact", this.#written.get(id) ?? this.#book.find(id)?.latest, userId);
  }

  /** The latest versions, in no order, of the facts among which a statement about `object` is placed, and their cardinality. */
  timeline(slot: FactSlot, object: string) {
    const kept = this.#book.timeline(slot)?.facts ?? [];
    const written = this.#timelines.get(slotKey(slot)) ?? NOTHING_WRITTEN;
    const first: Fact | undefined = kept[0]?.latest ?? written.values().next().value;
    // Thousands of objects may stand side by side: the others are not even copied.
    const isMany = first?.cardinality === "many";
    const wanted = objectKey(object);
    const facts: Fact[] = [];
    for (const history of kept) {
      if (!isMany || history.objectKey === wanted)
        facts.push(written.get(history.latest.id) ?? history.latest);
    }
    for (const fact of written.values()) if (this.#book.find(fact.id) === undefined) facts.push(fact);
    return { facts, cardinality: first?.cardinality };
  }

  put(facts: readonly Fact[]): void {
    for (const fact of facts) {
      const key = slotKey(fact);
      const timeline = this.#timelines.get(key) ?? new Map<string, Fact>();
      this.#timelines.set(key, timeline.set(fact.id, fact));
      this.#written.set(fact.id, fact);
      const id = factRowId(fact);
      this.#changes.set(id, { table: "facts", id, row: fact });
    }
  }

  /** In the order of writing, each row once. */
  get changes(): readonly FactChange[] {
    return [...this.#changes.values()];
  }
}

const NOTHING_WRITTEN: ReadonlyMap<string, Fact> = new Map();
