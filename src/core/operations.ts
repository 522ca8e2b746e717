import { addMemories, type AddMemoriesInput, type AddMemoriesResult } from "./add-memories.ts";
import { addMemory } from "./add-memory.ts";
import type { AddedMemory, AddMemoryInput } from "./added-memory.ts";
import { compareFacts, type CompareFactsInput, type FactComparison } from "./compare-facts.ts";
import { currentFact, type CurrentFactInput } from "./current-fact.ts";
import { type DeletedMemory, deleteMemory, type DeleteMemoryInput } from "./delete-memory.ts";
import { eraseFact, type EraseFactInput } from "./erase-fact.ts";
import type { Fact } from "./fact.ts";
import { factStats, type FactStats, type FactStatsInput } from "./fact-stats.ts";
import type { FactPage, FactPorts } from "./fact-store.ts";
import { factTimeline, type FactTimelineInput, type FactTimelinePage } from "./fact-timeline.ts";
import { findFacts, type FindFactsInput } from "./find-facts.ts";
import { getFact, type GetFactInput } from "./get-fact.ts";
import { getMemory, type GetMemoryInput } from "./get-memory.ts";
import { invalidateFact, type InvalidateFactInput } from "./invalidate-fact.ts";
import { type ListedMemories, listMemories, type ListMemoriesInput } from "./list-memories.ts";
import { listSectors, type SectorCount } from "./list-sectors.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import type { SeenMemory } from "./memory.ts";
import { queryMemory, type QueryMemoryInput, type QueryMemoryResult } from "./query-memory.ts";
import { type RecordedFact, recordFact, type RecordFactInput } from "./record-fact.ts";
import { recordFacts, type RecordFactsInput, type RecordFactsResult } from "./record-facts.ts";
import { type ReinforcedMemory, reinforceMemory, type ReinforceMemoryInput } from "./reinforce-memory.ts";
import { type RelatedMemories, relatedMemories, type RelatedMemoriesInput } from "./related-memories.ts";
import { searchFacts, type SearchFactsInput } from "./search-facts.ts";
import { updateFact, type UpdateFactInput } from "./update-fact.ts";
import { updateMemory, type UpdateMemoryInput } from "./update-memory.ts";
import { type VolatileFact, volatileFacts, type VolatileFactsInput } from "./volatile-facts.ts";

/** What the service can do, with its ports bound: the one thing that http, mcp and cli know of the core. */
export interface Operations {
  addMemory(input: AddMemoryInput): Promise<AddedMemory>;
  addMemories(input: AddMemoriesInput): Promise<AddMemoriesResult>;
  queryMemory(input: QueryMemoryInput): Promise<QueryMemoryResult>;
  updateMemory(input: UpdateMemoryInput): Promise<SeenMemory>;
  deleteMemory(input: DeleteMemoryInput): Promise<DeletedMemory>;
  listMemories(input: ListMemoriesInput): Promise<ListedMemories>;
  getMemory(input: GetMemoryInput): Promise<SeenMemory>;
  reinforceMemory(input: ReinforceMemoryInput): Promise<ReinforcedMemory>;
  relatedMemories(input: RelatedMemoriesInput): Promise<RelatedMemories>;
  listSectors(input: { readonly userId?: string }): SectorCount[];

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

/** The operations over the given ports. */
export function bindOperations(ports: MemoryPorts): Operations {
  const { facts, clock, ids, requests } = ports;
  const { catalogue } = ports.store;
  const factPorts: FactPorts = {
    facts,
    clock,
    ids,
    requests,
    catalogue,
    ownerOfMemory: (id) => catalogue.find(id)?.userId,
  };
  return {
    addMemory: (input) => addMemory(ports, input),
    addMemories: (input) => addMemories(ports, input),
    queryMemory: (input) => queryMemory(ports, input),
    updateMemory: (input) => updateMemory(ports, input),
    deleteMemory: (input) => deleteMemory(ports, input),
    listMemories: (input) => listMemories(ports, input),
    getMemory: (input) => getMemory(ports, input),
    reinforceMemory: (input) => reinforceMemory(ports, input),
    relatedMemories: (input) => relatedMemories(ports, input),
    listSectors: (input) => listSectors(ports, input),

    recordFact: (input) => recordFact(factPorts, input),
    recordFacts: (input) => recordFacts(factPorts, input),
    updateFact: (input) => updateFact(factPorts, input),
    invalidateFact: (input) => invalidateFact(factPorts, input),
    eraseFact: (input) => eraseFact(factPorts, input),
    findFacts: (input) => findFacts(factPorts, input),
    currentFact: (input) => currentFact(factPorts, input),
    getFact: (input) => getFact(factPorts, input),
    factTimeline: (input) => factTimeline(factPorts, input),
    searchFacts: (input) => searchFacts(factPorts, input),
    compareFacts: (input) => compareFacts(factPorts, input),
    factStats: (input) => factStats(factPorts, input),
    volatileFacts: (input) => volatileFacts(factPorts, input),
  };
}
