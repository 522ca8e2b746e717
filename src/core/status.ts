/** What the daemon says of itself. */
export interface ServiceStatus {
  readonly version: string;
  readonly instanceId: string;
  readonly startedAt: number;
  /** Empty when the service can answer everything; else why not, in sentences. */
  readonly notReady: readonly string[];
  /** What was lost by damage, or is made again after it, in sentences; the rest is served. */
  readonly repairs: readonly string[];
  readonly memoryCount: number;
  readonly documents: { readonly count: number; readonly jobsWaiting: number; readonly jobsRunning: number };
  /** What keeps the processes that read foreign bytes from the network and from signalling others; null where nothing does. */
  readonly sandbox: "bubblewrap" | "namespaces" | null;
  readonly embedding: { readonly model: string; readonly dimensions: number; readonly modelSha256: string };
  readonly store: {
    readonly dataDir: string;
    readonly format: number;
    readonly storeId: string;
    /** `epoch.sequence` of the last durable record. */
    readonly position: string;
    /** Of the last checkpoint. */
    readonly checkpoint: string;
    readonly pendingRows: number;
    readonly pendingBytes: number;
    readonly diskBytes: number;
    /** Deleted and replaced memories, facts and documents that stand in files yet. */
    readonly unerased: number;
    /** True after a disk error: reads go on, writes are refused until a restart. */
    readonly readOnly: boolean;
    /** Why writes that add are refused while others are not: the end of a sentence; null while they are taken. */
    readonly addsRefused: string | null;
  };
  readonly embeddingQueue: { readonly waiting: number; readonly workers: number };
}
