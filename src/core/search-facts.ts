import type { Fact } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import { compareForList, type PageRange, sortedPage } from "./fact-page.ts";
import { compilePattern } from "./fact-pattern.ts";
import type { AsOf, FactPage, FactReadPorts } from "./fact-store.ts";
import { countingFact } from "./visit-facts.ts";

export const SEARCH_FIELDS = ["subject", "predicate", "object", "any"] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

export interface SearchFactsInput extends FactFilter, AsOf, PageRange {
  /** At most 256 characters; see `compilePattern`. */
  readonly pattern: string;
  readonly field: SearchField;
}

/** Facts with a field that matches the pattern, in list order; without `at` past and future ones too. */
export function searchFacts({ facts }: FactReadPorts, input: SearchFactsInput): FactPage {
  const matches = compilePattern(input.pattern);
  const looksAt = (field: SearchField) => input.field === field || input.field === "any";
  const found: Fact[] = [];
  for (const timeline of facts.book.timelines(input)) {
    const isAbout =
      (looksAt("subject") && matches(timeline.subjectKey)) || (looksAt("predicate") && matches(timeline.predicateKey));
    if (!isAbout && !looksAt("object")) continue;
    for (const history of timeline.facts) {
      if (!isAbout && !matches(history.foldedObject)) continue;
      const fact = countingFact(history, input);
      if (fact !== undefined) found.push(fact);
    }
  }
  return { total: found.length, facts: sortedPage(found, input, compareForList) };
}
