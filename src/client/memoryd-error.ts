/** A field that the daemon did not take. */
export interface FieldError {
  /** JSON pointer into the body, the query or the headers. */
  readonly path: string;
  readonly message: string;
}

/**
 * A call that did not succeed. `code` is that of the daemon (`NOT_FOUND`, `VERSION_MISMATCH` and so on, as in the
 * README), or one of the client's own:
 *
 * - `UNREACHABLE`: no answer, or one that was cut off. What was sent may have been done.
 * - `TIMEOUT`: no answer in time. The same holds.
 * - `BAD_ANSWER`: an answer that is not memoryd's, a proxy's for example.
 * - `JOB_CANCELLED`: the job that was waited for was cancelled.
 * - `INVALID_REQUEST` with status 0: it cannot be sent.
 */
export class MemorydError extends Error {
  override readonly name = "MemorydError";
  readonly code: string;
  /** HTTP status; 0 without a reply. */
  readonly status: number;
  /** The error and what to do about it, for people. */
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  /** After which a further try may succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    { code, status = 0, detail, errors = [], requestId, retryAfterSeconds }: MemorydErrorFields,
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

type MemorydErrorFields = Pick<MemorydError, "code" | "detail"> &
  Partial<Pick<MemorydError, "status" | "errors" | "requestId" | "retryAfterSeconds">>;
