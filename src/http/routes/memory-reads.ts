import {
  CountMemoriesQuery,
  CountMemoriesReply,
  MemoryGraphQuery,
  MemoryGraphReply,
  MemoryParams,
  MemoryRecord,
  OwnerQuery,
  RelatedMemoriesQuery,
  RelatedMemoriesReply,
  SectorsReply,
  ListMemoriesQuery,
  ListMemoriesReply,
} from "../../schemas/memory.ts";
import { ContextBody, ContextReply } from "../../schemas/context.ts";
import { QueryMemoryBody, QueryMemoryReply } from "../../schemas/query-memory.ts";
import type { OperationsOf } from "../caller-operations.ts";
import {
  contextInput,
  countMemoriesInput,
  listMemoriesInput,
  memoryGraphInput,
  queryMemoryInput,
  memoryIdOf,
  ownerOf,
} from "../memory-input.ts";
import { memoryPage, memoryRecord, seen } from "../records.ts";
import { routes } from "../route.ts";
import { toWire } from "../../schemas/wire.ts";

export const memoryReadRoutes = routes<{ readonly operationsOf: OperationsOf }>((route, { operationsOf }) => {
  route(
    {
      id: "queryMemory",
      at: "POST /memory/query",
      scope: "read",
      bodyKind: "question",
      summary: "Find memories that answer a question",
    },
    { body: QueryMemoryBody, answer: QueryMemoryReply },
    async (request) => {
      const startedAt = performance.now();
      const input = queryMemoryInput(request.body);
      const { hits, ...answer } = await operationsOf(request).queryMemory(input);
      const matches = hits.map(({ memory, ...hit }) => ({ ...seen(memory), ...hit }));
      const tookMs = Math.round((performance.now() - startedAt) * 100) / 100;
      return toWire(QueryMemoryReply, { query: input.query, matches, ...answer, tookMs });
    },
  );

  route(
    {
      id: "composeContext",
      at: "POST /context",
      scope: "read",
      bodyKind: "question",
      summary: "What an agent should know at the start of a piece of work",
      description:
        "Standing preferences, decisions that hold, what is true now, what was last worked on and what is open: nothing " +
        "superseded, nothing twice, no text of documents. What is told does not count as remembered.",
    },
    { body: ContextBody, answer: ContextReply },
    async (request) =>
      toWire(ContextReply, await operationsOf(request).composeContext(contextInput(request.body))),
  );

  route(
    { id: "listMemories", at: "GET /memory/all", scope: "read", summary: "List memories, newest first" },
    { querystring: ListMemoriesQuery, answer: ListMemoriesReply },
    async (request) => {
      const input = listMemoriesInput(request.query);
      return memoryPage(await operationsOf(request).listMemories(input), input);
    },
  );

  route(
    {
      id: "countMemories",
      at: "GET /memory/counts",
      scope: "read",
      summary: "Count memories by day, client, project, tag or user",
    },
    { querystring: CountMemoriesQuery, answer: CountMemoriesReply },
    async (request) =>
      toWire(
        CountMemoriesReply,
        await operationsOf(request).countMemories(countMemoriesInput(request.query)),
      ),
  );

  route(
    {
      id: "memoryGraph",
      at: "GET /memory/graph",
      scope: "read",
      summary: "Memories and the waypoints between them",
      description: "For drawing: texts are cut. A walk from `around` passes over memories that match only.",
    },
    { querystring: MemoryGraphQuery, answer: MemoryGraphReply },
    async (request) =>
      toWire(MemoryGraphReply, await operationsOf(request).memoryGraph(memoryGraphInput(request.query))),
  );

  route(
    { id: "getMemory", at: "GET /memory/:id", scope: "read", summary: "Read a memory" },
    { params: MemoryParams, querystring: OwnerQuery, answer: MemoryRecord },
    async (request, reply) => {
      const memory = await operationsOf(request).getMemory({
        id: memoryIdOf(request.params.id),
        ...ownerOf(request.query, null),
      });
      reply.header("etag", `"${memory.version}"`);
      return memoryRecord(memory);
    },
  );

  route(
    {
      id: "relatedMemories",
      at: "GET /memory/:id/related",
      scope: "read",
      summary: "Walk the waypoints from a memory",
    },
    { params: MemoryParams, querystring: RelatedMemoriesQuery, answer: RelatedMemoriesReply },
    async (request) => {
      const { nodes, edges } = await operationsOf(request).relatedMemories({
        id: memoryIdOf(request.params.id),
        depth: request.query.depth ?? 1,
        ...ownerOf(request.query, null),
      });
      return toWire(RelatedMemoriesReply, { nodes: nodes.map(seen), edges });
    },
  );

  route(
    {
      id: "listSectors",
      at: "GET /sectors",
      scope: "read",
      summary: "The sectors of memory and how many memories each has",
    },
    { querystring: OwnerQuery, answer: SectorsReply },
    async (request) =>
      toWire(SectorsReply, { sectors: operationsOf(request).listSectors(ownerOf(request.query, null)) }),
  );
});
