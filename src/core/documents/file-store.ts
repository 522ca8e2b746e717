/**
 * Keeps the original bytes of documents, by their SHA-256. A file that no row needs goes by itself: at once where no document
 * ever had it, else when no state that the store may be opened at names it.
 */
export interface FileStore {
  /** Begins a file that comes in pieces; it is nothing until `keep`. @throws as `IncomingFile.write`. */
  create(): Promise<IncomingFile>;
  /** Where the bytes are, for a reader that takes them from the disk. */
  pathOf(sha256: string): string;
  /** In bytes; undefined for what is not here. */
  sizeOf(sha256: string): Promise<number | undefined>;
  /** What was needed may not be any more: a job is over. */
  letGo(sha256: string): void;
  /**
   * The bytes in pieces, for one reader; read twice, since they are compared with their SHA-256 first.
   *
   * @throws {ServiceError} NOT_FOUND; DAMAGED for other bytes than were kept.
   */
  read(sha256: string): Promise<AsyncIterable<Uint8Array>>;
}

export interface IncomingFile {
  /** @throws {ServiceError} STORE_FULL, NOT_READY for what else the disk refuses. */
  write(chunk: Uint8Array): Promise<void>;
  /** On the disk, whole, when it resolves; held there until released, even if no row needs it yet. @throws as `write`. */
  keep(): Promise<HeldFile>;
  /** Throws away what came. After `keep`, nothing. */
  discard(): Promise<void>;
}

export interface HeldFile {
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** From now on it stays only while a row needs it. */
  release(): void;
}
