import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "typebox";
import type { UserSummary } from "../../core/users/user-summary.ts";
import { ListMemoriesQuery, ListMemoriesReply } from "../../schemas/list-memories.ts";
import { OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { DEFAULT_PAGE_LIMIT } from "../../schemas/page.ts";
import { formatTime } from "../../schemas/time.ts";
import {
  DeleteUserMemoriesBody,
  DeleteUserMemoriesQuery,
  DeleteUserMemoriesReply,
  ListUsersQuery,
  ListUsersReply,
  UserParams,
  UserSummaryReply,
} from "../../schemas/user.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { readIdCursor, writeIdCursor } from "../cursor.ts";
import { factRecord } from "../records.ts";
import { invalid, listMemoriesInput, oneUser } from "../memory-input.ts";
import { memoryPage } from "../records.ts";

export const userRoutes: FastifyPluginAsyncTypebox<{ readonly operationsOf: OperationsOf }> = async (
  app,
  { operationsOf },
) => {
  app.get(
    "/users",
    {
      config: { scope: "admin" },
      schema: {
        operationId: "listUsers",
        summary: "List users and how much each has stored",
        querystring: ListUsersQuery,
        response: { 200: ListUsersReply },
      },
    },
    async (request) => {
      const { l: limit = DEFAULT_PAGE_LIMIT, u = 0, cursor } = request.query;
      const page = cursor === undefined ? undefined : readIdCursor(cursor);
      if (page !== undefined && u > 0) throw invalid("/u", "must be left out where `cursor` is given");
      const { items, total, isMore } = operationsOf(request).listUsers({
        limit,
        offset: u,
        ...(page !== undefined && { after: page.after }),
      });
      const skipped = page?.skipped ?? u;
      const last = items.at(-1);
      return {
        items: items.map((user) => ({
          user_id: user.userId,
          memory_count: user.memories,
          fact_count: user.facts,
          document_count: user.documents,
          first_memory_at: timeOrNull(user.firstMemoryAt),
          last_memory_at: timeOrNull(user.lastMemoryAt),
        })),
        total,
        limit,
        offset: skipped,
        next_cursor:
          isMore && last !== undefined
            ? writeIdCursor({ after: last.userId, skipped: skipped + items.length })
            : null,
      };
    },
  );

  app.get(
    "/users/:user_id/memories",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listUserMemories",
        summary: "List a user's memories, newest first",
        params: UserParams,
        querystring: ListMemoriesQuery,
        response: { 200: ListMemoriesReply },
      },
    },
    async (request) => {
      const userId = userOf(request.params, request.query);
      const { skipped, ...input } = listMemoriesInput({ ...request.query, user_id: userId });
      return memoryPage(await operationsOf(request).listMemories(input), input.limit, skipped);
    },
  );

  app.get(
    "/users/:user_id/summary",
    {
      config: { scope: "read" },
      schema: {
        operationId: "userSummary",
        summary: "What a user has stored, in short",
        params: UserParams,
        querystring: OwnerQuery,
        response: { 200: UserSummaryReply },
      },
    },
    async (request) => {
      const userId = userOf(request.params, request.query);
      return summaryRecord(await operationsOf(request).userSummary({ userId }));
    },
  );

  app.post(
    "/users/:user_id/summary/regenerate",
    {
      config: { scope: "write", optionalBody: true },
      schema: {
        operationId: "regenerateSummary",
        summary: "The same, made now",
        params: UserParams,
        querystring: OwnerQuery,
        body: OwnerBody,
        response: { 200: UserSummaryReply },
      },
    },
    async (request) => {
      const userId = userOf(request.params, request.query, request.body);
      return summaryRecord(await operationsOf(request).regenerateSummary({ userId }));
    },
  );

  app.delete(
    "/users/:user_id/memories",
    {
      config: { scope: "write", optionalBody: true },
      schema: {
        operationId: "deleteUserMemories",
        summary: "Delete all memories of a user, with documents and originals",
        description:
          "In one write: all of it or none after a crash. Facts stay, and name none of what went as their source.",
        params: UserParams,
        querystring: DeleteUserMemoriesQuery,
        body: DeleteUserMemoriesBody,
        response: { 200: DeleteUserMemoriesReply },
      },
    },
    async (request) => {
      const { query, body } = request;
      const { deleted, deletedDocuments, deletedFacts } = await operationsOf(request).deleteUserMemories({
        userId: userOf(request.params, query, body),
        keepsDocuments: (query.keep ?? body?.keep ?? undefined) !== undefined,
        includesFacts: (query.include ?? body?.include ?? undefined) !== undefined,
      });
      return {
        ok: true as const,
        deleted,
        deleted_documents: deletedDocuments,
        deleted_facts: deletedFacts,
      };
    },
  );
};

function summaryRecord(summary: UserSummary): Static<typeof UserSummaryReply> {
  return {
    user_id: summary.userId,
    summary: summary.text,
    method: summary.method,
    highlights: summary.highlights.map(({ memoryId, text }) => ({ memory_id: memoryId, text })),
    key_phrases: [...summary.keyPhrases],
    facts: summary.facts.map(factRecord),
    memory_count: summary.memories,
    fact_count: summary.factCount,
    sectors: summary.sectors,
    top_tags: summary.topTags.map(({ tag, count }) => ({ tag, count })),
    first_memory_at: timeOrNull(summary.firstMemoryAt),
    last_memory_at: timeOrNull(summary.lastMemoryAt),
    updated_at: formatTime(summary.updatedAt),
    stale: summary.isStale,
  };
}

function timeOrNull(time: number | null): string | null {
  return time === null ? null : formatTime(time);
}

/** @throws {ServiceError} INVALID_REQUEST where the request names another user than its address does. */
function userOf(
  params: { readonly user_id: string },
  ...others: readonly ({ readonly user_id?: string | null } | null)[]
): string {
  return oneUser([params.user_id, ...others.map((other) => other?.user_id)], "/user_id") ?? params.user_id;
}
