import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { runAtOnce } from "../../core/at-once.ts";
import { notReady, type ServiceError } from "../../core/errors.ts";
import type { FeedEntry } from "../../core/feed.ts";
import type { Change } from "../../core/rows.ts";
import { bytesOf } from "../catalogue/overlay.ts";
import { unpurgedIn } from "../checkpoints/purge-ledger.ts";
import { type JournalRecord, Overtaken, type RecordToAppend, type StoreJournal } from "../journal/journal.ts";
import {
  type Database,
  DatabaseError,
  notWritten,
  perhapsWritten,
  type Query,
  type Transaction,
} from "./database.ts";
import { type Head, type Newer, readNewer } from "./newer-records.ts";
import { columnsOf, kindOf, timeOf } from "./row-columns.ts";
import { EMPTY_IMAGE } from "./user-image.ts";

/** The store over the journal. */
export interface JournalHooks {
  /** See `IndexedMemoryStore`. */
  readonly shown: () => Promise<void>;
  readonly decided: () => Promise<void>;
  readonly takeBackStaged: () => void;
  readonly takeOver: (newer: Newer) => void;
  /** Told of changes that the database has, before their writes are answered. */
  readonly onWritten: (changes: readonly Change[]) => void;
  /** Called once, when the state of the user is no longer known: the user is to be loaded anew. */
  readonly onLost: () => void;
}

interface Waiting extends JournalRecord {
  readonly feedEntries: () => readonly FeedEntry[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** How long a write is tried again while the database is away. */
const PATIENCE_MS = 10_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 500];
/** One statement writes so many rows, or so many bytes, at most; a larger record is a transaction of several. */
const [ROWS_PER_STATEMENT, BYTES_PER_STATEMENT] = [1_000, 4 * 1_024 * 1_024];

/**
 * Makes the records of one user durable in PostgreSQL. A write names the state that it was decided on, by sequence and token:
 * one statement moves these on and puts rows and records. Whoever was overtaken locks the user, takes over what is newer and
 * decides again under that lock, so that nobody starves.
 */
export class UserJournal implements StoreJournal {
  readonly #database: Database;
  readonly #owner: string;
  readonly #hooks: JournalHooks;
  readonly #patienceMs: number;
  #head: Head;
  #next: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #ended: ServiceError | undefined;
  #overtakings = 0;

  constructor(
    database: Database,
    owner: string,
    { head, hooks, patienceMs = PATIENCE_MS }: { head: Head; hooks: JournalHooks; patienceMs?: number },
  ) {
    this.#database = database;
    this.#owner = owner;
    this.#hooks = hooks;
    this.#patienceMs = patienceMs;
    this.#head = head;
    this.#next = head.sequence;
  }

  /** The last record that is shown. */
  get head(): Head {
    return this.#head;
  }

  /** How often another process was faster. */
  get overtakings(): number {
    return this.#overtakings;
  }

  /** True after `onLost`. */
  get isLost(): boolean {
    return this.#ended !== undefined;
  }

  readonly isFull = false;
  async findRoom(): Promise<void> {}
  async assertInPlace(): Promise<void> {}

