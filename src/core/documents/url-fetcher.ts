/** Fetches web pages within limits, and only from permitted addresses. */
export interface UrlFetcher {
  /**
   * Refuses without the network, so that a request fails before it becomes a job:
   * a malformed address, a scheme, port, name or literal address that is never fetched.
   *
   * @throws {ServiceError} INVALID_REQUEST, or FORBIDDEN for a blocked target.
   */
  check(url: string, options?: Pick<FetchOptions, "publicOnly">): void;
  /**
   * Writes the body, decoded, into `sink` while it arrives; follows redirects, whose bodies are not written.
   * When it rejects, the sink may hold a part, to be discarded; no write runs once it has settled.
   *
   * @throws as `check`, for redirects too; {ServiceError} FETCH_FAILED for what cannot be reached or answers
   *   badly, FETCH_TIMEOUT for what answers too slowly, TOO_LARGE; what the sink throws, and the signal's
   *   reason, as they are.
   */
  fetch(url: string, options: FetchOptions): Promise<FetchedPage>;
}

export interface FetchOptions {
  readonly sink: FetchSink;
  readonly signal?: AbortSignal;
  /** Refuses targets on this machine and in private networks, whatever the settings allow. */
  readonly publicOnly?: boolean;
  /** Called for every piece that arrives. */
  readonly onProgress?: (progress: FetchProgress) => void;
}

/** Receives the body. Each write is awaited before the next read, so that a slow disk slows the network down. */
export interface FetchSink {
  write(chunk: Uint8Array): Promise<void>;
}

/** Bytes on the network, compressed where the server compresses. */
export interface FetchProgress {
  readonly receivedBytes: number;
  /** Null where the server names no length. */
  readonly totalBytes: number | null;
}

/** A fetched page: the server's claims, which are to be checked, and what was measured. */
export interface FetchedPage {
  /** After redirects, normalised, without a fragment. May hold secrets in its query: not to be logged. */
  readonly url: string;
  /** `type/subtype` in lower case; null where missing or malformed. */
  readonly contentType: string | null;
  /** In lower case, as claimed by the header. */
  readonly charset: string | null;
  /** Without folders and control characters, at most 256 characters; null where nothing names the document. */
  readonly filename: string | null;
  /** Number of bytes written into the sink. */
  readonly bytes: number;
  /** SHA-256 of the written bytes, hex. */
  readonly sha256: string;
  /** Epoch milliseconds UTC, when the answer began. */
  readonly fetchedAt: number;
}
