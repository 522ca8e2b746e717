import * as wire from "../../schemas/memory.ts";
import { ContextBody, ContextReply } from "../../schemas/context.ts";
import { QueryMemoryBody, QueryMemoryReply } from "../../schemas/query-memory.ts";
import {
  contextInput,
  countMemoriesInput,
  listMemoriesInput,
  memoryGraphInput,
  queryMemoryInput,
  ownerOf,
  targetOf,
} from "../memory-input.ts";
import { pageReply } from "../page.ts";
import { memoryRecord, seen } from "../records.ts";
import { route, routes } from "../route.ts";
import { toWire } from "../../schemas/wire.ts";

export const memoryReadRoutes = routes([], ({ operationsOf }) => ({
  queryMemory: route("read POST /memory/query", "Find memories that answer a question", {
    bodyKind: "question",
    body: QueryMemoryBody,
    answer: QueryMemoryReply,
    handle: async (request) => {
      const startedAt = performance.now();
      const input = queryMemoryInput(request.body);
      const { hits, ...answer } = await operationsOf(request).queryMemory(input);
      const matches = hits.map(({ memory, ...hit }) => ({ ...seen(memory), ...hit }));
      const tookMs = Math.round((performance.now() - startedAt) * 100) / 100;
      return toWire(QueryMemoryReply, { query: input.query, matches, ...answer, tookMs });
    },
  }),
  composeContext: route("read POST /context", "What an agent should know at the start of a piece of work", {
    bodyKind: "question",
    description:
      "Standing preferences, decisions that hold, what is true now, what was last worked on and what is open: nothing " +
      "superseded, nothing twice, no text of documents. What is told does not count as remembered.",
    body: ContextBody,
    answer: ContextReply,
    handle: async (request) =>
      toWire(ContextReply, await operationsOf(request).composeContext(contextInput(request.body))),
  }),
  listMemories: route("read GET /memory/all", "List memories, newest first", {
    querystring: wire.ListMemoriesQuery,
    answer: wire.ListMemoriesReply,
    handle: async (request) => {
      const input = listMemoriesInput(request.query);
      return pageReply(input, await operationsOf(request).listMemories(input), memoryRecord);
    },
  }),
  countMemories: route(
    "read GET /memory/counts",
    "Count memories by day, client, project, salience, tag or user",
    {
      querystring: wire.CountMemoriesQuery,
      answer: wire.CountMemoriesReply,
      handle: async (request) =>
        toWire(
          wire.CountMemoriesReply,
          await operationsOf(request).countMemories(countMemoriesInput(request.query)),
        ),
    },
  ),
  memoryGraph: route("read GET /memory/graph", "Memories and the waypoints between them", {
    description: "For drawing: texts are cut. A walk from `around` passes over memories that match only.",
    querystring: wire.MemoryGraphQuery,
    answer: wire.MemoryGraphReply,
    handle: async (request) =>
      toWire(wire.MemoryGraphReply, await operationsOf(request).memoryGraph(memoryGraphInput(request.query))),
  }),
  getMemory: route("read GET /memory/:id", "Read a memory", {
    params: wire.MemoryParams,
    querystring: wire.OwnerQuery,
    answer: wire.MemoryRecord,
    handle: async (request, reply) => {
      const memory = await operationsOf(request).getMemory({
        ...targetOf(request, "memory"),
      });
      reply.header("etag", `"${memory.version}"`);
      return memoryRecord(memory);
    },
  }),
  relatedMemories: route("read GET /memory/:id/related", "Walk the waypoints from a memory", {
    params: wire.MemoryParams,
    querystring: wire.RelatedMemoriesQuery,
    answer: wire.RelatedMemoriesReply,
    handle: async (request) => {
      const { nodes, edges } = await operationsOf(request).relatedMemories({
        ...targetOf(request, "memory"),
        depth: request.query.depth ?? 1,
      });
      return toWire(wire.RelatedMemoriesReply, { nodes: nodes.map(seen), edges });
    },
  }),
  listSectors: route("read GET /sectors", "The sectors of memory and how many memories each has", {
    querystring: wire.OwnerQuery,
    answer: wire.SectorsReply,
    handle: async (request) =>
      toWire(wire.SectorsReply, { sectors: operationsOf(request).listSectors(ownerOf(request)) }),
  }),
}));
