import type { TableName } from "../../core/rows.ts";
import type { Columns } from "./columns.ts";
import type { CompactionThresholds } from "./compaction-thresholds.ts";
import type { CopiedPiece, CopiedTable } from "./next-generation.ts";
import type { TableState } from "./table-state.ts";

/** What the tables' thread can be asked to do. */
export interface TablesCalls {
  open(directory: string, states: readonly TableState[], unindexed: readonly TableName[]): void;
  /** Takes in a piece of the next `commit`, converted at once, so that reads get their turn between pieces. */
  stage(table: TableName, ids: readonly string[], columns: Columns | undefined): void;
  /** Writes what was staged, table by table. What was staged is forgotten whether it succeeds or not. */
  commit(): void;
  discard(): void;
  read(table: TableName, ids: readonly string[], columns: readonly string[] | undefined): Columns[];
  startScan(table: TableName, columns: readonly string[] | undefined): number;
  /** Undefined at the end. */
  nextBatch(scan: number): Columns | undefined;
  stopScan(scan: number): void;
  states(): TableState[];
  compact(thresholds: CompactionThresholds): boolean;
  startGeneration(): CopiedTable[];
  copyPiece(): CopiedPiece | undefined;
  catchUp(table: TableName, ids: readonly string[]): void;
  generationStates(): TableState[];
  switchGeneration(): void;
  abandonGeneration(): void;
  endGeneration(): void;
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
