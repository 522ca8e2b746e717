import { setImmediate as nextTurn } from "node:timers/promises";
import type { EmbeddingStamp, TokenVectors } from "../core/embedding.ts";
import { inPieces, runAtOnce } from "../core/at-once.ts";
import { notReady, type ServiceError } from "../core/errors.ts";
import { citedAsNow } from "../core/documents/store-document.ts";
import { LATER_FIELDS, type SeenMemory } from "../core/memory.ts";
import type {
  Clock,
  Decide,
  Decision,
  MemoryStore,
  Ordinal,
  QueryTerm,
  Scores,
  Selection,
  WriteSection,
} from "../core/ports.ts";
import {
  type Change,
  memoryOf,
  type MemoryRow,
  type LanceTable,
  type Rows,
  type VersionRow,
} from "../core/rows.ts";
import type { TermStatistics } from "../core/recall/bm25.ts";
import { lookAt } from "./checkpoints/checkpoint.ts";
import type { Stage, StoreCatalogue } from "./catalogue/catalogue.ts";
import type { StampedVectors } from "./catalogue/stamped-vectors.ts";
import {
  type JournalRecord,
  type NewerRecord,
  Overtaken,
  type RecordToAppend,
  frees,
  diskFull,
} from "./journal/journal.ts";
import {
  catchUp,
  inOrderOfAdding,
  inSlices,
  isDurable,
  noteRecord,
  runSlice,
  showInSteps,
  type StagedRecord,
  stageRecord,
  type StoreIndexes,
  timeOfRecord,
} from "./store-indexes.ts";
import type { StoreParts } from "./store-ports.ts";
import { WriteRoom } from "./write-room.ts";

