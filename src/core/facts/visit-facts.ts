import { type Fact, isEmpty, isValidAt } from "./fact.ts";
import {
  type FactReads,
  type FactFilter,
  type FactHistory,
  type FactTimeline,
  versionKnownAt,
} from "./fact-book.ts";
import type { AsOf } from "./fact-store.ts";

/** Visits the facts known at `knownAt` and valid at `at`, or of every time; replaced ones are left out. */
export function visitFacts(
  book: FactReads,
  filter: FactFilter & AsOf,
  visit: (fact: Fact, history: FactHistory, timeline: FactTimeline) => void,
): void {
  for (const timeline of book.timelines(filter)) {
    for (const history of timeline.facts) {
      const fact = countingFact(history, filter);
      if (fact !== undefined) visit(fact, history, timeline);
    }
  }
}

/** The fact as known at `knownAt`, if it counts then and, where `at` is given, is valid at that moment. */
export function countingFact(history: FactHistory, { at, knownAt }: AsOf): Fact | undefined {
  const fact = versionKnownAt(history, knownAt);
  if (fact === undefined || isEmpty(fact)) return undefined;
  return at === undefined || isValidAt(fact, at) ? fact : undefined;
}
