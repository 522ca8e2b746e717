import type { Static } from "typebox";
import type { AddedMemory } from "../../core/memories/memory-ports.ts";
import type { MemoryFilter } from "../../core/ports.ts";
import { isTimeZone } from "../../core/text/calendar.ts";
import * as wire from "../../schemas/memory.ts";
import * as questions from "../../schemas/query-memory.ts";
import { DEFAULT_MATCHES } from "../../schemas/text-rules.ts";
import { fromWire, present, toWire } from "../../schemas/wire.ts";
import { batchReply, judge } from "../batch.ts";
import * as inputs from "../request-fields.ts";
import { pageAt, placeOf } from "../page.ts";
import { invalid } from "../problem.ts";
import { added, seen } from "../records.ts";
import {
  idempotency,
  IfMatchHeaders,
  ifVersion,
  RepeatHeaders,
  WriteHeaders,
  writer,
} from "../request-headers.ts";
import { route, routes } from "../route.ts";

/** Items of a batch, each checked alone. */
const judgeItems = judge(wire.AddMemoryBody, addMemoryInput);
const addedOnWire = (result: AddedMemory) => toWire(wire.AddMemoryReply, added(result));

function addMemoryInput(body: Static<typeof wire.AddMemoryBody>) {
  const { supersedes, ...input } = fromWire(wire.AddMemoryBody, body);
  return { ...input, ...present({ supersedes: supersedesOf(supersedes) }) };
}

/** One id or several, in the form that ids are kept in. */
const supersedesOf = (ids: string | readonly string[] | undefined): string[] | undefined =>
  ids === undefined ? undefined : [ids].flat().map(inputs.memoryIdOf);

export const memoryWriteRoutes = routes(({ operationsOf }) => ({
  addMemory: route("write POST /memory/add", "Add a memory", {
    headers: WriteHeaders,
    body: wire.AddMemoryBody,
    answer: wire.AddMemoryReply,
    handle: async (request) => {
      const input = { ...addMemoryInput(request.body), ...writer(request) };
      return added(
        await operationsOf(request).addMemory({ ...input, ...idempotency(request, input.userId) }),
      );
    },
  }),
  addMemories: route("write POST /memory/add/batch", "Add up to 1 000 memories", {
    bodyKind: "batch",
    description: "What is accepted is stored as one: all of it or none after a crash.",
    headers: WriteHeaders,
    body: wire.AddMemoriesBody,
    answer: wire.AddMemoriesReply,
    handle: async (request, reply) => {
      const items = await judgeItems(request.body.memories, "/memories", writer(request));
      const { results } = await operationsOf(request).addMemories({ items, ...idempotency(request) });
      return reply.send(await batchReply(results, items, "/memories", request.id, addedOnWire));
    },
  }),
  updateMemory: route("write PATCH /memory/:id", "Change a memory", {
    params: wire.MemoryParams,
    querystring: wire.OwnerQuery,
    headers: IfMatchHeaders,
    body: wire.UpdateMemoryBody,
    answer: wire.UpdateMemoryReply,
    handle: async (request, reply) => {
      const { body } = request;
      const { supersedes, userId: _owner, ...changes } = fromWire(wire.UpdateMemoryBody, body);
      const memory = await operationsOf(request).updateMemory({
        ...inputs.targetOf(request, "memory"),
        ...changes,
        ...(body.occurred_at === null && { occurredAt: null }),
        ...(body.project === null && { project: null }),
        ...ifVersion(request),
        ...present({ supersedes: supersedesOf(supersedes), changedBy: writer(request).createdBy }),
      });
      reply.header("etag", `"${memory.version}"`);
      return { ...seen(memory), updated: true as const };
    },
  }),
  tagMemories: route("write POST /memory/tags", "Add tags to up to 1 000 memories, and remove others", {
    description:
      "Each memory is tagged whole or refused, and keeps its earlier version. Doing it twice changes nothing more.",
    body: wire.TagMemoriesBody,
    answer: wire.TagMemoriesReply,
    handle: async (request) => {
      const [add, remove] = [request.body.add ?? [], request.body.remove ?? []];
      if (add.length + remove.length === 0) throw invalid("/add", "must name a tag, or `remove` must");
      if (remove.some((tag) => add.includes(tag))) throw invalid("/remove", "must not name a tag of `add`");
      const memories = request.body.memories.map(({ id, version }) => ({
        id: id.toLowerCase(),
        ...present({ ifVersion: version }),
      }));
      if (new Set(memories.map(({ id }) => id)).size < memories.length)
        throw invalid("/memories", "must not name a memory twice");
      const { results } = await operationsOf(request).tagMemories({
        memories,
        add,
        remove,
        ...inputs.ownerOf(request),
        ...present({ changedBy: writer(request).createdBy }),
      });
      const { added: tagged, ...reply } = await batchReply(
        results,
        [],
        "/memories",
        request.id,
        (each) => each,
      );
      return { ...reply, tagged };
    },
  }),
  deleteMemory: route("write DELETE /memory/:id", "Delete a memory", {
    params: wire.MemoryParams,
    querystring: wire.DeletionQuery,
    headers: IfMatchHeaders,
    body: wire.DeletionBody,
    answer: wire.DeleteMemoryReply,
    handle: async (request) => {
      const id = inputs.memoryIdOf(request.params.id);
      const input = { id, ...inputs.deletion(request), ...ifVersion(request) };
      const { deleted } = await operationsOf(request).deleteMemory(input);
      return { ok: true as const, id, deleted };
    },
  }),
  reinforceMemory: route("write POST /memory/reinforce", "Raise a memory's salience", {
    description: "From s to s + boost·(1 − s), so it never passes 1.",
    querystring: wire.OwnerQuery,
    headers: RepeatHeaders,
    body: wire.ReinforceMemoryBody,
    answer: wire.ReinforceMemoryReply,
    handle: async (request) => {
      const { boost } = request.body;
      const owner = inputs.ownerOf(request);
      const { id, salience } = await operationsOf(request).reinforceMemory({
        id: inputs.memoryIdOf(request.body.id),
        boost: Math.min(boost ?? wire.DEFAULT_BOOST, 1),
        ...owner,
        ...idempotency(request, owner.userId),
      });
      return { ok: true as const, id, salience };
    },
  }),
}));

