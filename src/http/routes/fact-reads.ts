import { FactParams } from "../../schemas/fact.ts";
import {
  CompareFactsQuery,
  CompareFactsReply,
  CurrentFactQuery,
  DEFAULT_VOLATILE,
  FactStatsQuery,
  FactSubjectsQuery,
  FactSubjectsReply,
  FactStatsReply,
  FactTimelineQuery,
  FactTimelineReply,
  FindFactsQuery,
  FindFactsReply,
  GetFactQuery,
  OneFactReply,
  SearchFactsQuery,
  SearchFactsReply,
  VolatileFactsQuery,
  VolatileFactsReply,
} from "../../schemas/read-facts.ts";
import { fromWire, toWire } from "../../schemas/wire.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { comparedTimes, factIdOf, pageCounts } from "../fact-input.ts";
import { inScope } from "../memory-input.ts";
import { nextPlace, placeOf } from "../page.ts";
import { factRecord } from "../records.ts";
import { routes } from "../route.ts";

export const factReadRoutes = routes<{ readonly operationsOf: OperationsOf }>((route, { operationsOf }) => {
  route(
    {
      id: "findFacts",
      at: "GET /api/temporal/fact",
      scope: "read",
      summary: "List facts, past ones too",
      description: "With `at` those valid at that moment.",
    },
    { querystring: FindFactsQuery, answer: FindFactsReply },
    async (request) => {
      const place = placeOf(request.query);
      const conditions = fromWire(FindFactsQuery, request.query);
      const { facts, total } = operationsOf(request).findFacts({ ...inScope(conditions), ...place });
      const { cursor: _, ...query } = conditions;
      return {
        facts: facts.map(factRecord),
        ...pageCounts(facts.length, total, place),
        query: toWire(FindFactsQuery, { ...query, l: place.limit, u: place.offset }),
      };
    },
  );

  route(
    {
      id: "currentFact",
      at: "GET /api/temporal/fact/current",
      scope: "read",
      summary: "What is true now of a subject and predicate",
      description: "404 where nothing is; where several are, the newest.",
    },
    { querystring: CurrentFactQuery, answer: OneFactReply },
    async (request) => {
      const input = inScope(fromWire(CurrentFactQuery, request.query));
      return { fact: factRecord(operationsOf(request).currentFact(input)) };
    },
  );

  route(
    { id: "getFact", at: "GET /api/temporal/fact/:id", scope: "read", summary: "Read a fact" },
    { params: FactParams, querystring: GetFactQuery, answer: OneFactReply },
    async (request) => {
      const input = { id: factIdOf(request.params.id), ...fromWire(GetFactQuery, request.query) };
      return { fact: factRecord(operationsOf(request).getFact(input)) };
    },
  );

  route(
    {
      id: "factTimeline",
      at: "GET /api/temporal/timeline",
      scope: "read",
      summary: "What happened to a subject, in order",
    },
    { querystring: FactTimelineQuery, answer: FactTimelineReply },
    async (request) => {
      const place = placeOf(request.query);
      const input = { ...inScope(fromWire(FactTimelineQuery, request.query)), ...place };
      const { events: timeline, total } = operationsOf(request).factTimeline(input);
      return {
        ...toWire(FactTimelineReply, { subject: input.subject, timeline }),
        ...pageCounts(timeline.length, total, place),
      };
    },
  );

  route(
    {
      id: "searchFacts",
      at: "GET /api/temporal/search",
      scope: "read",
      summary: "Find facts by a pattern",
    },
    { querystring: SearchFactsQuery, answer: SearchFactsReply },
    async (request) => {
      const place = placeOf(request.query);
      const { field = "any", ...conditions } = inScope(fromWire(SearchFactsQuery, request.query));
      const { facts, total } = operationsOf(request).searchFacts({ ...conditions, field, ...place });
      const counts = pageCounts(facts.length, total, place);
      return { pattern: conditions.pattern, field, facts: facts.map(factRecord), ...counts };
    },
  );

  route(
    {
      id: "compareFacts",
      at: "GET /api/temporal/compare",
      scope: "read",
      summary: "What is true at one moment against another",
      description:
        "Two times are needed, as `time1` and `time2` or as `from` and `to`. `l` and `u` page each of the lists alike.",
    },
    { querystring: CompareFactsQuery, answer: CompareFactsReply },
    async (request) => {
      const input = comparedTimes(inScope(fromWire(CompareFactsQuery, request.query)));
      const { nextOffset, ...compared } = operationsOf(request).compareFacts({
        ...input,
        ...placeOf(request.query),
      });
      const nextCursor = nextOffset === undefined ? null : nextPlace(nextOffset);
      return toWire(CompareFactsReply, { ...input, ...compared, nextCursor });
    },
  );

  route(
    {
      id: "factStats",
      at: "GET /api/temporal/stats",
      scope: "read",
      summary: "How many facts there are, and about what",
    },
    { querystring: FactStatsQuery, answer: FactStatsReply },
    async (request) =>
      toWire(
        FactStatsReply,
        operationsOf(request).factStats(inScope(fromWire(FactStatsQuery, request.query))),
      ),
  );

  route(
    {
      id: "factSubjects",
      at: "GET /api/temporal/subjects",
      scope: "read",
      summary: "What facts are about",
    },
    { querystring: FactSubjectsQuery, answer: FactSubjectsReply },
    async (request) => {
      const { limit, offset } = placeOf(request.query);
      const conditions = inScope(fromWire(FactSubjectsQuery, request.query));
      return toWire(FactSubjectsReply, operationsOf(request).factSubjects({ ...conditions, limit, offset }));
    },
  );

  route(
    {
      id: "volatileFacts",
      at: "GET /api/temporal/volatile",
      scope: "read",
      summary: "What changed most often",
    },
    { querystring: VolatileFactsQuery, answer: VolatileFactsReply },
    async (request) => {
      const { limit = DEFAULT_VOLATILE, ...conditions } = inScope(
        fromWire(VolatileFactsQuery, request.query),
      );
      const volatileFacts = operationsOf(request).volatileFacts({ ...conditions, limit });
      return toWire(VolatileFactsReply, { volatileFacts, count: volatileFacts.length });
    },
  );
});
