import type { Static } from "typebox";
import type { RecordedFact } from "../../core/facts/record-fact.ts";
import * as wire from "../../schemas/fact.ts";
import { FactParams } from "../../schemas/fact.ts";
import { OwnerQuery } from "../../schemas/memory.ts";
import { fromWire, present, toWire } from "../../schemas/wire.ts";
import { batchReply, judge } from "../batch.ts";
import * as inputs from "../request-fields.ts";
import { nextPlace, type Page, placeOf } from "../page.ts";
import { invalid } from "../problem.ts";
import { recorded } from "../records.ts";
import { idempotency, WriteHeaders, writer } from "../request-headers.ts";
import { route, routes } from "../route.ts";

/** Items of a batch, each checked alone. */
const judgeItems = judge(wire.RecordFactBody, recordFactInput);
const recordedOnWire = (result: RecordedFact) => toWire(wire.RecordFactReply, recorded(result));

function recordFactInput(body: Static<typeof wire.RecordFactBody>) {
  const { sourceMemoryId, ...input } = fromWire(wire.RecordFactBody, body);
  return { ...input, ...present({ sourceMemoryId: sourceMemoryId?.toLowerCase() }) };
}

export const factWriteRoutes = routes(({ operationsOf }) => ({
  recordFact: route("write POST /api/temporal/fact", "Record that something is true for a time", {
    headers: WriteHeaders,
    body: wire.RecordFactBody,
    answer: wire.RecordFactReply,
    handle: async (request) => {
      const input = { ...recordFactInput(request.body), ...writer(request) };
      return recorded(
        await operationsOf(request).recordFact({ ...input, ...idempotency(request, input.userId) }),
      );
    },
  }),
  recordFacts: route("write POST /api/temporal/fact/batch", "Record up to 1 000 facts", {
    bodyKind: "batch",
    description:
      "In order: a later one sees what earlier ones did. What is accepted is stored as one: all of it or none after a crash.",
    headers: WriteHeaders,
    body: wire.RecordFactsBody,
    answer: wire.RecordFactsReply,
    handle: async (request, reply) => {
      const items = await judgeItems(request.body.facts, "/facts", writer(request));
      const { results } = await operationsOf(request).recordFacts({ items, ...idempotency(request) });
      return reply.send(await batchReply(results, items, "/facts", request.id, recordedOnWire));
    },
  }),
  updateFact: route("write PATCH /api/temporal/fact/:id", "Change a fact's confidence or metadata", {
    description: "As its next version: what stood before is still answered with `known_at`.",
    params: wire.FactParams,
    querystring: OwnerQuery,
    body: wire.UpdateFactBody,
    answer: wire.FactRecord,
    handle: async (request) => {
      const { userId: _owner, ...changes } = fromWire(wire.UpdateFactBody, request.body);
      return operationsOf(request).updateFact({ ...inputs.targetOf(request, "fact"), ...changes });
    },
  }),
  closeFact: route("write DELETE /api/temporal/fact/:id", "End a fact, or erase it", {
    description:
      "Ends it at `valid_to`, now where left out (a fact that has not begun: at its `valid_from`). One that ended earlier " +
      "stays as it is. With `erase` it is removed with all its versions, and answered as it was.",
    params: wire.FactParams,
    querystring: wire.CloseFactQuery,
    body: wire.CloseFactBody,
    answer: wire.FactRecord,
    handle: async (request) => {
      const asked = fromWire(wire.CloseFactQuery, request.query);
      const sent = fromWire(wire.CloseFactBody, request.body ?? {});
      const validTo = inputs.oneOf([asked.validTo, sent?.validTo], "/valid_to");
      const erase = inputs.oneOf([asked.erase, sent?.erase], "/erase") ?? false;
      if (erase && validTo !== undefined)
        throw invalid("/valid_to", "must be left out where `erase` is true: nothing is left to end");
      const { eraseFact, invalidateFact } = operationsOf(request);
      const target = inputs.targetOf(request, "fact");
      return erase ? eraseFact(target) : invalidateFact({ ...target, ...present({ validTo }) });
    },
  }),
}));

/** The counts in every page of facts. */
function pageCounts(count: number, total: number, { offset }: Pick<Page, "offset">) {
  const end = offset + count;
  return { count, total, nextCursor: count > 0 && end < total ? nextPlace(end) : null };
}

