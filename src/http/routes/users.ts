import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { DEFAULT_PAGE_LIMIT, ListMemoriesQuery, ListMemoriesReply } from "../../schemas/list-memories.ts";
import { formatTime } from "../../schemas/time.ts";
import {
  DeleteUserMemoriesBody,
  DeleteUserMemoriesQuery,
  DeleteUserMemoriesReply,
  ListUsersQuery,
  ListUsersReply,
  UserParams,
} from "../../schemas/user.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { readIdCursor, writeIdCursor } from "../cursor.ts";
import { invalid, listMemoriesInput, oneUser } from "../memory-input.ts";
import { memoryPage } from "../memory-record.ts";

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
          first_memory_at: user.firstMemoryAt === null ? null : formatTime(user.firstMemoryAt),
          last_memory_at: user.lastMemoryAt === null ? null : formatTime(user.lastMemoryAt),
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

/** @throws {ServiceError} INVALID_REQUEST where the request names another user than its address does. */
function userOf(
  params: { readonly user_id: string },
  ...others: readonly ({ readonly user_id?: string | null } | null)[]
): string {
  return oneUser([params.user_id, ...others.map((other) => other?.user_id)], "/user_id") ?? params.user_id;
}
