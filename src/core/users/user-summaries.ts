import { presentOf } from "../facts/fact-store.ts";
import { meanWindow } from "../memories/compose-memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { CatalogueEntry } from "../ports.ts";
import { chooseHighlights, evenly, type SummarisedMemory } from "./choose-highlights.ts";
import {
  type MadeSummary,
  stateOf,
  summaryNow,
  type SummaryWriter,
  type UserState,
  type UserSummary,
} from "./user-summary.ts";

export interface SummaryPorts extends Pick<MemoryPorts, "store" | "facts" | "clock"> {
  /** Resolves in a later turn of the event loop: long work lets others in between. */
  readonly nextTurn: () => Promise<void>;
  /** Left out: nothing but sentences of the user's memories. */
  readonly summaryWriter?: SummaryWriter;
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
  /** Summaries under way: of chosen sentences, and with a language model, which may take a minute. */
  readonly #choosing = new Map<string, Promise<MadeSummary>>();
  readonly #writing = new Map<string, Promise<MadeSummary>>();

  constructor(ports: SummaryPorts) {
    this.#ports = ports;
  }

  /**
   * The kept summary, else one of chosen sentences, made now, while a language model's is made in the background. A kept
   * summary is remade after `MANY_CHANGES`.
   *
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
    const made = await this.#made(userId, false);
    if (this.#writes && !this.#writing.has(userId)) this.#made(userId, true).catch(() => undefined);
    return summaryNow(userId, made, stateOf(this.#ports, userId));
  }

  /** A new summary, with a language model where there is one. */
  async regenerate(userId: string): Promise<UserSummary> {
    const made = await this.#made(userId, this.#writes);
    return summaryNow(userId, made, stateOf(this.#ports, userId));
  }

  get #writes(): boolean {
    return this.#ports.summaryWriter !== undefined;
  }

  /** At most one summary per user is under way; remade if a memory that it used was deleted meanwhile. */
  async #made(userId: string, writes: boolean): Promise<MadeSummary> {
    const underWay = writes ? this.#writing : this.#choosing;
    for (;;) {
      await underWay.get(userId)?.catch(() => undefined);
      const state = stateOf(this.#ports, userId);
      const kept = this.#kept.get(userId);
      // Another caller's was just made of the same state.
      const isEnough = kept?.written !== undefined || !writes;
      const isNew = kept !== undefined && kept.madeAt === this.#ports.clock.now();
      if (kept !== undefined && isNew && isEnough && kept.mark === state.mark && this.#stands(kept, userId))
        return kept;
      if (underWay.has(userId)) continue;
      const making = this.#make(userId, state, writes);
      underWay.set(userId, making);
      let made: MadeSummary;
      try {
        made = await making;
      } finally {
        underWay.delete(userId);
      }
      if (!this.#stands(made, userId)) continue;
      this.#keep(userId, made);
      return made;
    }
  }

  async #make(userId: string, state: UserState, writes: boolean): Promise<MadeSummary> {
    const { nextTurn, clock, summaryWriter } = this.#ports;
    const memories = await this.#read(state.entries);
    const chosen = await chooseHighlights(memories, nextTurn);
    const { facts, mark } = state;
    const text = writes ? await summaryWriter?.write({ ...chosen, facts }) : undefined;
    return {
      ...chosen,
      written: text === undefined ? undefined : { text, facts },
      mark,
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

  #keep(userId: string, made: MadeSummary): void {
    // Moves it to the end of the map, whose first entry is the oldest.
    this.#kept.delete(userId);
    this.#kept.set(userId, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Whether all memories and facts that it uses are unchanged. */
  #stands({ highlights, phrases, written }: MadeSummary, userId: string): boolean {
    const { store, facts, clock } = this.#ports;
    const isThere = ({ memoryId, version }: { readonly memoryId: string; readonly version: number }) => {
      const entry = store.catalogue.find(memoryId);
      return entry?.userId === userId && entry.version === version;
    };
    const now = presentOf(clock, facts.book.latestRecordedAt);
    return (
      highlights.every(isThere) &&
      phrases.every(isThere) &&
      (written?.facts ?? []).every((fact) => {
        const latest = facts.book.find(fact.id)?.latest;
        return latest?.version === fact.version && (latest.validTo === null || latest.validTo > now);
      })
    );
  }
}

function sampled(entries: readonly CatalogueEntry[]): readonly CatalogueEntry[] {
  if (entries.length <= MAX_READ) return entries;
  const half = MAX_READ / 2;
  return [...evenly(entries.slice(0, -half), half), ...entries.slice(-half)];
}
