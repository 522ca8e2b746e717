import { orRefused, ServiceError } from "../errors.ts";
import { FactDraft } from "./fact-draft.ts";
import type { FactPorts } from "./fact-store.ts";
import { type IdempotentRequest, refusedBefore, requestChanges } from "../idempotency.ts";
import { type RecordedFact, type RecordFactInput, recordInto, replayOf } from "./record-fact.ts";

export interface RecordFactsInput {
  /**
   * At most 1 000, in order; an error stands for an item that was refused before, and comes back in its
   * place.
   */
  readonly items: readonly (RecordFactInput | ServiceError)[];
  readonly idempotency?: IdempotentRequest;
}

export interface RecordFactsResult {
  /** As many as items, in the same order; each fact as it was when its item had been judged. */
  readonly results: readonly (RecordedFact | ServiceError)[];
}

/**
 * Records facts in one record: all that are accepted, or none after a crash. Items are judged one by one, and
 * a later one sees what earlier ones did; they share one transaction time.
 *
 * @throws {ServiceError} as `recordFact`, where it concerns the whole.
 */
export async function recordFacts(ports: FactPorts, input: RecordFactsInput): Promise<RecordFactsResult> {
  const { facts, requests, catalogue, clock } = ports;
  return requests.once(
    input.idempotency,
    catalogue,
    () =>
      facts.commit((section) => {
        const draft = new FactDraft(facts.book, section, clock);
        const results = input.items.map((item) => orRefused(() => recordItem(draft, ports, item)));
        const ids = results.map((result) => (result instanceof ServiceError ? null : result.fact.id));
        return {
          changes: [...draft.changes, ...requestChanges(input.idempotency, ids, section.now)],
          result: { results },
        };
      }),
    async (ids) => ({
      results: input.items.map((item, index) =>
        item instanceof ServiceError ? item : replayItem(ports, ids[index] ?? null),
      ),
    }),
  );
}

function replayItem(ports: FactPorts, id: string | null): RecordedFact | ServiceError {
  if (id !== null) return orRefused(() => replayOf(ports, id));
  return refusedBefore();
}

function recordItem(
  draft: FactDraft,
  ports: FactPorts,
  item: RecordFactInput | ServiceError,
): RecordedFact | ServiceError {
  return item instanceof ServiceError ? item : recordInto(draft, ports, item);
}