  append({ frees: _frees, ...record }: RecordToAppend, feedEntries: () => readonly FeedEntry[]) {
    if (this.#ended !== undefined) throw this.#ended;
    const sequence = (this.#next += 1);
    const durable = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ ...record, sequence, feedEntries, resolve, reject });
    });
    this.#writing ??= this.#write();
    return { sequence, durable };
  }

  /** Shows what is newer; nothing may be staged or waiting. */
  takeOver(newer: Newer): void {
    try {
      this.#hooks.takeOver(newer);
    } catch (error) {
      // A part of it is shown.
      this.lose(historyChanged());
      throw error;
    }
    this.#head = newer.head;
    this.#next = newer.head.sequence;
  }

  /** Nothing is written any more: what was shown may not be what the database has. */
  lose(reason: ServiceError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#hooks.onLost();
  }

  async close(): Promise<void> {
    await this.#writing;
    this.#ended ??= notReady("The user's memories were closed; try again.", { retryAfterSeconds: 1 });
  }

  async #write(): Promise<void> {
    /** Holds the user after an overtaking, so that the next group is not overtaken. */
    let lock: Transaction | undefined;
    // Whoever appends in the same turn shares the statement.
    await nextTurn();
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        const token = randomUUID();
        if (await this.#put(group, token, lock)) {
          this.#head = { sequence: group.at(-1)?.sequence ?? 0, token };
          for (const { changes, resolve } of group) {
            this.#hooks.onWritten(changes);
            resolve();
          }
          lock = undefined;
          continue;
        }
        this.#overtakings += 1;
        await lock?.end();
        lock = await this.#catchUp(group);
        // Whoever was overtaken decides again meanwhile.
        await nextTurn();
        if (this.#waiting.length === 0) await this.#hooks.decided();
      } catch (error) {
        await lock?.end();
        lock = undefined;
        this.#refuse(group, error as Error);
      }
    }
    await lock?.end();
    this.#writing = undefined;
    // Appended while the lock was given back.
    if (this.#waiting.length > 0) this.#writing = this.#write();
  }

  /** The first records that wait: as many as one statement may hold, but one at least. */
  #takeGroup(): Waiting[] {
    let [rows, bytes, count] = [0, 0, 0];
    for (const { changes } of this.#waiting) {
      rows += changes.length;
      for (const change of changes) bytes += bytesOf(change);
      if (count > 0 && (rows > ROWS_PER_STATEMENT || bytes > BYTES_PER_STATEMENT)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Refuses everything that waits; where nobody knows whether `group` was written, the state is lost. */
  #refuse(group: readonly Waiting[], error: Error): void {
    const others = this.#waiting;
    this.#waiting = [];
    this.#hooks.takeBackStaged();
    this.#next = this.#head.sequence;
    if (error instanceof Lost) this.lose(error.reason);
    for (const { reject } of group) reject(error instanceof Lost ? error.reason : error);
    for (const { reject } of others) reject(error instanceof Lost ? historyChanged() : error);
  }

  /**
   * Writes a group, under the lock if there is one. False: overtaken, so nothing of it was written.
   *
   * Where the answer is lost the same is tried again, by the same token: either it succeeds, or the token stands in the
   * database, or somebody else was faster and it never will.
   *
   * @throws {ServiceError} what was certainly not written; {Lost} what nobody knows of.
   */
  async #put(group: readonly Waiting[], token: string, lock: Transaction | undefined): Promise<boolean> {
    const deadline = performance.now() + this.#patienceMs;
    let isUnknown = false;
    let transaction = lock;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, 2 * pause)) {
      try {
        if (await this.#compareAndSet(group, token, transaction)) return true;
        return isUnknown && (await this.#stands(group, token));
      } catch (error) {
        await transaction?.end();
        transaction = undefined;
        if (!(error instanceof DatabaseError)) throw error;
        if (error.isConflict && !isUnknown) return false;
        if (error.isRefusal && !isUnknown) throw notWritten(error);
        isUnknown ||= error.isUnknown;
        if (performance.now() >= deadline)
          throw isUnknown ? new Lost(perhapsWritten(error)) : notWritten(error);
        await sleep(pause, undefined, { ref: false });
      }
    }
  }

  /** Whether the records stand in the database under that token. */
  async #stands(group: readonly Waiting[], token: string): Promise<boolean> {
    const found = await this.#database.query(
      "select 1 from memoryd.record where owner = $1 and sequence = $2 and token = $3",
      [this.#owner, group.at(-1)?.sequence, token],
    );
    return found.length > 0;
  }

  /** Moves the user on, and puts records and rows; false where the user is no longer as known, with nothing done. */
  async #compareAndSet(
    group: readonly Waiting[],
    token: string,
    lock: Transaction | undefined,
  ): Promise<boolean> {
    const erased = group.findLast(({ erases }) => erases !== undefined)?.sequence;
    const pieces = piecesOf(group);
    const [first = [], ...rest] = pieces;
    const isOne = rest.length === 0 && erased === undefined && lock === undefined;
    const transaction = isOne ? undefined : (lock ?? (await this.#database.begin()));
    try {
      const query = transaction?.query ?? this.#database.query;
      if (!(await this.#moveOn(query, group, token, first))) return false;
      for (const piece of rest) await this.#putRows(query, piece);
      if (erased !== undefined)
        await query("update memoryd.record set entries = '[]' where owner = $1 and sequence < $2", [
          this.#owner,
          erased,
        ]);
      await transaction?.commit();
      return true;
    } finally {
      await transaction?.end();
    }
  }

  async #moveOn(
    query: Query,
    group: readonly Waiting[],
    token: string,
    rows: readonly WrittenRow[],
  ): Promise<boolean> {
    const last = group.at(-1);
    const { sequence, token: known } = this.#head;
    const isFinal = group.some(({ time, changes }) => runAtOnce(unpurgedIn(time, changes)) !== undefined);
    const move =
      sequence === 0
        ? `insert into memoryd.owner (owner, sequence, token, at, next_order)
            select $1, $2, $3, $4, $5 where $6::bigint = 0 and $7 = '' on conflict do nothing returning 1`
        : `update memoryd.owner set sequence = $2, token = $3, at = $4, next_order = greatest(next_order, $5)
            where owner = $1 and sequence = $6 and token = $7 returning 1`;
    const [answer] = await query<[string]>(
      `with moved as (${move}), noted as (
        insert into memoryd.record (owner, sequence, token, at, erases, entries)
        select $1, r.sequence, $3, r.at, r.erases, r.entries
          from moved, unnest($8::bigint[], $9::bigint[], $10::boolean[], $11::text[]) r (sequence, at, erases, entries)
      ), put as (${put("from moved, ", 12)})${isFinal ? `, emptied as (${EMPTY_IMAGE})` : ""}
      select count(*) from moved`,
      [
        this.#owner,
        last?.sequence,
        token,
        last?.time,
        nextOrderOf(group),
        sequence,
        known,
        group.map((record) => record.sequence),
        group.map(({ time }) => Math.round(time)),
        group.map(({ erases }) => erases !== undefined),
        group.map(({ feedEntries }) =>
          JSON.stringify(feedEntries().map(({ kind, id, userId }) => [kind, id, userId])),
        ),
        ...columnsFrom(rows),
      ],
    );
    return answer?.[0] === "1";
  }

  async #putRows(query: Query, rows: readonly WrittenRow[]): Promise<void> {
    await query(put("from ", 2), [this.#owner, ...columnsFrom(rows)]);
  }

  /** Shows what is newer, and refuses everything that waits as overtaken. @returns the lock on the user. */
  async #catchUp(group: readonly Waiting[]): Promise<Transaction> {
    const deadline = performance.now() + this.#patienceMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, 2 * pause)) {
      let lock: Transaction | undefined;
      try {
        lock = await this.#database.begin();
        await lock.query("select 1 from memoryd.owner where owner = $1 for update", [this.#owner]);
        const newer = await readNewer(lock.query, this.#owner, this.#head);
        if (newer === undefined) throw new Lost(historyChanged());
        await this.#hooks.shown();
        this.#hooks.takeBackStaged();
        this.takeOver(newer);
        const others = this.#waiting;
        this.#waiting = [];
        for (const { reject } of [...group, ...others]) reject(new Overtaken());
        return lock;
      } catch (error) {
        await lock?.end();
        if (!(error instanceof DatabaseError)) throw error;
        if (performance.now() >= deadline) throw notWritten(error);
        await sleep(pause, undefined, { ref: false });
      }
    }
  }
}

/** The state of the user is no longer known. */
class Lost extends Error {
  readonly reason: ServiceError;

  constructor(reason: ServiceError) {
    super(reason.message);
    this.reason = reason;
  }
}

/** The error of what was begun on a state that the database no longer knows. */
export const historyChanged = (): ServiceError =>
  notReady(
    "The database has lost the state of this user's memories that was known here, or moved far beyond it; nothing was " +
      "stored. They are loaded anew: try again.",
    { retryAfterSeconds: 1 },
  );

interface WrittenRow {
  readonly change: Change;
  readonly sequence: number;
}

/** The rows of some records in pieces for a statement each: of several to one id the last counts. */
function piecesOf(group: readonly Waiting[]): WrittenRow[][] {
  const last = new Map<string, WrittenRow>();
  for (const { changes, sequence } of group)
    for (const change of changes) last.set(`${change.table} ${change.id}`, { change, sequence });
  const pieces: WrittenRow[][] = [];
  let piece: WrittenRow[] = [];
  let bytes = 0;
  for (const row of last.values()) {
    bytes += bytesOf(row.change);
    if (piece.length > 0 && (piece.length >= ROWS_PER_STATEMENT || bytes > BYTES_PER_STATEMENT)) {
      pieces.push(piece);
      piece = [];
      bytes = bytesOf(row.change);
    }
    piece.push(row);
  }
  return [...pieces, piece];
}

/** The statement that puts rows, whose columns are the parameters from `$first` on. */
const put = (from: string, first: number): string =>
  `insert into memoryd.row (owner, kind, id, sequence, slim, heavy, at)
    select $1, r.* ${from}unnest($${first}::smallint[], $${first + 1}::text[], $${first + 2}::bigint[], $${first + 3}::bytea[], $${first + 4}::bytea[], $${first + 5}::float8[]) r
    on conflict (owner, kind, id) do update
      set sequence = excluded.sequence, slim = excluded.slim, heavy = excluded.heavy, at = excluded.at`;

function columnsFrom(rows: readonly WrittenRow[]): unknown[] {
  const columns = rows.map(({ change }) => columnsOf(change));
  return [
    rows.map(({ change }) => kindOf(change.table)),
    rows.map(({ change }) => change.id),
    rows.map(({ sequence }) => sequence),
    columns.map(({ slim }) => slim),
    columns.map(({ heavy }) => heavy),
    rows.map(({ change }) => timeOf(change)),
  ];
}

function nextOrderOf(group: readonly Waiting[]): number {
  let next = 1;
  for (const { changes } of group)
    for (const { table, row } of changes)
      if (table === "memories" && row !== null) next = Math.max(next, row.order + 1);
  return next;
}
