import { keepLast } from "../at-once.ts";
import { notFound } from "../errors.ts";
import { presentOf } from "../facts/fact-store.ts";
import type { Fact } from "../facts/fact.ts";
import { findFacts } from "../facts/find-facts.ts";
import { visitFacts } from "../facts/fact-book.ts";
import { meanWindow } from "../embedding.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { type Sector, SECTORS } from "../memory.ts";
import type { CatalogueEntry } from "../ports.ts";
import { chooseHighlights, evenly } from "./choose-highlights.ts";
import type { Highlight, Highlights, SummarisedMemory } from "./choose-highlights.ts";

interface SummaryPorts extends Pick<MemoryPorts, "store" | "clock"> {
  /** Resolves in a later turn of the event loop: long work lets others in between. */
  readonly nextTurn: () => Promise<void>;
}

/** Memories read for one summary: of more, half of this are the newest, the rest evenly chosen from the older ones. */
const MAX_READ = 5_000;
const ROWS_PER_READ = 500;
/** Summaries in memory, some 3 KB each; the oldest is dropped. */
const MAX_KEPT = 1_000;
/** A summary is remade after this many memories more or fewer, and at least this share of their number. */
const MANY_CHANGES = 20;
const MANY_CHANGES_SHARE = 0.1;

/** Summaries, kept in memory only; one with a deleted or changed memory or fact is never answered. */
export class UserSummaries {
  readonly #ports: SummaryPorts;
  readonly #kept = new Map<string, MadeSummary>();
  /** Summaries under way. */
  readonly #making = new Map<string, Promise<MadeSummary>>();

  constructor(ports: SummaryPorts) {
    this.#ports = ports;
  }

