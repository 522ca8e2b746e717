import { conflict, ServiceError, unprocessable } from "./errors.ts";
import type { Catalogue, Decision, MemoryStore, WriteSection } from "./ports.ts";
import type { Change, RequestRow } from "./rows.ts";

/** A request that may be repeated: a repeat returns what the first one made. */
export interface IdempotentRequest {
  /** SHA-256 (hex) over the caller's key, the route, the user and the Idempotency-Key. */
  readonly key: string;
  /** SHA-256 (hex) of the body. */
  readonly bodyHash: string;
}

interface RequestStore extends Pick<MemoryStore, "commit"> {
  readonly catalogue: Pick<Catalogue, "findRequest">;
}

/** As `MemoryStore.commit`, with the ids of the results in the order of the answer; null for a refused item. */
export type CommitOnce = <T>(
  decide: (section: WriteSection) => Decision<T> & Pick<RequestRow, "ids">,
) => Promise<T>;

/** The idempotent requests under way; finished ones are in the store. */
export class RequestLedger {
  readonly #inFlight = new Set<string>();

  /**
   * Runs a request once, which writes with `commit`: the request is a part of the same record. A repeat returns `replay` of its
   * ids. @throws {ServiceError} CONFLICT, UNPROCESSABLE.
   */
  async once<T>(
    store: RequestStore,
    request: IdempotentRequest | undefined,
    run: (commit: CommitOnce) => Promise<T>,
    replay: (ids: RequestRow["ids"]) => Promise<T>,
  ): Promise<T> {
    const { catalogue } = store;
    const commit: CommitOnce = (decide) =>
      store.commit((section) => {
        if (request !== undefined && catalogue.findRequest(request.key) !== undefined)
          throw new DoneMeanwhile();
        const { ids, changes, ...decision } = decide(section);
        return { ...decision, changes: [...changes, ...requestChanges(request, ids, section.now)] };
      });
    if (request === undefined) return run(commit);
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
      return await run(commit);
    } catch (error) {
      if (!(error instanceof DoneMeanwhile)) throw error;
    } finally {
      this.#inFlight.delete(request.key);
    }
    return this.once(store, request, run, replay);
  }
}

/** Another process has done the same request since it was begun here. */
class DoneMeanwhile extends Error {}

/** The change that records a request. None without a key, or without results. */
function requestChanges(
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
