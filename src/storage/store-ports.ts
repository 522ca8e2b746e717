import type { Clock, Ordinal } from "../core/ports.ts";
import type { LanceTable, Rows, TokenRow } from "../core/rows.ts";
import type { DiskSpace } from "./files/disk-space.ts";
import type { StoreJournal } from "./journal/journal.ts";
import type { StoreIndexes, StoreLog } from "./store-indexes.ts";

/** Rows by id, as they are where they rest. */
export interface StoredRows {
  /** The rows that exist among up to 10 000 ids. */
  read<T extends LanceTable>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>>;
  close(): Promise<void>;
}

/** Token vectors, as they are where they rest. */
export interface StoredTokens {
  read(ids: readonly string[]): Promise<Map<string, TokenRow>>;
  has(ordinal: Ordinal): boolean;
  close(): Promise<void>;
}

/** Moves durable rows from the overlay to where they rest. */
export interface StoreCheckpointer {
  /** Told of durable rows that are readable, and of what they weigh in bytes. */
  notePending(rows: number, bytes: number): void;
  /** Resolves once all that was pending rests. */
  flush(): Promise<void>;
  /** Keeps figures of the store that no record holds. */
  note(): Promise<void>;
  close(): Promise<void>;
}

/** What a store is built over: LanceDB and files, PostgreSQL, or arrays. */
export interface StoreParts {
  readonly indexes: StoreIndexes;
  readonly journal: StoreJournal;
  readonly tables: StoredRows;
  readonly tokens: StoredTokens;
  readonly checkpointer: StoreCheckpointer;
  readonly room: DiskSpace;
  readonly clock: Clock;
  readonly log: Pick<StoreLog, "warn">;
}
