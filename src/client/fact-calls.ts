import type * as wire from "./records.ts";
import { type CallOptions, path, type Transport, walkPages, type WriteOptions } from "./transport.ts";

export type FactCalls = ReturnType<typeof factCalls>;

const FACTS = "/api/temporal/fact";

export function factCalls({ json, get }: Transport) {
  /** One page; past facts too, unless `at` names a moment. */
  const page = (place?: wire.FactPlace, options?: CallOptions) => get<wire.FactPage>(FACTS, place, options);
  const close = (id: string, query: object | undefined, options: CallOptions | undefined) =>
    json<wire.Fact>({ method: "DELETE", path: path`/api/temporal/fact/${id}`, query, options });
  return {
    page,
    /** All that match, fetched page by page. */
    list: (filter?: wire.FactFilter, options?: CallOptions): AsyncGenerator<wire.Fact, void, undefined> =>
      walkPages(
        (place) => page({ ...filter, ...place }, options),
        ({ facts }) => facts,
      ),
    record: (body: wire.NewFact, options?: WriteOptions) =>
      json<wire.RecordedFact>({ method: "POST", path: FACTS, body, isWrite: true, options }),
    /** Up to 1 000, in order; each is judged by itself, so look at `failed`. */
    recordMany: (facts: readonly wire.NewFact[], options?: WriteOptions) =>
      json<wire.RecordedFacts>({
        method: "POST",
        path: `${FACTS}/batch`,
        body: { facts },
        isWrite: true,
        options,
      }),
    /** The fact that is true now, or `at` a moment. @throws {MemorydError} `NOT_FOUND` where nothing is. */
    current: async (filter: wire.CurrentFactFilter, options?: CallOptions) =>
      (await get<{ fact: wire.Fact }>(`${FACTS}/current`, filter, options)).fact,
    get: async (id: string, filter?: wire.OneFactFilter, options?: CallOptions) =>
      (await get<{ fact: wire.Fact }>(path`/api/temporal/fact/${id}`, filter, options)).fact,
    update: (id: string, body: wire.FactChanges, options?: CallOptions) =>
      json<wire.Fact>({ method: "PATCH", path: path`/api/temporal/fact/${id}`, body, options }),
    /** Ends it now, or at `valid_to`. */
    close: (id: string, end?: wire.FactEnd, options?: CallOptions) => close(id, end, options),
    /** Removes it and all its versions for good. */
    erase: (id: string, owner?: wire.Owner, options?: CallOptions) =>
      close(id, { ...owner, erase: true }, options),
    timeline: (filter: wire.FactTimelineFilter, options?: CallOptions) =>
      get<wire.FactTimeline>("/api/temporal/timeline", filter, options),
    search: (search: wire.FactSearch, options?: CallOptions) =>
      get<wire.FoundFacts>("/api/temporal/search", search, options),
    compare: (filter: wire.FactComparisonFilter, options?: CallOptions) =>
      get<wire.FactComparison>("/api/temporal/compare", filter, options),
    stats: (filter?: wire.FactStatsFilter, options?: CallOptions) =>
      get<wire.FactStats>("/api/temporal/stats", filter, options),
    volatile: (filter?: wire.VolatileFactsFilter, options?: CallOptions) =>
      get<wire.VolatileFacts>("/api/temporal/volatile", filter, options),
  };
}
