import type { Fact } from "./fact.ts";
import { FactDraft } from "./fact-draft.ts";
import type { FactPorts } from "./fact-store.ts";
import { closeFact } from "./timeline.ts";

export interface InvalidateFactInput {
  readonly id: string;
  /** Absent: now, or for a fact that has not begun its beginning. */
  readonly validTo?: number;
  /** For the ownership check. */
  readonly userId?: string;
}

/**
 * Ends a fact; one that ends earlier already stays as it is. What it says stays on record.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN (another user's), INVALID_REQUEST (an end before its
 *   beginning), STORE_FULL, NOT_READY.
 */
export async function invalidateFact({ facts, clock }: FactPorts, input: InvalidateFactInput): Promise<Fact> {
  return facts.commit((section) => {
    const draft = new FactDraft(facts.book, section, clock);
    const fact = draft.require(input.id, input.userId);
    const closed = closeFact(fact, input.validTo, draft);
    if (closed !== fact) draft.put([closed]);
    return { changes: draft.changes, result: closed };
  });
}