/** Staging more than these, some 20 ms, is done in steps. */
const CHANGES_AT_ONCE = 10_000;
/** Rows that come from the tables' thread in one message, which blocks the event loop. */
const ROWS_PER_READ = 1_000;
/** Keeps memories and facts in a journal, in memory and in tables; see `src/README.md` for how the three share the work. */
export class IndexedMemoryStore implements MemoryStore {
  readonly #indexes: StoreIndexes;
  readonly #journal: StoreParts["journal"];
  readonly #tables: StoreParts["tables"];
  readonly #tokens: StoreParts["tokens"];
  readonly #checkpointer: StoreParts["checkpointer"];
  readonly #room: WriteRoom;
  readonly #clock: Clock;
  readonly #log: StoreParts["log"];
  /** Accepted and not yet durable and readable, oldest first. */
  #staged: { readonly stage: Stage; readonly settled: Promise<void>; isDurable: boolean }[] = [];
  /** While a record is decided on and staged in steps: its end. */
  #deciding: Promise<void> | undefined;
  /** While a large record is made readable: the end of it and of those behind it. */
  #shown: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(parts: StoreParts) {
    this.#indexes = parts.indexes;
    this.#journal = parts.journal;
    this.#tables = parts.tables;
    this.#checkpointer = parts.checkpointer;
    this.#room = new WriteRoom(parts, () => this.#assertOpen());
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#tokens = parts.tokens;
  }

  get catalogue(): StoreCatalogue {
    return this.#indexes.catalogue;
  }

  async commit<T>(decide: Decide<T>): Promise<T> {
    for (;;) {
      const refusal = await this.#room.wait();
      while (this.#deciding !== undefined) await this.#deciding;
      const newest = this.#staged.at(-1);
      const now = timeOfRecord(this.#indexes, this.#clock, this.#log);
      let decision: ReturnType<typeof decide>;
      try {
        decision = decide(this.#sectionAt(now));
      } catch (error) {
        if (await isDurable(newest)) throw error;
        continue;
      }
      try {
        if ("next" in decision || decision.changes.length > CHANGES_AT_ONCE)
          return await this.#commitInSteps(decide, refusal);
        const record = this.#recordOf(now, decision, refusal);
        if (record !== undefined) {
          await this.#append(record);
          return decision.result;
        }
      } catch (error) {
        if (error instanceof Overtaken) continue;
        throw error;
      }
      // The decision rests on what it saw, which may not be durable or readable yet. Refused writes never were: decide again.
      if (await isDurable(newest)) return decision.result;
    }
  }

  async #commitInSteps<T>(decide: Decide<T>, refusal: ServiceError | undefined): Promise<T> {
    const deciding = this.#decideInSteps(decide, refusal);
    this.#deciding = Promise.allSettled([deciding]).then(() => (this.#deciding = undefined));
    const { result, written } = await deciding;
    await written;
    return result;
  }

  /** Decides once all before is durable or taken back, and stages: no other write may come between the steps. */
  async #decideInSteps<T>(
    decide: Decide<T>,
    refusal: ServiceError | undefined,
  ): Promise<{ readonly result: T; readonly written?: Promise<void> }> {
    await Promise.allSettled(this.#staged.map(({ settled }) => settled));
    const now = timeOfRecord(this.#indexes, this.#clock, this.#log);
    const decision = decide(this.#sectionAt(now));
    const decided = "next" in decision ? await inSlices(decision) : decision;
    await nextTurn();
    const record = this.#recordOf(now, decided, refusal);
    if (record === undefined) return decided;
    const staged = await inSlices(stageRecord(this.#indexes, record));
    await nextTurn();
    try {
      return { result: decided.result, written: this.#append(record, staged) };
    } catch (error) {
      staged.stage.undo();
      throw error;
    }
  }

  /** Undefined without changes. @throws {ServiceError} STORE_FULL where there is no room for them. */
  #recordOf(time: number, { changes, erases }: Decision<unknown>, refusal?: ServiceError) {
    if (changes.length === 0 && (erases === undefined || !this.#indexes.feed.names(erases))) return undefined;
    const record = { time, changes, erases, frees: frees(changes) };
    if (!record.frees) this.#room.assert(refusal);
    return record;
  }

  #sectionAt(now: number): WriteSection {
    const { nextOrder, believed } = this.#indexes;
    return { now, nextOrder, believedNow: believed?.at ?? this.#clock.now() };
  }

  async assertWritable(): Promise<void> {
    this.#room.assert(await this.#room.wait());
    if (this.#journal.isFull) throw diskFull();
    await this.#journal.assertInPlace();
  }

  async readMemories(ids: readonly string[]): Promise<Map<string, SeenMemory>> {
    const rows = await this.readRows(ids);
    const memories = new Map<string, SeenMemory>();
    for (const id of ids) {
      const row = rows.get(id);
      const entry = this.catalogue.find(id);
      if (row === undefined || entry === undefined) continue;
      const memory = citedAsNow(memoryOf(row), this.catalogue.documents);
      memories.set(id, {
        ...memory,
        supersedes: memory.supersedes.filter((other) => this.catalogue.find(other)?.userId === memory.userId),
        salience: entry.salience,
        lastSeenAt: entry.lastSeenAt,
        superseded: this.catalogue.supersession(entry.ordinal) ?? null,
      });
    }
    return memories;
  }

  readRows(ids: readonly string[]): Promise<Map<string, MemoryRow>> {
    return this.#read("memories", ids);
  }

  async readVersions(ids: readonly string[]): Promise<Map<string, VersionRow>> {
    const rows = await this.#read("versions", ids);
    // The memory is one JSON value: columns that came later do not complete it.
    for (const [id, row] of rows) rows.set(id, { ...row, memory: { ...LATER_FIELDS, ...row.memory } });
    return rows;
  }

  async lookAtClock(): Promise<void> {
    if (lookAt(this.#indexes, this.#clock.now())) await this.#checkpointer.note();
  }

  /** Memories that have no vectors or token vectors, as after these were lost or made by another model; oldest first. */
  lackingVectors(): Generator<string> {
    return this.memoryIds((ordinal, id) => {
      const pending = this.#indexes.overlay.get("tokens", id);
      const hasTokens = pending === undefined ? this.#tokens.has(ordinal) : pending !== null;
      return !hasTokens || !this.#indexes.vectors.index.has(ordinal);
    });
  }

  /** See `StampedVectors`. */
  get vectors(): Pick<StampedVectors, "before" | "onForeign"> {
    return this.#indexes.vectors;
  }

  /** The store's model is another from now on: its memories lack vectors until these are made again. */
  async changeModel(stamp: EmbeddingStamp): Promise<void> {
    this.#indexes.vectors.change(stamp);
    await this.#checkpointer.note();
  }

  /** Every memory has vectors of the store's model: nothing of the one before is left. */
  async modelChanged(): Promise<void> {
    this.#indexes.vectors.changed();
    await this.#checkpointer.note();
  }

  get lacksEdges(): boolean {
    return this.#indexes.lacksEdges;
  }

  /** Every waypoint that was lost is made again. */
  async edgesMade(): Promise<void> {
    this.#indexes.lacksEdges = false;
    await this.#checkpointer.note();
  }

  *memoryIds(isWanted: (ordinal: Ordinal, id: string) => boolean = () => true): Generator<string> {
    for (let ordinal = 0; ordinal < this.catalogue.ordinals; ordinal += 1) {
      const id = this.catalogue.idAt(ordinal);
      if (id !== undefined && isWanted(ordinal, id)) yield id;
    }
  }

  async readTokens(ids: readonly string[]): Promise<Map<string, TokenVectors>> {
    const { overlay, vectors: known } = this.#indexes;
    const found = await overlay.read("tokens", ids, (others) => this.#tokens.read(others));
    for (const [id, { stamp }] of found) if (!known.isKnown(stamp)) found.delete(id);
    return found;
  }

  termStatistics(among?: Selection): TermStatistics {
    return this.#indexes.words.statistics(among);
  }

  scoreWords(terms: readonly QueryTerm[], averageLength: number, selection?: Selection): Scores {
    return this.#indexes.words.score(terms, averageLength, this.catalogue.ordinals, selection);
  }

  havingTerm(term: string): (ordinal: Ordinal) => boolean {
    return this.#indexes.words.having(term);
  }

  scoreVectors(vector: Float32Array, selection?: Selection): Scores {
    return this.#indexes.vectors.index.score(vector, selection);
  }

  windowsOf(ordinal: Ordinal): Float32Array[] {
    return this.#indexes.vectors.index.windowsOf(ordinal);
  }

  /**
   * For the journal, in the moment it refuses everything not yet durable, before anybody is told: takes all of that
   * back, newest first.
   */
  takeBackStaged(): void {
    for (const { stage, isDurable } of this.#staged.toReversed()) if (!isDurable) stage.undo();
    this.#staged = this.#staged.filter(({ isDurable }) => isDurable);
  }

  /** True while a record is staged, or decided on in steps. */
  get isBusy(): boolean {
    return this.#deciding !== undefined || this.#staged.length > 0;
  }

  /** Resolves once what is staged or decided on now is durable, or taken back. */
  async idle(): Promise<void> {
    const settled = this.#staged.map((staged) => staged.settled);
    await Promise.allSettled([this.#deciding, ...settled]);
  }

  /** Resolves once no record is decided on in steps. */
  async decided(): Promise<void> {
    await this.#deciding;
  }

  /** Resolves once every record that became durable before is readable. */
  async shown(): Promise<void> {
    await this.#shown;
  }

  /**
   * Shows what another process wrote: the records since the newest that is shown, and the rows that they changed, as these
   * rest now. Nothing may be staged, nor decided on in steps.
   */
  takeOver(records: readonly NewerRecord[], changes: readonly Change[]): void {
    catchUp(this.#indexes, inOrderOfAdding(this.catalogue, changes));
    for (const { time, feedEntries, erases } of records) {
      this.#indexes.lastTime = time;
      this.#indexes.feed.publish(time, feedEntries, erases);
    }
  }

  /** Aborted when the store closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Figures for the status. */
  get pending(): { readonly rows: number; readonly bytes: number } {
    return { rows: this.#indexes.overlay.rows, bytes: this.#indexes.overlay.bytes };
  }

  /** See `WriteRoom.addsRefused`. */
  get addsRefused(): string | undefined {
    return this.#room.addsRefused;
  }

  /** Brings `addsRefused` up to date. */
  lookAtDiskSpace(): Promise<void> {
    return this.#room.look();
  }

  /** Ends writing, and then all else. What is pending stays in the journal for the next start. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#checkpointer.close();
    await this.#journal.close();
    await this.#tokens.close();
    await this.#tables.close();
  }

  async #read<T extends LanceTable>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>> {
    const rows = new Map<string, Rows[T]>();
    const stored = (others: readonly string[]) => this.#tables.read(table, others);
    for (const some of inPieces(ids, ROWS_PER_READ))
      for (const [id, row] of await this.#indexes.overlay.read(table, some, stored)) rows.set(id, row);
    return rows;
  }

  /** Notes the record, and stages one that is not yet. @throws what the journal throws at once, before that. */
  #append(record: RecordToAppend, known?: StagedRecord): Promise<void> {
    const { sequence, durable } = this.#journal.append(record, () => made.stage.feedEntries);
    const made = known ?? runAtOnce(stageRecord(this.#indexes, record));
    const { stage } = made;
    noteRecord(this.#indexes, record.time, made);
    // Chained at once, not awaited later: records are handed on in the order the journal resolves them.
    const settled = durable
      .then(() => {
        staged.isDurable = true;
        return this.#show({ ...record, sequence }, stage);
      })
      .finally(() => (this.#staged = this.#staged.filter((other) => other !== staged)));
    const staged = { stage, settled, isDurable: false };
    this.#staged.push(staged);
    return settled.catch((error: unknown) => {
      throw this.#room.explain(error);
    });
  }

  /**
   * Makes a durable record readable: a small one at once. In the order of calls, because the overlay must not be at a record
   * before it has all of those before.
   */
  #show(record: JournalRecord, stage: Stage): Promise<void> | undefined {
    const steps = this.#showInSteps(record, stage);
    const before = this.#shown;
    if (before === undefined && runSlice(steps).done === true) return undefined;
    const shown = (before ?? nextTurn()).then(() => inSlices(steps));
    this.#shown = shown;
    return shown.then(() => {
      if (this.#shown === shown) this.#shown = undefined;
    });
  }

  *#showInSteps(record: JournalRecord, stage: Stage): Generator<void, void> {
    const bytes = yield* showInSteps(this.#indexes, record, stage);
    this.#indexes.feed.publish(record.time, stage.feedEntries, record.erases);
    this.#checkpointer.notePending(record.changes.length, bytes);
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw notReady("The daemon is stopping; start it again to write.");
  }
}
