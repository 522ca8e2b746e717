import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { ListMemoriesQuery, ListMemoriesReply } from "../../schemas/list-memories.ts";
import {
  MemoryParams,
  MemoryRecord,
  OwnerQuery,
  RelatedMemoriesQuery,
  RelatedMemoriesReply,
  SectorsReply,
} from "../../schemas/memory.ts";
import { QueryMemoryBody, QueryMemoryReply } from "../../schemas/query-memory.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { factRecord } from "../records.ts";
import { memoryIdOf } from "../memory-id.ts";
import { listMemoriesInput, queryMemoryInput } from "../memory-input.ts";
import { memoryPage, memoryRecord } from "../records.ts";

export const memoryReadRoutes: FastifyPluginAsyncTypebox<{ readonly operationsOf: OperationsOf }> = async (
  app,
  { operationsOf },
) => {
  app.post(
    "/memory/query",
    {
      config: { scope: "read", body: "question" },
      schema: {
        operationId: "queryMemory",
        summary: "Find memories that answer a question",
        body: QueryMemoryBody,
        response: { 200: QueryMemoryReply },
      },
    },
    async (request) => {
      const startedAt = performance.now();
      const input = queryMemoryInput(request.body);
      const { hits, relevant, facts } = await operationsOf(request).queryMemory(input);
      return {
        query: input.query,
        matches: hits.map(({ memory, score, path, snippet, explain }) => ({
          ...memoryRecord(memory),
          score,
          path: [...path],
          ...(snippet !== undefined && { snippet }),
          ...(explain !== undefined && { explain }),
        })),
        relevant,
        ...(facts !== undefined && { facts: facts.map(factRecord) }),
        took_ms: Math.round((performance.now() - startedAt) * 100) / 100,
      };
    },
  );

  app.get(
    "/memory/all",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listMemories",
        summary: "List memories, newest first",
        querystring: ListMemoriesQuery,
        response: { 200: ListMemoriesReply },
      },
    },
    async (request) => {
      const { skipped, ...input } = listMemoriesInput(request.query);
      return memoryPage(await operationsOf(request).listMemories(input), input.limit, skipped);
    },
  );

  app.get(
    "/memory/:id",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getMemory",
        summary: "Read a memory",
        params: MemoryParams,
        querystring: OwnerQuery,
        response: { 200: MemoryRecord },
      },
    },
    async (request, reply) => {
      const memory = await operationsOf(request).getMemory({
        id: memoryIdOf(request.params.id),
        ...userOf(request.query),
      });
      reply.header("etag", `"${memory.version}"`);
      return memoryRecord(memory);
    },
  );

  app.get(
    "/memory/:id/related",
    {
      config: { scope: "read" },
      schema: {
        operationId: "relatedMemories",
        summary: "Walk the waypoints from a memory",
        params: MemoryParams,
        querystring: RelatedMemoriesQuery,
        response: { 200: RelatedMemoriesReply },
      },
    },
    async (request) => {
      const { nodes, edges } = await operationsOf(request).relatedMemories({
        id: memoryIdOf(request.params.id),
        depth: request.query.depth ?? 1,
        ...userOf(request.query),
      });
      return {
        nodes: nodes.map(memoryRecord),
        edges: edges.map(({ source, target, weight, kind }) => ({ source, target, weight, kind })),
      };
    },
  );

  app.get(
    "/sectors",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listSectors",
        summary: "The sectors of memory and how many memories each has",
        querystring: OwnerQuery,
        response: { 200: SectorsReply },
      },
    },
    async (request) => ({
      sectors: operationsOf(request)
        .listSectors(userOf(request.query))
        .map(({ name, description, count }) => ({ name, description, count })),
    }),
  );
};

function userOf({ user_id: userId }: { user_id?: string }): { userId?: string } {
  return userId === undefined ? {} : { userId };
}
