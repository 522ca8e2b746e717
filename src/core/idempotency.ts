import { conflict, ServiceError, unprocessable } from "./errors.ts";
import type { Catalogue } from "./ports.ts";
import type { Change, RequestRow } from "./rows.ts";

/** A request that may be repeated: a repeat returns what the first one made. */
export interface IdempotentRequest {
  /** SHA-256 (hex) over the caller's key, the route, the user and the Idempotency-Key. */
  readonly key: string;
  /** SHA-256 (hex) of the body. */
  readonly bodyHash: string;
}

/** The idempotent requests under way; finished ones are in the store. */
export class RequestLedger {
  readonly #inFlight = new Set<string>();

  /** Runs a request once; a repeat returns `replay` of its ids. @throws {ServiceError} CONFLICT, UNPROCESSABLE. */
  async once<T>(
    request: IdempotentRequest | undefined,
    catalogue: Pick<Catalogue, "findRequest">,
    run: () => Promise<T>,
    replay: (ids: RequestRow["ids"]) => Promise<T>,
  ): Promise<T> {
    if (request === undefined) return run();
    if (this.#inFlight.has(request.key))
      throw conflict("A request with this Idempotency-Key is still being worked on; try again shortly.", {
        retryAfterSeconds: 1,
      });
    const known = catalogue.findRequest(request.key);
    if (known !== undefined) {
      if (known.bodyHash !== request.bodyHash)
        throw unprocessable(
          "This Idempotency-Key was used with another body; use a new key for a new request.",
        );
      return replay(known.ids);
    }
    this.#inFlight.add(request.key);
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DoneMeanwhile)) throw error;
    } finally {
      this.#inFlight.delete(request.key);
    }
    return this.once(request, catalogue, run, replay);
  }
}

/** Another process has done the same request since it was begun here. */
class DoneMeanwhile extends Error {}

/** To be called first in the decision of a request. @throws what `RequestLedger.once` catches, for a request that is done. */
export function assertNotDone(
  request: IdempotentRequest | undefined,
  catalogue: Pick<Catalogue, "findRequest">,
): void {
  if (request !== undefined && catalogue.findRequest(request.key) !== undefined) throw new DoneMeanwhile();
}

/** The change that records a request, for the same record as its results. None without a key, or without results. */
export function requestChanges(
  request: IdempotentRequest | undefined,
  ids: RequestRow["ids"],
  createdAt: number,
): Change[] {
  if (request === undefined || ids.every((id) => id === null)) return [];
  return [{ table: "requests", id: request.key, row: { bodyHash: request.bodyHash, ids, createdAt } }];
}

/** The error of a repeated batch for an item that was refused the first time. */
export function refusedBefore(): ServiceError {
  return conflict(
    "This item was refused when the request was first made; use a new Idempotency-Key to have it judged again.",
  );
}

/** The error of a repeated request whose result was deleted. */
export function goneError(): ServiceError {
  return new ServiceError(
    "GONE",
    "What this request made has been deleted since; use a new Idempotency-Key to make it again.",
  );
}
