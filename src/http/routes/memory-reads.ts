import {
  MemoryParams,
  MemoryRecord,
  OwnerQuery,
  RelatedMemoriesQuery,
  RelatedMemoriesReply,
  SectorsReply,
  ListMemoriesQuery,
  ListMemoriesReply,
} from "../../schemas/memory.ts";
import { QueryMemoryBody, QueryMemoryReply } from "../../schemas/query-memory.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { listMemoriesInput, queryMemoryInput, memoryIdOf, ownerOf } from "../memory-input.ts";
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
    { id: "listMemories", at: "GET /memory/all", scope: "read", summary: "List memories, newest first" },
    { querystring: ListMemoriesQuery, answer: ListMemoriesReply },
    async (request) => {
      const input = listMemoriesInput(request.query);
      return memoryPage(await operationsOf(request).listMemories(input), input);
    },
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
