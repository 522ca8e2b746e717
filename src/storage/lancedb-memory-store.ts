import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { EmbeddingStamp, TokenVectors } from "../core/embedding.ts";
import { runAtOnce } from "../core/at-once.ts";
import { notReady, ServiceError, storeFull } from "../core/errors.ts";
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
import { memoryOf, type MemoryRow, type LanceTable, type Rows, type VersionRow } from "../core/rows.ts";
import type { TermStatistics } from "../core/recall/bm25.ts";
import { lookAt } from "./believed-time.ts";
import type { Stage, StoreCatalogue } from "./catalogue/catalogue.ts";
import type { StampedVectors } from "./catalogue/stamped-vectors.ts";
import type { Checkpointer } from "./checkpoints/checkpointer.ts";
import type { Journal, RecordToAppend } from "./journal/journal.ts";
import { frees, diskFull } from "./journal/refusals.ts";
import { type DiskSpace, inWords, noRoom } from "./files/disk-space.ts";
import {
  inSlices,
  isDurable,
  noteRecord,
  Showing,
  type StagedRecord,
  stageRecord,
  type StoreIndexes,
  type StoreLog,
  timeOfRecord,
} from "./store-indexes.ts";
import type { Tables } from "./tables/tables.ts";
import type { TokenFiles } from "./tables/token-files.ts";
import { CachedRows, type RowCaches } from "./image/row-cache.ts";

/** Pending bytes past which a write waits for the checkpointer. */
const MAX_PENDING_BYTES = 256 * 1_024 * 1_024;
/** Staging more than these, some 20 ms, is done in steps. */
const CHANGES_AT_ONCE = 10_000;
/** How often a write that waits looks whether there is room. */
const ROOM_INTERVAL_MS = 50;
/** Flushing that fails is tried again so often, and so much later, before the write is refused. */
const [FLUSHES_AGAIN, FLUSH_AGAIN_MS] = [2, 500];

/** Keeps memories and facts in a journal, in memory and in LanceDB tables; see `src/README.md` for how the three share the work. */
export class LanceDbMemoryStore implements MemoryStore {
  readonly #indexes: StoreIndexes;
  readonly #journal: Pick<Journal, "append" | "isFull" | "findRoom" | "assertInPlace" | "close">;
  readonly #tables: Pick<Tables, "read" | "close">;
  readonly #tokens: Pick<TokenFiles, "read" | "has" | "close">;
  readonly #checkpointer: Pick<Checkpointer, "notePending" | "flush" | "note" | "close">;
  readonly #room: DiskSpace;
  readonly #clock: Clock;
  readonly #log: Pick<StoreLog, "warn">;
  readonly #cached: CachedRows;
  /** Accepted and not yet durable and readable, oldest first. */
  #staged: { readonly stage: Stage; readonly settled: Promise<void>; isDurable: boolean }[] = [];
  /** While a record is decided on and staged in steps: its end. */
  #deciding: Promise<void> | undefined;
  readonly #showing: Showing;
  readonly #closing = new AbortController();

