import { type Fact, objectKey } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import { compareForList, type PageRange, sortedPage } from "./fact-page.ts";
import type { AsOf, FactPage, FactReadPorts } from "./fact-store.ts";
import { visitFacts } from "./visit-facts.ts";

export interface FindFactsInput extends FactFilter, AsOf, PageRange {
  /** Compared by `objectKey`. */
  readonly object?: string;
  /** In [0, 1]. */
  readonly minConfidence?: number;
}

/** Facts that match, in list order; without `at` past and future ones too. */
export function findFacts({ facts }: FactReadPorts, input: FindFactsInput): FactPage {
  const { object, minConfidence = 0 } = input;
  const key = object === undefined ? undefined : objectKey(object);
  const found: Fact[] = [];
  visitFacts(facts.book, input, (fact, history) => {
    if (fact.confidence < minConfidence) return;
    if (key !== undefined && history.objectKey !== key) return;
    found.push(fact);
  });
  return { total: found.length, facts: sortedPage(found, input, compareForList) };
}
