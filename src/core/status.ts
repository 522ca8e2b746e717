/** The daemon's status. */
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
    /** `epoch.sequence` of the last durable record. */
    readonly position: string;
    /** `epoch.sequence` of the last checkpoint. */
    readonly checkpoint: string;
    readonly pendingRows: number;
    readonly pendingBytes: number;
    readonly diskBytes: number;
    /** The journal's share of them. */
    readonly journalBytes: number;
    /** Over the life of the store. */
    readonly checkpoints: number;
    /** Deleted and replaced memories, facts and documents that still stand in files. */
    readonly unerased: number;
    /** True after a disk error: reads go on, writes are refused until a restart. */
    readonly readOnly: boolean;
    /** Why writes that add are refused, as the end of a sentence; null while they are accepted. */
    readonly addsRefused: string | null;
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
