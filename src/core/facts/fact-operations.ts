import { compareFacts, type CompareFactsInput, type FactComparison } from "./compare-facts.ts";
import { currentFact, type CurrentFactInput } from "./current-fact.ts";
import { eraseFact, type EraseFactInput } from "./erase-fact.ts";
import type { Fact } from "./fact.ts";
import { factStats, type FactStats, type FactStatsInput } from "./fact-stats.ts";
import type { FactPage, FactPorts } from "./fact-store.ts";
import { factTimeline, type FactTimelineInput, type FactTimelinePage } from "./fact-timeline.ts";
import { findFacts, type FindFactsInput } from "./find-facts.ts";
import { getFact, type GetFactInput } from "./get-fact.ts";
import { invalidateFact, type InvalidateFactInput } from "./invalidate-fact.ts";
import { type RecordedFact, recordFact, type RecordFactInput } from "./record-fact.ts";
import { recordFacts, type RecordFactsInput, type RecordFactsResult } from "./record-facts.ts";
import { searchFacts, type SearchFactsInput } from "./search-facts.ts";
import { updateFact, type UpdateFactInput } from "./update-fact.ts";
import { type VolatileFact, volatileFacts, type VolatileFactsInput } from "./volatile-facts.ts";

/** What the service can do with facts. */
export interface FactOperations {
  recordFact(input: RecordFactInput): Promise<RecordedFact>;
  recordFacts(input: RecordFactsInput): Promise<RecordFactsResult>;
  updateFact(input: UpdateFactInput): Promise<Fact>;
  invalidateFact(input: InvalidateFactInput): Promise<Fact>;
  eraseFact(input: EraseFactInput): Promise<Fact>;
  findFacts(input: FindFactsInput): FactPage;
  currentFact(input: CurrentFactInput): Fact;
  getFact(input: GetFactInput): Fact;
  factTimeline(input: FactTimelineInput): FactTimelinePage;
  searchFacts(input: SearchFactsInput): FactPage;
  compareFacts(input: CompareFactsInput): FactComparison;
  factStats(input: FactStatsInput): FactStats;
  volatileFacts(input: VolatileFactsInput): VolatileFact[];
}

export function bindFactOperations(ports: FactPorts): FactOperations {
  return {
    recordFact: (input) => recordFact(ports, input),
    recordFacts: (input) => recordFacts(ports, input),
    updateFact: (input) => updateFact(ports, input),
    invalidateFact: (input) => invalidateFact(ports, input),
    eraseFact: (input) => eraseFact(ports, input),
    findFacts: (input) => findFacts(ports, input),
    currentFact: (input) => currentFact(ports, input),
    getFact: (input) => getFact(ports, input),
    factTimeline: (input) => factTimeline(ports, input),
    searchFacts: (input) => searchFacts(ports, input),
    compareFacts: (input) => compareFacts(ports, input),
    factStats: (input) => factStats(ports, input),
    volatileFacts: (input) => volatileFacts(ports, input),
  };
}
