import type { TableName } from "./rows.ts";

/** Lengths of files, and how many. */
export type DiskUsage = { readonly bytes: number; readonly files: number };

/** Deleted and replaced rows that still stand in files. */
export interface UnpurgedRows {
  /** Memories, facts and documents. */
  readonly items: number;
  /** Rows by table, of those items and of everything that belonged to them. */
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
  /** When the oldest of them was deleted, epoch milliseconds. */
  readonly since: number;
}

/** The figures of a purge. The figures after it include rows added while it ran. */
export interface PurgeReport {
  readonly tables: readonly {
    readonly table: TableName | "texts";
    /** Number of removed rows, deleted and replaced. */
    readonly rows: number;
    readonly before: DiskUsage;
    readonly after: DiskUsage;
  }[];
  readonly journal: { readonly before: DiskUsage; readonly after: DiskUsage };
  /** Originals of documents that are gone. */
  readonly originals: DiskUsage;
}

export interface PurgeProgress {
  readonly stage: "preparing" | "copying" | "switching" | "removing";
  /** Rows copied so far, of `total`. */
  readonly done: number;
  readonly total: number;
}