  /**
   * The kept summary, else one made now. A kept summary is remade after `MANY_CHANGES`.
   * @throws {ServiceError} NOT_FOUND for a user with nothing stored.
   */
  async get(userId: string): Promise<UserSummary> {
    const kept = this.#kept.get(userId);
    if (kept !== undefined && this.#stands(kept, userId)) {
      const state = stateOf(this.#ports, userId);
      const changes = Math.abs(state.entries.length - kept.memories);
      if (changes < Math.max(MANY_CHANGES, MANY_CHANGES_SHARE * kept.memories))
        return summaryNow(userId, kept, state);
    }
    return await this.regenerate(userId);
  }

  /** A summary of the present state. */
  async regenerate(userId: string): Promise<UserSummary> {
    const made = await this.#made(userId);
    return summaryNow(userId, made, stateOf(this.#ports, userId));
  }

  /** At most one summary per user is under way; remade if a memory that it used was deleted meanwhile. */
  async #made(userId: string): Promise<MadeSummary> {
    for (;;) {
      await this.#making.get(userId)?.catch(() => undefined);
      const state = stateOf(this.#ports, userId);
      const kept = this.#kept.get(userId);
      // Another caller's was just made of the same state.
      const isNew = kept !== undefined && kept.madeAt === this.#ports.clock.now();
      if (kept !== undefined && isNew && kept.mark === state.mark && this.#stands(kept, userId)) return kept;
      if (this.#making.has(userId)) continue;
      const making = this.#make(state);
      this.#making.set(userId, making);
      let made: MadeSummary;
      try {
        made = await making;
      } finally {
        this.#making.delete(userId);
      }
      if (!this.#stands(made, userId)) continue;
      keepLast(this.#kept, userId, made, MAX_KEPT);
      return made;
    }
  }

  async #make(state: UserState): Promise<MadeSummary> {
    const { nextTurn, clock } = this.#ports;
    const memories = await this.#read(state.entries);
    return {
      ...(await chooseHighlights(memories, nextTurn)),
      mark: state.mark,
      memories: state.entries.length,
      madeAt: clock.now(),
    };
  }

  async #read(entries: readonly CatalogueEntry[]): Promise<SummarisedMemory[]> {
    const { store, nextTurn } = this.#ports;
    const wanted = sampled(entries);
    const memories: SummarisedMemory[] = [];
    for (let first = 0; first < wanted.length; first += ROWS_PER_READ) {
      const part = wanted.slice(first, first + ROWS_PER_READ);
      const rows = await store.readMemories(part.map(({ id }) => id));
      await nextTurn();
      for (const { id, ordinal, occurredAt, salience } of part) {
        const row = rows.get(id);
        const windows = store.windowsOf(ordinal);
        if (row === undefined || windows.length === 0) continue;
        memories.push({ ...row, vector: meanWindow(windows), salience, occurredAt });
      }
    }
    return memories;
  }

  /** Whether all memories that it uses are unchanged. */
  #stands({ highlights, phrases }: MadeSummary, userId: string): boolean {
    const { store } = this.#ports;
    const isThere = ({ memoryId, version }: { readonly memoryId: string; readonly version: number }) => {
      const entry = store.catalogue.find(memoryId);
      return entry?.userId === userId && entry.version === version;
    };
    return highlights.every(isThere) && phrases.every(isThere);
  }
}

function sampled(entries: readonly CatalogueEntry[]): readonly CatalogueEntry[] {
  if (entries.length <= MAX_READ) return entries;
  const half = MAX_READ / 2;
  return [...evenly(entries.slice(0, -half), half), ...entries.slice(-half)];
}

type UserState = ReturnType<typeof stateOf>;

type StatePorts = Pick<MemoryPorts, "store" | "clock">;

const MAX_FACTS = 20;
const MAX_TAGS = 10;

/**
 * A user's records at a moment, without texts: the memories, oldest first; the number of facts of all times, without replaced ones;
 * the facts valid now, in list order, at most 20; and a mark that differs after any change of a memory or fact.
 * @throws {ServiceError} NOT_FOUND for a user with nothing stored.
 */
function stateOf({ store, clock }: StatePorts, userId: string) {
  const { catalogue } = store;
  const ordinals = catalogue.select({ userId }).list();
  const entries = ordinals.flatMap((ordinal) => catalogue.at(ordinal) ?? []);
  let factCount = 0;
  let factsUpdatedAt = 0;
  visitFacts(store.catalogue.facts, { userId }, (fact) => {
    factCount += 1;
    factsUpdatedAt = Math.max(factsUpdatedAt, fact.updatedAt);
  });
  if (entries.length === 0 && factCount === 0 && catalogue.documents.documentsOf(userId).length === 0)
    throw notFound("There is nothing stored of a user with this id.");
  const updatedAt = entries.reduce((latest, entry) => Math.max(latest, entry.updatedAt), 0);
  const at = presentOf(clock, store.catalogue.facts.latestRecordedAt);
  return {
    entries,
    factCount,
    facts: findFacts({ store, clock }, { userId, at, limit: MAX_FACTS }).facts,
    mark: [entries.length, entries.at(-1)?.id, updatedAt, factCount, factsUpdatedAt].join(" "),
  };
}

/** Memories by primary sector, the most frequent tags, at most 10, and when the earliest and the latest memory happened. */
function figuresOf({ entries }: Pick<UserState, "entries">) {
  const sectors = Object.fromEntries(SECTORS.map((sector) => [sector, 0])) as Record<Sector, number>;
  const tags = new Map<string, number>();
  let firstMemoryAt: number | null = null;
  let lastMemoryAt: number | null = null;
  for (const { primarySector, occurredAt, tags: own } of entries) {
    sectors[primarySector] += 1;
    for (const tag of new Set(own)) tags.set(tag, (tags.get(tag) ?? 0) + 1);
    firstMemoryAt = Math.min(firstMemoryAt ?? occurredAt, occurredAt);
    lastMemoryAt = Math.max(lastMemoryAt ?? occurredAt, occurredAt);
  }
  const topTags = Array.from(tags, ([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
    .slice(0, MAX_TAGS);
  return { memories: entries.length, sectors, topTags, firstMemoryAt, lastMemoryAt };
}

export type UserSummary = ReturnType<typeof summaryNow>;

/** A made summary, and the state it was made from. */
interface MadeSummary extends Highlights {
  /** `UserState.mark` of that state. */
  readonly mark: string;
  /** Number of memories in that state. */
  readonly memories: number;
  readonly madeAt: number;
}

/** The answer for a summary that was made before: stale, if memories or facts changed since; figures and facts are as of now. */
function summaryNow(userId: string, made: MadeSummary, state: UserState) {
  const { highlights, phrases } = made;
  return {
    userId,
    text: textOf(highlights, state.facts),
    highlights: highlights.map(({ memoryId, text }) => ({ memoryId, text })),
    keyPhrases: phrases.map(({ text }) => text),
    facts: state.facts,
    factCount: state.factCount,
    ...figuresOf(state),
    updatedAt: made.madeAt,
    isStale: made.mark !== state.mark,
  };
}

const SPEAKS = /^[^.!?\n]{1,41}: /u;

/** Sentences in a row, or one per line in conversations; then the current facts as a paragraph. */
function textOf(highlights: readonly Highlight[], facts: readonly Fact[]): string {
  const isTalk = highlights.some(({ text }) => SPEAKS.test(text));
  const sentences = highlights.map(({ text }) => text).join(isTalk ? "\n" : " ");
  const statements = facts.map(({ subject, predicate, object }) => `${subject} ${predicate} ${object}`);
  const known = statements.length === 0 ? "" : `Now: ${statements.join("; ")}.`;
  return [sentences, known].filter((part) => part !== "").join("\n\n");
}
