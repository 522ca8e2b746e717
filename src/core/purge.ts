import type { BackupCopies } from "./backups.ts";
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
    readonly table: TableName;
    /** Number of removed rows, deleted and replaced. */
    readonly rows: number;
    readonly before: DiskUsage;
    readonly after: DiskUsage;
  }[];
  readonly journal: { readonly before: DiskUsage; readonly after: DiskUsage };
  /** Originals of documents that are gone. */
  readonly originals: DiskUsage;
}

export type PurgeStage = "preparing" | "copying" | "switching" | "removing";

export interface PurgeProgress {
  readonly stage: PurgeStage;
  /** Rows copied so far, of `total`. */
  readonly done: number;
  readonly total: number;
}

/** The last purge that ended. */
export interface FinishedPurge {
  readonly startedAt: number;
  readonly tookMs: number;
  /** Absent after a failure, which `problem` explains; the store is then as before, or already switched. */
  readonly report?: PurgeReport;
  readonly problem?: string;
  /** Backups after the purge; absent after a failure. */
  readonly backups?: BackupCopies;
}

export interface PurgeStatus {
  /** Absent when nothing waits to be purged. */
  readonly waiting?: UnpurgedRows;
  readonly running?: PurgeProgress & { readonly startedAt: number };
  /** Since the daemon was started. */
  readonly last?: FinishedPurge;
}

/** The purge, as http and cli may start it. */
export interface PurgeOperations {
  /** Begins a purge, renewing the backups too where asked; false if one runs already. */
  start(options?: { readonly renewsBackups: boolean }): boolean;
  /** Purges, and replaces the backups by a new one. @throws {ServiceError} STORE_FULL, DAMAGED. */
  purgeWithBackups(): Promise<BackupCopies>;
  status(): PurgeStatus;
}
