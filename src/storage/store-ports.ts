import type { Clock, Ordinal } from "../core/ports.ts";
import type { LanceTable, Rows, TokenRow } from "../core/rows.ts";
import type { Overlay } from "./catalogue/overlay.ts";
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

/** For rows that rest where they are read once they are durable: the overlay lets go of them, and nothing is pending. */
export const withoutCheckpoints = (overlay: Pick<Overlay, "release">): StoreCheckpointer => ({
  notePending: () => void overlay.release(Infinity),
  flush: async () => {},
  note: async () => {},
  close: async () => {},
});

/** The room of a store that does not look at a disk. */
export const ENDLESS_ROOM: DiskSpace = { lack: undefined, isFresh: true, look: async () => {} };

/** The parts that a store is built over: LanceDB and files, PostgreSQL, or arrays. */
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