export const factReadRoutes = routes(({ operationsOf }) => ({
  findFacts: route("read GET /api/temporal/fact", "List facts, past ones too", {
    description: "With `at` those valid at that moment.",
    querystring: wire.FindFactsQuery,
    answer: wire.FindFactsReply,
    handle: async (request) => {
      const place = placeOf(request.query);
      const conditions = fromWire(wire.FindFactsQuery, request.query);
      const { facts, total } = await operationsOf(request).findFacts({
        ...inputs.inScope(conditions),
        ...place,
      });
      const { cursor: _, ...query } = conditions;
      return {
        facts,
        ...pageCounts(facts.length, total, place),
        query: toWire(wire.FindFactsQuery, { ...query, l: place.limit, u: place.offset }),
      };
    },
  }),
  currentFact: route("read GET /api/temporal/fact/current", "What is true now of a subject and predicate", {
    description: "404 where nothing is; where several are, the newest.",
    querystring: wire.CurrentFactQuery,
    answer: wire.OneFactReply,
    handle: async (request) => {
      const input = inputs.inScope(fromWire(wire.CurrentFactQuery, request.query));
      return { fact: await operationsOf(request).currentFact(input) };
    },
  }),
  getFact: route("read GET /api/temporal/fact/:id", "Read a fact", {
    params: FactParams,
    querystring: wire.GetFactQuery,
    answer: wire.OneFactReply,
    handle: async (request) => {
      const input = {
        id: inputs.uuidOf(request.params.id, "fact"),
        ...fromWire(wire.GetFactQuery, request.query),
      };
      return { fact: await operationsOf(request).getFact(input) };
    },
  }),
  factTimeline: route("read GET /api/temporal/timeline", "What happened to a subject, in order", {
    querystring: wire.FactTimelineQuery,
    answer: wire.FactTimelineReply,
    handle: async (request) => {
      const place = placeOf(request.query);
      const input = { ...inputs.inScope(fromWire(wire.FactTimelineQuery, request.query)), ...place };
      const { events: timeline, total } = await operationsOf(request).factTimeline(input);
      return { subject: input.subject, timeline, ...pageCounts(timeline.length, total, place) };
    },
  }),
  searchFacts: route("read GET /api/temporal/search", "Find facts by a pattern", {
    querystring: wire.SearchFactsQuery,
    answer: wire.SearchFactsReply,
    handle: async (request) => {
      const place = placeOf(request.query);
      const { field = "any", ...conditions } = inputs.inScope(fromWire(wire.SearchFactsQuery, request.query));
      const { facts, total } = await operationsOf(request).searchFacts({ ...conditions, field, ...place });
      const counts = pageCounts(facts.length, total, place);
      return { pattern: conditions.pattern, field, facts, ...counts };
    },
  }),
  compareFacts: route("read GET /api/temporal/compare", "What is true at one moment against another", {
    description:
      "Two times are needed, as `time1` and `time2` or as `from` and `to`. `l` and `u` page each of the lists alike.",
    querystring: wire.CompareFactsQuery,
    answer: wire.CompareFactsReply,
    handle: async (request) => {
      const { from, to, ...conditions } = inputs.inScope(fromWire(wire.CompareFactsQuery, request.query));
      const time1 = inputs.oneOf([conditions.time1, from], "/from");
      const time2 = inputs.oneOf([conditions.time2, to], "/to");
      if (time1 === undefined) throw invalid("/time1", "is missing");
      if (time2 === undefined) throw invalid("/time2", "is missing");
      const input = { ...conditions, time1, time2, ...placeOf(request.query) };
      const { nextOffset, ...compared } = await operationsOf(request).compareFacts(input);
      const nextCursor = nextOffset === undefined ? null : nextPlace(nextOffset);
      return { ...input, ...compared, nextCursor };
    },
  }),
  factStats: route("read GET /api/temporal/stats", "How many facts there are, and about what", {
    querystring: wire.FactStatsQuery,
    answer: wire.FactStatsReply,
    handle: async (request) =>
      operationsOf(request).factStats(inputs.inScope(fromWire(wire.FactStatsQuery, request.query))),
  }),
  factSubjects: route("read GET /api/temporal/subjects", "What facts are about", {
    querystring: wire.FactSubjectsQuery,
    answer: wire.FactSubjectsReply,
    handle: async (request) => {
      const { limit, offset } = placeOf(request.query);
      const conditions = inputs.inScope(fromWire(wire.FactSubjectsQuery, request.query));
      return operationsOf(request).factSubjects({ ...conditions, limit, offset });
    },
  }),
  volatileFacts: route("read GET /api/temporal/volatile", "What changed most often", {
    querystring: wire.VolatileFactsQuery,
    answer: wire.VolatileFactsReply,
    handle: async (request) => {
      const { limit = wire.DEFAULT_VOLATILE, ...conditions } = inputs.inScope(
        fromWire(wire.VolatileFactsQuery, request.query),
      );
      const volatileFacts = await operationsOf(request).volatileFacts({ ...conditions, limit });
      return { volatileFacts, count: volatileFacts.length };
    },
  }),
}));
