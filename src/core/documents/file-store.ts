/**
 * Keeps the originals of documents, by their SHA-256. The store removes a file that no row needs: at once where no document
 * ever had it, else when no checkpoint that the store may open at names it.
 */
export interface FileStore {
  /** Begins a file that comes in pieces; it does not count until `keep`. @throws as `IncomingFile.write`. */
  create(): Promise<IncomingFile>;
  /** Path of the file, for a reader that opens it. */
  pathOf(sha256: string): string;
  /** In bytes; undefined without such a file. */
  sizeOf(sha256: string): Promise<number | undefined>;
  /** Call it when a job is over: removes the file if no row needs it any more. */
  letGo(sha256: string): void;
  /**
   * The bytes in pieces, for one reader. The file is read twice: its SHA-256 is checked first.
   *
   * @throws {ServiceError} NOT_FOUND; DAMAGED if the SHA-256 differs.
   */
  read(sha256: string): Promise<AsyncIterable<Uint8Array>>;
}

export interface IncomingFile {
  /** @throws {ServiceError} STORE_FULL; NOT_READY for other disk errors. */
  write(chunk: Uint8Array): Promise<void>;
  /** The file is durable when it resolves, and held until released, even if no row needs it. @throws as `write`. */
  keep(): Promise<HeldFile>;
  /** Removes the received bytes. Has no effect after `keep`. */
  discard(): Promise<void>;
}

export interface HeldFile {
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** From now on the file stays only while a row needs it. */
  release(): void;
}