  constructor(parts: {
    readonly indexes: StoreIndexes;
    readonly journal: Pick<Journal, "append" | "isFull" | "findRoom" | "assertInPlace" | "close">;
    readonly tables: Pick<Tables, "read" | "close">;
    readonly tokens: Pick<TokenFiles, "read" | "has" | "close">;
    readonly checkpointer: Pick<Checkpointer, "notePending" | "flush" | "note" | "close">;
    readonly room: DiskSpace;
    readonly clock: Clock;
    readonly log: Pick<StoreLog, "warn">;
    readonly caches?: RowCaches;
  }) {
    this.#indexes = parts.indexes;
    this.#journal = parts.journal;
    this.#tables = parts.tables;
    this.#checkpointer = parts.checkpointer;
    this.#room = parts.room;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#tokens = parts.tokens;
    this.#cached = new CachedRows({
      read: (ids) => this.#read("memories", ids),
      ids: () => this.memoryIds(),
      settled: (ids) => this.#settled(ids),
      ...parts.caches,
      until: this.#closing.signal,
    });
    this.#showing = new Showing(parts.indexes, {
      beforeRow: (change) => this.#cached.forget(change),
      onShown: (rows, bytes) => this.#checkpointer.notePending(rows, bytes),
    });
  }

  get catalogue(): StoreCatalogue {
    return this.#indexes.catalogue;
  }

  async commit<T>(decide: Decide<T>): Promise<T> {
    for (;;) {
      const refusal = await this.#waitForRoom();
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
      if ("next" in decision || decision.changes.length > CHANGES_AT_ONCE)
        return this.#commitInSteps(decide, refusal);
      const record = this.#recordOf(now, decision, refusal);
      if (record !== undefined) {
        await this.#append(record);
        return decision.result;
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
    if (!record.frees) this.#assertRoom(refusal);
    return record;
  }

  #sectionAt(now: number): WriteSection {
    return { now, nextOrder: this.#indexes.nextOrder, believedNow: this.believedNow };
  }

  async assertWritable(): Promise<void> {
    this.#assertRoom(await this.#waitForRoom());
    if (this.#journal.isFull) throw diskFull();
    await this.#journal.assertInPlace();
  }

  async readMemories(ids: readonly string[]): Promise<Map<string, SeenMemory>> {
    const rows = await this.#cached.read(ids);
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

  get believedNow(): number {
    return this.#indexes.believed?.at ?? this.#clock.now();
  }

  async lookAtClock(): Promise<void> {
    if (lookAt(this.#indexes, this.#clock.now())) await this.#checkpointer.note();
  }

  /** Memories that have no vectors or token vectors, as after these were lost or made by another model; oldest first. */
  lackingVectors(): Generator<string> {
    return this.memoryIds((ordinal, id) => {
      const pending = this.#indexes.overlay.get("tokens", id);
      const hasTokens = pending === undefined ? this.#tokens.has(ordinal) : pending !== null;
      return !hasTokens || !this.#indexes.vectors.has(ordinal);
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
    const found = new Map<string, TokenVectors>();
    for (const [id, { vectors, stamp }] of await overlay.read("tokens", ids, (others) =>
      this.#tokens.read(others),
    ))
      if (known.isKnown(stamp)) found.set(id, { vectors });
    this.#cached.readAhead();
    return found;
  }

  termStatistics(among?: Selection): TermStatistics {
    return this.#indexes.words.statistics(among);
  }

  scoreWords(terms: readonly QueryTerm[], averageLength: number, selection?: Selection): Scores {
    return this.#indexes.words.score(terms, averageLength, this.catalogue.ordinals, selection);
  }

  scoreVectors(vector: Float32Array, selection?: Selection): Scores {
    return this.#indexes.vectors.score(vector, selection);
  }

  windowsOf(ordinal: Ordinal): Float32Array[] {
    return this.#indexes.vectors.windowsOf(ordinal);
  }

  /**
   * For the journal, in the moment it refuses everything not yet durable, before anybody is told: takes all of that
   * back, newest first.
   */
  takeBackStaged(): void {
    for (const { stage, isDurable } of this.#staged.toReversed()) if (!isDurable) stage.undo();
    this.#staged = this.#staged.filter(({ isDurable }) => isDurable);
  }

  /** Aborted when the store closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Figures for the status. */
  get pending(): { readonly rows: number; readonly bytes: number } {
    return { rows: this.#indexes.overlay.rows, bytes: this.#indexes.overlay.bytes };
  }

  /** Why writes that add are refused, for people; undefined while they are taken. As of the last `lookAtDiskSpace`. */
  get addsRefused(): string | undefined {
    const { lack } = this.#room;
    if (lack !== undefined) return `the disk is full (${inWords(lack)}); deleting for good still works`;
    return this.#journal.isFull
      ? "the disk, or a quota on it, is full; deleting for good still works"
      : undefined;
  }

  /** Brings `addsRefused` up to date. */
  async lookAtDiskSpace(): Promise<void> {
    await this.#room.look();
    // It knows of quotas too, and of what the last bytes are kept for.
    if (this.#room.lack === undefined && this.#journal.isFull) await this.#journal.findRoom();
  }

  /** Ends writing, and then all else. What is pending stays in the journal for the next start. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#checkpointer.close();
    await this.#journal.close();
    await this.#cached.close();
    await this.#tokens.close();
    await this.#tables.close();
  }

  #read<T extends LanceTable>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>> {
    return this.#indexes.overlay.read(table, ids, (others) => this.#tables.read(table, others));
  }

  /** See `TextSource`. */
  #settled(ids: readonly string[]): string[] | undefined {
    if (this.#deciding !== undefined) return undefined;
    return ids.filter((id) => !this.#staged.some(({ stage }) => stage.ordinals.has(id)));
  }

  /** Notes the record, and stages one that is not yet. @throws what the journal throws at once, before that. */
  #append(record: RecordToAppend, known?: StagedRecord): Promise<void> {
    const { sequence, durable } = this.#journal.append(record);
    const made = known ?? runAtOnce(stageRecord(this.#indexes, record));
    const { stage } = made;
    noteRecord(this.#indexes, record.time, made);
    // Chained at once, not awaited later: records are handed on in the order the journal resolves them.
    const settled = durable
      .then(() => {
        staged.isDurable = true;
        return this.#showing.show({ ...record, sequence }, stage);
      })
      .finally(() => (this.#staged = this.#staged.filter((other) => other !== staged)));
    const staged = { stage, settled, isDurable: false };
    this.#staged.push(staged);
    return settled.catch((error: unknown) => {
      // The journal knows only that the disk is full, not how much must be free.
      const { lack } = this.#room;
      const isFull = error instanceof ServiceError && error.code === "STORE_FULL";
      throw isFull && lack !== undefined ? noRoom(lack, error) : error;
    });
  }

  /**
   * Waits while too much is pending; why there is still too much then, for writes that would add to it.
   *
   * @throws {ServiceError} NOT_READY once the store closes.
   */
  async #waitForRoom(): Promise<ServiceError | undefined> {
    this.#assertOpen();
    // Without a turn for others where nothing is to be asked.
    if (!this.#room.isFresh || this.#journal.isFull) await this.lookAtDiskSpace();
    for (let failures = 0; this.#indexes.overlay.bytes >= MAX_PENDING_BYTES;) {
      try {
        // There is room as soon as the tables have the rows; the rest of a flush may take much longer.
        const pause = () => sleep(ROOM_INTERVAL_MS, undefined, { ref: false });
        await Promise.race([this.#checkpointer.flush().then(pause), pause()]);
      } catch (cause) {
        this.#assertOpen();
        const message = "The disk does not take what was written before; try again shortly.";
        if (failures === FLUSHES_AGAIN) return storeFull(message, { cause, retryAfterSeconds: 5 });
        failures += 1;
        await sleep(FLUSH_AGAIN_MS, undefined, { ref: false });
      }
      this.#assertOpen();
    }
    return undefined;
  }

  #assertRoom(refusal: ServiceError | undefined): void {
    if (refusal !== undefined) throw refusal;
    if (this.#room.lack !== undefined) throw noRoom(this.#room.lack);
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw notReady("The daemon is stopping; start it again to write.");
  }
}