/** @throws {ServiceError} INVALID_REQUEST. */
function timeZoneOf(name: string | undefined): string | undefined {
  if (name === undefined || isTimeZone(name)) return name;
  throw invalid("/time_zone", "must be a time zone, such as Europe/Berlin");
}

/** @throws {ServiceError} INVALID_REQUEST. */
function queryFilter(
  filters: Static<typeof questions.QueryFilters>,
  userId: string | undefined,
): MemoryFilter {
  const read = fromWire(questions.QueryFilters, filters);
  const { minScore: _score, project, sector, ...filter } = read;
  inputs.requireOrder(filter, "/filters/to");
  if (sector !== undefined && filter.sectors?.includes(sector) === false)
    throw invalid("/filters/sector", "is not among `sectors`: give one of the two");
  return {
    ...filter,
    ...present({
      userId,
      projects: project === undefined ? undefined : [project].flat(),
      sectors: sector === undefined ? undefined : [sector],
    }),
  };
}

export const memoryReadRoutes = routes(({ operationsOf, places }) => ({
  queryMemory: route("read POST /memory/query", "Find memories that answer a question", {
    bodyKind: "question",
    body: questions.QueryMemoryBody,
    answer: questions.QueryMemoryReply,
    handle: async (request) => {
      const startedAt = performance.now();
      const {
        k,
        snippet,
        timeZone,
        userId,
        filters: _filters,
        ...input
      } = fromWire(questions.QueryMemoryBody, request.body);
      const filters = request.body.filters ?? {};
      const { hits, ...answer } = await operationsOf(request).queryMemory({
        ...input,
        limit: k ?? DEFAULT_MATCHES,
        includeFacts: input.includeFacts ?? true,
        filter: queryFilter(filters, inputs.oneUser([userId, filters.user_id], "/filters/user_id")),
        ...present({
          minScore: filters.min_score,
          timeZone: timeZoneOf(timeZone),
          snippetChars: snippet,
        }),
      });
      const matches = hits.map(({ memory, ...hit }) => ({ ...seen(memory), ...hit }));
      const tookMs = Math.round((performance.now() - startedAt) * 100) / 100;
      return { query: input.query, matches, ...answer, tookMs };
    },
  }),
  composeContext: route("read POST /context", "What an agent should know at the start of a piece of work", {
    errors: ["MODEL_UNAVAILABLE"],
    bodyKind: "question",
    description:
      "Standing preferences, decisions that hold, what is true now, what was last worked on and what is open: nothing " +
      "superseded, nothing twice, no text of documents.",
    body: questions.ContextBody,
    answer: questions.ContextReply,
    handle: async (request) => {
      const input = fromWire(questions.ContextBody, request.body);
      return operationsOf(request).composeContext({ maxTokens: questions.DEFAULT_CONTEXT_TOKENS, ...input });
    },
  }),
  listMemories: route("read GET /memory/all", "List memories, newest first", {
    querystring: wire.ListMemoriesQuery,
    answer: wire.ListMemoriesReply,
    handle: async (request) => inputs.memoriesPage(request.query, operationsOf(request), places),
  }),
  listSuperseded: route(
    "read GET /memory/superseded",
    "Pairs of a memory and the later one that superseded it",
    {
      description:
        "Those that seem to replace or contradict each other are `inferred`, to confirm or to reject.",
      querystring: wire.SupersededQuery,
      answer: wire.SupersededReply,
      handle: async (request) => {
        const page = placeOf(request.query);
        const { how, ...filter } = inputs.inScope(fromWire(wire.SupersededQuery, request.query));
        const input = { filter, ...present({ how }), ...page };
        const { items, total } = await operationsOf(request).listSuperseded(input);
        const pairs = items.map(({ older, newer }) => ({ older: seen(older), newer: seen(newer) }));
        return pageAt(page, pairs, total);
      },
    },
  ),
  listComing: route("read GET /memory/coming", "Memories that name a day or month to come", {
    description: "Neither parts of documents nor what was superseded.",
    querystring: wire.ComingQuery,
    answer: wire.ComingReply,
    handle: async (request) => {
      const { l: limit = 20 } = request.query;
      const { days = 30, timeZone, ...filter } = inputs.inScope(fromWire(wire.ComingQuery, request.query));
      const input = { filter, days, limit, ...present({ timeZone: timeZoneOf(timeZone) }) };
      const items = await operationsOf(request).listComing(input);
      return { items: items.map(({ on, memory }) => ({ on, memory: seen(memory) })) };
    },
  }),
  countMemories: route("read GET /memory/counts", "Count memories by day, client, project, tag or user", {
    querystring: wire.CountMemoriesQuery,
    answer: wire.CountMemoriesReply,
    handle: async (request) => {
      const { by, time_zone, l: limit = wire.DEFAULT_COUNTS, ...conditions } = request.query;
      const filter = inputs.listFilter(conditions);
      const timeZone = timeZoneOf(time_zone);
      return operationsOf(request).countMemories({ filter, by, limit, ...present({ timeZone }) });
    },
  }),
  getMemory: route("read GET /memory/:id", "Read a memory", {
    params: wire.MemoryParams,
    querystring: wire.OwnerQuery,
    answer: wire.MemoryRecord,
    handle: async (request, reply) => {
      const memory = await operationsOf(request).getMemory({ ...inputs.targetOf(request, "memory") });
      reply.header("etag", `"${memory.version}"`);
      return seen(memory);
    },
  }),
  relatedMemories: route("read GET /memory/:id/related", "Walk the waypoints from a memory", {
    params: wire.MemoryParams,
    querystring: wire.RelatedMemoriesQuery,
    answer: wire.RelatedMemoriesReply,
    handle: async (request) => {
      const { nodes, edges } = await operationsOf(request).relatedMemories({
        ...inputs.targetOf(request, "memory"),
        depth: request.query.depth ?? 1,
      });
      return { nodes: nodes.map(seen), edges };
    },
  }),
  listSectors: route("read GET /sectors", "The sectors of memory and how many memories each has", {
    querystring: wire.OwnerQuery,
    answer: wire.SectorsReply,
    handle: async (request) => ({
      sectors: await operationsOf(request).listSectors(inputs.ownerOf(request)),
    }),
  }),
}));
