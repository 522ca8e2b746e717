import type { Fact } from "./fact.ts";
import { versionKnownAt } from "./fact-book.ts";
import { factNotFound } from "./fact-draft.ts";
import type { AsOf, FactReadPorts } from "./fact-store.ts";

export interface GetFactInput extends Pick<AsOf, "knownAt"> {
  readonly id: string;
  /** Another owner's fact is NOT_FOUND. */
  readonly userId?: string;
}

/**
 * The fact, replaced ones too.
 *
 * @throws {ServiceError} NOT_FOUND if there is none, or was none at `knownAt`.
 */
export function getFact({ facts }: FactReadPorts, { id, userId, knownAt }: GetFactInput): Fact {
  const history = facts.book.find(id);
  const fact = history === undefined ? undefined : versionKnownAt(history, knownAt);
  if (fact === undefined || (userId !== undefined && fact.userId !== userId)) throw factNotFound();
  return fact;
}
