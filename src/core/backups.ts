/** A whole copy of the store as it was at one moment. */
export interface Backup {
  /** Also the name of its folder. */
  readonly name: string;
  readonly createdAt: number;
  /** The store that it was made of; a restored store is another one. */
  readonly storeId: string;
  /** Position of its last record: `epoch.sequence`. */
  readonly position: string;
  readonly memories: number;
  /** Lengths of all its files. */
  readonly bytes: number;
  /** The part of these that no earlier backup in the folder and no file of the store shares. */
  readonly addedBytes: number;
  /** Whether files are shared with the store on the same disk: then it does not protect from the loss of that disk. */
  readonly sharesDisk: boolean;
  /** When it was last found whole. */
  readonly verifiedAt: number;
}

export interface BackupProgress {
  readonly name: string;
  readonly startedAt: number;
  /** Bytes that are in place, of those there are; both 0 before that is known. */
  readonly done: number;
  readonly total: number;
}

/** Copies of deleted data in backups, after a purge. */
export interface BackupCopies {
  /** The backup that took the place of the older ones; null where none was made. */
  readonly made: string | null;
  /** How many older ones were removed, of the store and of those that it was restored from. */
  readonly removed: number;
  /** Backups made before, damaged ones too, which may hold what was deleted since; null: not known. */
  readonly remaining: number | null;
  readonly problem?: string;
}

/** A backup of this run of the daemon that has ended. */
export interface FinishedBackup {
  readonly name: string;
  readonly startedAt: number;
  readonly tookMs: number;
  /** Why there is none; absent where there is one. */
  readonly problem?: string;
}

export interface BackupList {
  readonly folder: string;
  /** Newest first. */
  readonly items: readonly Backup[];
  /** Folders that look like backups and cannot be used, in sentences. */
  readonly damaged: readonly string[];
  readonly running?: BackupProgress;
  readonly last?: FinishedBackup;
}

export interface BackupOperations {
  /**
   * Begins a backup, which goes on after the answer.
   * @param options.name letters, digits, `.`, `_` and `-`, at most 64; the time if absent.
   * @param options.folder instead of the configured one.
   * @throws {ServiceError} CONFLICT while one is made or that name exists; INVALID_REQUEST for a name that cannot be.
   */
  start(options: {
    readonly name?: string | undefined;
    readonly folder?: string | undefined;
  }): Promise<BackupProgress>;
  list(): Promise<BackupList>;
  /** How many backups in the configured folder may hold what was deleted of the store. */
  copies(): Promise<BackupCopies>;
  /** Reads every file of a backup and opens its tables. @throws {ServiceError} NOT_FOUND, DAMAGED. */
  verify(name: string): Promise<Backup>;
  /** @throws {ServiceError} NOT_FOUND. */
  remove(name: string): Promise<void>;
}
