import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "typebox";
import { FactParams } from "../../schemas/fact.ts";
import {
  CompareFactsQuery,
  CompareFactsReply,
  CurrentFactQuery,
  DEFAULT_VOLATILE,
  FactStatsQuery,
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
import { formatTime } from "../../schemas/time.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { writePlace } from "../cursor.ts";
import {
  asOf,
  between,
  comparedTimes,
  factFilter,
  factIdOf,
  pageCounts,
  pageRange,
  timeOf,
} from "../fact-input.ts";
import { factRecord } from "../records.ts";
import { present } from "../memory-input.ts";

export const factReadRoutes: FastifyPluginAsyncTypebox<{ readonly operationsOf: OperationsOf }> = async (
  app,
  { operationsOf },
) => {
  app.get(
    "/api/temporal/fact",
    {
      config: { scope: "read" },
      schema: {
        operationId: "findFacts",
        summary: "List facts, past ones too",
        description: "With `at` those valid at that moment.",
        querystring: FindFactsQuery,
        response: { 200: FindFactsReply },
      },
    },
    async (request) => {
      const { object, min_confidence: minConfidence, created_by: createdBy } = request.query;
      const range = pageRange(request.query);
      const { facts, total } = operationsOf(request).findFacts({
        ...factFilter(request.query),
        ...asOf(request.query),
        ...present({ object, minConfidence, createdBy, recordedFrom: timeOf(request.query.recorded_from) }),
        ...range,
      });
      return {
        facts: facts.map(factRecord),
        ...pageCounts(facts.length, total, range),
        query: understood(request.query, range),
      };
    },
  );

  app.get(
    "/api/temporal/fact/current",
    {
      config: { scope: "read" },
      schema: {
        operationId: "currentFact",
        summary: "What is true now of a subject and predicate",
        description: "404 where nothing is; where several are, the newest.",
        querystring: CurrentFactQuery,
        response: { 200: OneFactReply },
      },
    },
    async (request) => {
      const { query } = request;
      const { subject, predicate } = query;
      return {
        fact: factRecord(
          operationsOf(request).currentFact({ ...factFilter(query), ...asOf(query), subject, predicate }),
        ),
      };
    },
  );

  app.get(
    "/api/temporal/fact/:id",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getFact",
        summary: "Read a fact",
        params: FactParams,
        querystring: GetFactQuery,
        response: { 200: OneFactReply },
      },
    },
    async (request) => {
      const { params, query } = request;
      const fact = operationsOf(request).getFact({
        id: factIdOf(params.id),
        ...asOf(query),
        ...present({ userId: query.user_id }),
      });
      return { fact: factRecord(fact) };
    },
  );

  app.get(
    "/api/temporal/timeline",
    {
      config: { scope: "read" },
      schema: {
        operationId: "factTimeline",
        summary: "What happened to a subject, in order",
        querystring: FactTimelineQuery,
        response: { 200: FactTimelineReply },
      },
    },
    async (request) => {
      const { query } = request;
      const { subject } = query;
      const range = pageRange(query);
      const { events, total } = operationsOf(request).factTimeline({
        ...factFilter(query),
        subject,
        ...asOf(query),
        ...between(query),
        ...range,
      });
      return {
        subject,
        timeline: events.map(({ timestamp, changeType, fact }) => ({
          timestamp: formatTime(timestamp),
          change_type: changeType,
          fact: factRecord(fact),
        })),
        ...pageCounts(events.length, total, range),
      };
    },
  );

  app.get(
    "/api/temporal/search",
    {
      config: { scope: "read" },
      schema: {
        operationId: "searchFacts",
        summary: "Find facts by a pattern",
        querystring: SearchFactsQuery,
        response: { 200: SearchFactsReply },
      },
    },
    async (request) => {
      const { query } = request;
      const { pattern, field = "any" } = query;
      const range = pageRange(query);
      const { facts, total } = operationsOf(request).searchFacts({
        ...factFilter(query),
        ...asOf(query),
        pattern,
        field,
        ...range,
      });
      return { pattern, field, facts: facts.map(factRecord), ...pageCounts(facts.length, total, range) };
    },
  );

  app.get(
    "/api/temporal/compare",
    {
      config: { scope: "read" },
      schema: {
        operationId: "compareFacts",
        summary: "What is true at one moment against another",
        description:
          "Two times are needed, as `time1` and `time2` or as `from` and `to`. `l` and `u` page each of the lists alike.",
        querystring: CompareFactsQuery,
        response: { 200: CompareFactsReply },
      },
    },
    async (request) => {
      const { query } = request;
      const times = comparedTimes(query);
      const { added, removed, changed, unchanged, summary, nextOffset } = operationsOf(request).compareFacts({
        ...factFilter(query),
        ...asOf(query),
        ...times,
        ...pageRange(query),
      });
      return {
        time1: formatTime(times.time1),
        time2: formatTime(times.time2),
        added: added.map(factRecord),
        removed: removed.map(factRecord),
        changed: changed.map(({ before, after }) => ({
          before: factRecord(before),
          after: factRecord(after),
        })),
        unchanged: unchanged.map(factRecord),
        summary: { ...summary },
        next_cursor: nextOffset === undefined ? null : writePlace(nextOffset),
      };
    },
  );

  app.get(
    "/api/temporal/stats",
    {
      config: { scope: "read" },
      schema: {
        operationId: "factStats",
        summary: "How many facts there are, and about what",
        querystring: FactStatsQuery,
        response: { 200: FactStatsReply },
      },
    },
    async (request) => {
      const { query } = request;
      const stats = operationsOf(request).factStats({ ...factFilter(query), ...asOf(query) });
      return {
        total_facts: stats.totalFacts,
        active_facts: stats.activeFacts,
        historical_facts: stats.historicalFacts,
        future_facts: stats.futureFacts,
        subjects: stats.subjects,
        predicates: stats.predicates,
        objects: stats.objects,
        average_confidence: stats.averageConfidence,
        earliest: stats.earliest === null ? null : formatTime(stats.earliest),
        latest: stats.latest === null ? null : formatTime(stats.latest),
        top_predicates: stats.topPredicates.map(({ predicate, count }) => ({ predicate, count })),
      };
    },
  );

  app.get(
    "/api/temporal/volatile",
    {
      config: { scope: "read" },
      schema: {
        operationId: "volatileFacts",
        summary: "What changed most often",
        querystring: VolatileFactsQuery,
        response: { 200: VolatileFactsReply },
      },
    },
    async (request) => {
      const { query } = request;
      const volatile = operationsOf(request).volatileFacts({
        ...factFilter(query),
        ...asOf(query),
        ...between(query),
        limit: query.limit ?? DEFAULT_VOLATILE,
      });
      return {
        volatile_facts: volatile.map((each) => ({
          subject: each.subject,
          predicate: each.predicate,
          user_id: each.userId,
          project: each.project,
          change_count: each.changeCount,
          average_confidence: each.averageConfidence,
          average_duration_days: each.averageDurationDays,
          last_changed_at: formatTime(each.lastChangedAt),
          current_object: each.currentObject,
        })),
        count: volatile.length,
      };
    },
  );
};

/** The conditions of a request in the form they were read in. */
function understood(
  query: Static<typeof FindFactsQuery>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): { [name: string]: string | number } {
  const { subject, predicate, object, min_confidence, user_id, project } = query;
  const { at, knownAt } = asOf(query);
  return present({
    subject,
    predicate,
    object,
    at: at === undefined ? undefined : formatTime(at),
    known_at: knownAt === undefined ? undefined : formatTime(knownAt),
    min_confidence,
    user_id,
    project,
    l: limit,
    u: offset,
  }) as { [name: string]: string | number };
}
