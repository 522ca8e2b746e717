import { type Fact, nextVersion, sameMetadata } from "./fact.ts";
import { FactDraft } from "./fact-draft.ts";
import type { FactPorts } from "./fact-store.ts";
import type { Metadata } from "../memory.ts";

export interface UpdateFactInput {
  readonly id: string;
  /** In [0, 1]. */
  readonly confidence?: number;
  /** Replaces the whole. */
  readonly metadata?: Metadata;
  /** For the ownership check. */
  readonly userId?: string;
}

/**
 * Gives a fact another confidence or other metadata, as its next version; what is the same already makes
 * none.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN (another user's), STORE_FULL, NOT_READY.
 */
export async function updateFact({ facts, clock }: FactPorts, input: UpdateFactInput): Promise<Fact> {
  return facts.commit((section) => {
    const draft = new FactDraft(facts.book, section, clock);
    const fact = draft.require(input.id, input.userId);
    const { confidence = fact.confidence, metadata = fact.metadata } = input;
    if (confidence === fact.confidence && sameMetadata(metadata, fact.metadata))
      return { changes: [], result: fact };

    const updated = nextVersion(fact, { confidence, metadata }, draft.recordedAt);
    draft.put([updated]);
    return { changes: draft.changes, result: updated };
  });
}
