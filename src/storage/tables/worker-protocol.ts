import type { TableName } from "../../core/rows.ts";
import type { Columns } from "./columns.ts";
import type { CopiedPiece, CopiedTable } from "./next-generation.ts";
import type { StateToOpen, TableState } from "./table-spec.ts";

/** How a copy of all tables is made beside them and takes their place. */
export interface GenerationCalls {
  /**
   * Begins to copy every table to a new generation beside it, without what was deleted: all that is applied by now, one
   * copy at a time. Rows applied from here on are brought into it by `catchUp`.
   */
  startGeneration(): CopiedTable[];
  /** Copies some more, beside reads and commits; undefined when everything is copied. */
  copyPiece(): CopiedPiece | undefined;
  /** Gives ids in the copy the rows that they have in the tables by now, or none. Never beside `commit`. */
  catchUp(table: TableName, ids: readonly string[]): void;
  /** Files of the copy so far. */
  generationStates(): TableState[];
  /** Makes the copy what is read and written. Reads that run end where they began. */
  switchGeneration(): void;
  /** Lets go of the copy, whose files stay, and takes a switch back; nothing where there is no copy. */
  abandonGeneration(): void;
  /** After a switch: lets go of what was copied, whose files stay, once nobody reads it. */
  endGeneration(): void;
}

/** Requests to the tables' thread. */
export interface TablesCalls extends GenerationCalls {
  open(directory: string, states: readonly StateToOpen[], unindexed: readonly TableName[]): void;
  /** Takes in a piece of the next `commit`, converted at once, so that reads get their turn between pieces. */
  stage(table: TableName, ids: readonly string[], columns: Columns | undefined): void;
  /** Writes what was staged, table by table. What was staged is forgotten whether it succeeds or not. */
  commit(): void;
  discard(): void;
  read(table: TableName, ids: readonly string[], columns: readonly string[] | undefined): Columns[];
  /** Some rows by their place, which stays as it is while nothing is written. */
  range(table: TableName, first: number, count: number): Columns[];
  startScan(table: TableName, columns: readonly string[] | undefined): number;
  /** Undefined at the end. */
  nextBatch(scan: number): Columns | undefined;
  stopScan(scan: number): void;
  states(): TableState[];
  compact(thresholds: CompactionThresholds): boolean;
  close(): void;
}

export type TablesRequest = {
  [K in keyof TablesCalls]: {
    readonly call: K;
    readonly id: number;
    readonly args: Parameters<TablesCalls[K]>;
  };
}[keyof TablesCalls];

export type TablesReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly message: string; readonly stack: string | undefined } };

/** When a table is compacted: its small files written anew as one, without what was deleted. */
export interface CompactionThresholds {
  /** At as many fragments: a lookup visits each. */
  readonly fragments: number;
  /** … or at fewer, once that part of the rows is outside the largest: then rewriting it all is little against them. */
  readonly freshFragments: number;
  readonly freshRatio: number;
  /** … or where that part of the stored rows is deleted. */
  readonly deletedRatio: number;
}

/** Ten rows by id of 16 000 took 5 ms from ten fragments and 2 ms from one. */
export const COMPACTION_THRESHOLDS: CompactionThresholds = {
  fragments: 32,
  freshFragments: 5,
  freshRatio: 0.25,
  deletedRatio: 0.2,
};
