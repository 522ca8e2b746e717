import type { Progress } from "./memory.ts";
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

/** Counts copied rows. */
export type PurgeProgress = Progress<"preparing" | "copying" | "switching" | "removing">;

/** The daemon's status; `StatsReply` says more of its fields. */
export interface ServiceStatus {
  readonly version: string;
  readonly instanceId: string;
  readonly startedAt: number;
  /** Reasons, in sentences, why the service cannot answer everything; empty when it can. */
  readonly notReady: readonly string[];
  /** Data lost by damage, or being remade after it, in sentences; everything else is served. */
  readonly repairs: readonly string[];
  readonly memoryCount: number;
  readonly documents: { readonly count: number; readonly jobsWaiting: number; readonly jobsRunning: number };
  /** How processes that read foreign bytes are kept from the network and from signalling others; null if they are not. */
  readonly sandbox: "bubblewrap" | "namespaces" | null;
  readonly embedding: { readonly model: string; readonly dimensions: number; readonly modelSha256: string };
  readonly store: {
    readonly dataDir: string;
    readonly format: number;
    readonly storeId: string;
    readonly position: string;
    readonly checkpoint: string;
    readonly pendingRows: number;
    readonly pendingBytes: number;
    readonly diskBytes: number;
    readonly journalBytes: number;
    readonly checkpoints: number;
    readonly unerased: number;
    readonly readOnly: boolean;
    /** Why writes that add are refused, as the end of a sentence; null while they are accepted. */
    readonly addsRefused: string | null;
  };
  /** A node's open users, and since its start how many it loaded and how often another node wrote first. */
  readonly node?: {
    readonly users: number;
    readonly bytes: number;
    readonly loads: number;
    readonly overtakings: number;
  };
  readonly embeddingQueue: { readonly waiting: number; readonly workers: number };
}

/** A finding of one check of `memoryd doctor`. */
export interface Finding {
  /** The part that was checked, such as `journal`. */
  readonly check: string;
  /** `note`: worth knowing, and nothing has to be done. */
  readonly status: "ok" | "note" | "wrong";
  readonly message: string;
  /** The repair, or the consequence. */
  readonly remedy?: string;
}

function findingOf(status: Finding["status"]) {
  return (check: string, message: string, remedy?: string): Finding => ({
    check,
    status,
    message,
    ...(remedy !== undefined && { remedy }),
  });
}

export const [ok, note, wrong] = [findingOf("ok"), findingOf("note"), findingOf("wrong")];
