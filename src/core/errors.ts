/**
 * Failures a caller can act on.
 *
 * A code is part of the public API: it never changes within a major version. A message is for people: it
 * names the problem and the remedy, and may change at any time. Programming mistakes are plain
 * `TypeError`s without a code; never catch those.
 */
export type ErrorCode =
  | "INVALID_REQUEST"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "CONFLICT"
  | "GONE"
  | "VERSION_MISMATCH"
  | "TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "UNPROCESSABLE"
  | "RATE_LIMITED"
  | "NOT_READY"
  | "MODEL_UNAVAILABLE"
  | "STORE_FULL"
  | "FETCH_FAILED"
  | "FETCH_TIMEOUT"
  /** The data directory cannot be used: damaged, newer than this program, in use, unreadable. Only at start. */
  | "STORE_UNUSABLE"
  /** The requested data is damaged on the disk. */
  | "DAMAGED"
  | "INTERNAL";

/** One field of a request that is wrong: where (`/tags/0`) and why. */
export type FieldError = { readonly path: string; readonly message: string };

type ServiceErrorOptions = ErrorOptions & {
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
};

export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  /** Seconds after which a retry may succeed; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const refusal = (code: ErrorCode) => (message: string, options?: ServiceErrorOptions) =>
  new ServiceError(code, message, options);

/** One function per code that is used in more than one place: `throw notFound("…")`. */
export const invalidRequest = refusal("INVALID_REQUEST");
export const unauthorized = refusal("UNAUTHORIZED");
export const forbidden = refusal("FORBIDDEN");
export const notFound = refusal("NOT_FOUND");
export const conflict = refusal("CONFLICT");
export const tooLarge = refusal("TOO_LARGE");
export const unsupportedMediaType = refusal("UNSUPPORTED_MEDIA_TYPE");
export const unprocessable = refusal("UNPROCESSABLE");
export const notReady = refusal("NOT_READY");
export const modelUnavailable = refusal("MODEL_UNAVAILABLE");
export const storeFull = refusal("STORE_FULL");
export const storeUnusable = refusal("STORE_UNUSABLE");
export const fetchFailed = refusal("FETCH_FAILED");
export const internal = refusal("INTERNAL");

/** An INVALID_REQUEST about one field; `what` begins the sentence: "The key cannot be made". */
export const wrongField = (what: string, path: string, message: string): ServiceError =>
  invalidRequest(`${what}: ${path === "" ? "it" : path} ${message}.`, { fields: [{ path, message }] });

/** The result of `work`, or the `ServiceError` that it rejects with; other errors are thrown on. */
export async function refusedOr<T>(work: Promise<T>): Promise<T | ServiceError> {
  try {
    return await work;
  } catch (error) {
    return orRefused(() => {
      throw error;
    });
  }
}

/** The result of `judge`, or the `ServiceError` that it throws; other errors are thrown on. */
export function orRefused<T>(judge: () => T): T | ServiceError {
  try {
    return judge();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
