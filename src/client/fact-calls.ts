import type {
  CurrentFactFilter,
  Fact,
  FactChanges,
  FactComparison,
  FactComparisonFilter,
  FactEnd,
  FactFilter,
  FactPage,
  FactPlace,
  FactSearch,
  FactStats,
  FactStatsFilter,
  FactTimeline,
  FactTimelineFilter,
  FoundFacts,
  NewFact,
  OneFactFilter,
  Owner,
  RecordedFact,
  RecordedFacts,
  VolatileFacts,
  VolatileFactsFilter,
} from "./records.ts";
import { type CallOptions, path, type Transport, type WriteOptions } from "./transport.ts";
import { walkPages } from "./walk-pages.ts";

export interface FactCalls {
  record(fact: NewFact, options?: WriteOptions): Promise<RecordedFact>;
  /** Up to 1 000, in order; each is judged by itself, so look at `failed`. */
  recordMany(facts: readonly NewFact[], options?: WriteOptions): Promise<RecordedFacts>;
  /** What is true now, or `at` a moment. @throws {MemorydError} `NOT_FOUND` where nothing is. */
  current(filter: CurrentFactFilter, options?: CallOptions): Promise<Fact>;
  get(id: string, filter?: OneFactFilter, options?: CallOptions): Promise<Fact>;
  update(id: string, changes: FactChanges, options?: CallOptions): Promise<Fact>;
  /** Ends it now, or at `valid_to`. */
  close(id: string, end?: FactEnd, options?: CallOptions): Promise<Fact>;
  /** Removes it and all its versions for good. */
  erase(id: string, owner?: Owner, options?: CallOptions): Promise<Fact>;
  /** One page; past facts too, unless `at` says a moment. */
  page(place?: FactPlace, options?: CallOptions): Promise<FactPage>;
  /** All that match, fetched page by page. */
  list(filter?: FactFilter, options?: CallOptions): AsyncGenerator<Fact, void, undefined>;
  timeline(filter: FactTimelineFilter, options?: CallOptions): Promise<FactTimeline>;
  search(search: FactSearch, options?: CallOptions): Promise<FoundFacts>;
  compare(filter: FactComparisonFilter, options?: CallOptions): Promise<FactComparison>;
  stats(filter?: FactStatsFilter, options?: CallOptions): Promise<FactStats>;
  volatile(filter?: VolatileFactsFilter, options?: CallOptions): Promise<VolatileFacts>;
}

const FACTS = "/api/temporal/fact";

export function factCalls({ json }: Transport): FactCalls {
  const page: FactCalls["page"] = (place, options) =>
    json({ method: "GET", path: FACTS, query: { ...place }, options });
  const ask = <T>(name: string, filter: object | undefined, options: CallOptions | undefined) =>
    json<T>({ method: "GET", path: `/api/temporal/${name}`, query: { ...filter }, options });
  return {
    page,
    list: (filter, options) =>
      walkPages(
        (place) => page({ ...filter, ...place }, options),
        ({ facts }) => facts,
      ),
    record: (fact, options) => json({ method: "POST", path: FACTS, body: fact, isWrite: true, options }),
    recordMany: (facts, options) =>
      json({ method: "POST", path: `${FACTS}/batch`, body: { facts }, isWrite: true, options }),
    current: async (filter, options) => (await ask<{ fact: Fact }>("fact/current", filter, options)).fact,
    get: async (id, filter, options) =>
      (
        await json<{ fact: Fact }>({
          method: "GET",
          path: path`/api/temporal/fact/${id}`,
          query: { ...filter },
          options,
        })
      ).fact,
    update: (id, changes, options) =>
      json({ method: "PATCH", path: path`/api/temporal/fact/${id}`, body: changes, options }),
    close: (id, end, options) =>
      json({ method: "DELETE", path: path`/api/temporal/fact/${id}`, query: { ...end }, options }),
    erase: (id, owner, options) =>
      json({
        method: "DELETE",
        path: path`/api/temporal/fact/${id}`,
        query: { ...owner, erase: true },
        options,
      }),
    timeline: (filter, options) => ask("timeline", filter, options),
    search: (search, options) => ask("search", search, options),
    compare: (filter, options) => ask("compare", filter, options),
    stats: (filter, options) => ask("stats", filter, options),
    volatile: (filter, options) => ask("volatile", filter, options),
  };
}
