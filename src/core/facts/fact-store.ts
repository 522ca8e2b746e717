import { type Fact, factRowId, objectKey, slotKey, type FactChange, type FactSlot } from "./fact.ts";
import type { FactMeanings } from "./fact-meanings.ts";
import type { RequestLedger } from "../idempotency.ts";
import { fitting } from "../page-end.ts";
import type { Catalogue, Clock, IdSource, MemoryStore, WriteSection } from "../ports.ts";
import { owned } from "../owned.ts";
import type { FactReads } from "./fact-book.ts";

/** The order of every list of facts: open ones first, then the newest `validFrom`, then by id. */
export function compareForList(a: Fact, b: Fact): number {
  const aIsClosed = a.validTo !== null;
  if (aIsClosed !== (b.validTo !== null)) return aIsClosed ? 1 : -1;
  return b.validFrom - a.validFrom || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Names, times and ids of a fact as an answer shows them. */
const RECORD_CHARS = 500;

/** About how much of a page a fact takes. */
export const charsOf = ({ subject, predicate, object, metadata }: Fact): number =>
  RECORD_CHARS + subject.length + predicate.length + object.length + JSON.stringify(metadata).length;

/** A page of facts. It may end before its limit, see `fitting`: the next one begins where it ends. */
export type PageRange = { readonly limit: number; readonly offset?: number };

/** The items `offset` … `offset + limit` of the sorted list; the input comes back sorted. */
export const sortedPage = <T>(
  items: T[],
  { limit, offset = 0 }: PageRange,
  compare: (a: T, b: T) => number,
): T[] => items.sort(compare).slice(offset, offset + limit);

/** The part of the store that facts need. */
export interface FactStore extends Pick<MemoryStore, "commit"> {
  readonly catalogue: Pick<Catalogue, "facts" | "find" | "findRequest">;
}

/** The ports of reading facts. */
export type FactReadPorts = { readonly store: FactStore; readonly clock: Clock };

/** The ports of recording facts. */
export interface FactPorts extends FactReadPorts {
  readonly meanings: FactMeanings;
  readonly ids: IdSource;
  readonly requests: RequestLedger;
}

/** Facts of one page, which may end before its limit, and how many there are in all. */
export type FactPage = { readonly facts: readonly Fact[]; readonly total: number };

/** How far the clock may lag behind the newest record, in ms: what time daemons correct by themselves. */
export const CLOCK_STEP_MS = 1_000_000;

/** The clock's time, or the newest record's where that is a little ahead; further ahead, the clock is believed. */
export function presentOf(clock: Clock, latestRecordedAt: number): number {
  const now = clock.now();
  return latestRecordedAt > now && latestRecordedAt - now <= CLOCK_STEP_MS ? latestRecordedAt : now;
}

/** One page of the facts that a read found. */
export function pageOf(found: Fact[], range: PageRange): FactPage {
  const total = found.length;
  return { total, facts: fitting(sortedPage(found, range, compareForList), charsOf) };
}

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

  /** The latest version of a fact. */
  find(id: string): Fact | undefined {
    return this.#written.get(id) ?? this.#book.find(id)?.latest;
  }

  /** A version of a fact. */
  version(fact: Pick<Fact, "id" | "version">): Fact | undefined {
    const isWanted = ({ version }: Fact) => version === fact.version;
    return this.#changes.get(factRowId(fact))?.row ?? this.#book.find(fact.id)?.versions.find(isWanted);
  }

  /**
   * The latest version of a fact.
   * @throws {ServiceError} NOT_FOUND if there is none; FORBIDDEN if `userId` is given and not its owner.
   */
  require(id: string, userId: string | undefined): Fact {
    return owned("fact", this.find(id), userId);
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
