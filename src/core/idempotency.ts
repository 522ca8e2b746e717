/** A request that may be repeated: the second time it answers what the first one made. */
export interface IdempotentRequest {
  /** SHA-256 (hex) over the caller's key, the route, the user and the Idempotency-Key. */
  readonly key: string;
  /** SHA-256 (hex) of the body. */
  readonly bodyHash: string;
}
