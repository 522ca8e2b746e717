import { type Fact, objectKey } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf } from "./fact-store.ts";
import { visitFacts } from "./visit-facts.ts";
import type { Given, Written } from "../memory.ts";

export interface FindFactsInput extends FactFilter, AsOf, PageRange, Given<Written> {
  /** Compared by `objectKey`. */
  readonly object?: string;
  /** In [0, 1]. */
  readonly minConfidence?: number;
  /** First recorded at this moment or later. */
  readonly recordedFrom?: number;
}

/** Facts that match, in list order; without `at` past and future ones too. */
export function findFacts({ facts: { book } }: FactReadPorts, input: FindFactsInput): FactPage {
  const { minConfidence = 0, createdBy, recordedFrom = -Infinity } = input;
  const object = input.object === undefined ? undefined : objectKey(input.object);
  const found: Fact[] = [];
  visitFacts(book, input, (fact, history) => {
    if (fact.confidence < minConfidence || fact.recordedAt < recordedFrom) return;
    if (object !== undefined && history.objectKey !== object) return;
    if (createdBy !== undefined && fact.createdBy !== createdBy) return;
    found.push(fact);
  });
  return pageOf(found, input);
}
