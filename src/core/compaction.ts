import type { TableName } from "./rows.ts";

/** Lengths of files, and how many. */
export interface DiskUsage {
  readonly bytes: number;
  readonly files: number;
}

/** What was deleted, or replaced by a newer version, and still stands in files. */
export interface UnpurgedRows {
  /** Memories, facts and documents. */
  readonly items: number;
  /** Rows by table, of those and of what belonged to them. */
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
  /** When the oldest of them was deleted, epoch milliseconds. */
  readonly since: number;
}

/** What went from the disk. What was added meanwhile is in the figures after it. */
export interface PurgeReport {
  readonly tables: readonly {
    readonly table: TableName;
    /** Deleted and replaced ones. */
    readonly rows: number;
    readonly before: DiskUsage;
    readonly after: DiskUsage;
  }[];
  readonly journal: { readonly before: DiskUsage; readonly after: DiskUsage };
  /** Originals of documents that are gone. */
  readonly originals: DiskUsage;
}

export type CompactionStage = "preparing" | "copying" | "switching" | "removing";

export interface CompactionProgress {
  readonly stage: CompactionStage;
  /** Rows copied so far, of those there are. */
  readonly done: number;
  readonly total: number;
}

/** The last compaction that ended. */
export interface FinishedCompaction {
  readonly startedAt: number;
  readonly tookMs: number;
  /** Absent when it failed: `problem` says why, and the store is as it was or already written anew. */
  readonly report?: PurgeReport;
  readonly problem?: string;
}

export interface CompactionStatus {
  /** Absent when nothing waits. */
  readonly waiting?: UnpurgedRows;
  readonly running?: CompactionProgress & { readonly startedAt: number };
  /** Since the daemon was started. */
  readonly last?: FinishedCompaction;
}

/** Erasing what was deleted, as the ways in may ask for it. */
export interface CompactionOperations {
  /**
   * Begins to erase what was deleted so far; false if that runs already, in which case what was deleted after its
   * beginning waits for the next.
   */
  start(): boolean;
  status(): CompactionStatus;
}
