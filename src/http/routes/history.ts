import type { FastifyRequest } from "fastify";
import { ServiceError } from "../../core/errors.ts";
import { occurredAtOf } from "../../core/memory.ts";
import {
  ErasedReply,
  MemoryHistoryQuery,
  MemoryHistoryReply,
  RestoreVersionBody,
  TrashQuery,
  TrashReply,
  UndoBody,
  UndoFields,
  UndoReply,
} from "../../schemas/history.ts";
import { MemoryParams, MemoryRecord, OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { fromWire, present, toWire } from "../../schemas/wire.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { memoryIdOf, oneUser, ownerOf } from "../memory-input.ts";
import { nextPlace, type Page, placeOf } from "../page.ts";
import { memoryRecord, seen } from "../records.ts";
import { ifVersion, IfMatchHeaders, writer } from "../request-headers.ts";
import { routes } from "../route.ts";

export const historyRoutes = routes<{ readonly operationsOf: OperationsOf }>((route, { operationsOf }) => {
  route(
    {
      id: "memoryHistory",
      at: "GET /memory/:id/history",
      scope: "read",
      summary: "List the versions of a memory, newest first",
      description: "Earlier ones are kept for `--history-days`.",
    },
    { params: MemoryParams, querystring: MemoryHistoryQuery, answer: MemoryHistoryReply },
    async (request) => {
      const page = placeOf(request.query);
      const { items, total } = await operationsOf(request).memoryHistory({
        id: memoryIdOf(request.params.id),
        ...ownerOf(request.query, null),
        ...page,
      });
      const versions = items.map(({ memory, ...change }) => ({
        ...memory,
        occurredAt: occurredAtOf(memory),
        ...change,
      }));
      return toWire(MemoryHistoryReply, pageAt(page, versions, total));
    },
  );

  route(
    {
      id: "restoreVersion",
      at: "POST /memory/:id/restore",
      scope: "write",
      summary: "Make an earlier version of a memory the present one",
      description: "As a new version; the one before is kept.",
    },
    {
      params: MemoryParams,
      querystring: OwnerQuery,
      headers: IfMatchHeaders,
      body: RestoreVersionBody,
      answer: MemoryRecord,
    },
    async (request, reply) => {
      const memory = await operationsOf(request).restoreVersion({
        id: memoryIdOf(request.params.id),
        version: request.body.version,
        ...ownerOf(request.query, request.body),
        ...ifVersion(request),
        ...present({ changedBy: clientOf(request) }),
      });
      reply.header("etag", `"${memory.version}"`);
      return memoryRecord(memory);
    },
  );

  route(
    {
      id: "eraseHistory",
      at: "DELETE /memory/:id/history",
      scope: "write",
      summary: "Remove the earlier versions of a memory for good",
      description: "The present one stays. For a secret that was changed out of a text.",
    },
    { params: MemoryParams, querystring: OwnerQuery, body: OwnerBody, answer: ErasedReply },
    async (request) => {
      const target = { id: memoryIdOf(request.params.id), ...ownerOf(request.query, request.body) };
      return { ok: true as const, deleted: (await operationsOf(request).eraseHistory(target)).deleted };
    },
  );

  route(
    { id: "listTrash", at: "GET /trash", scope: "read", summary: "List what is in the trash" },
    { querystring: TrashQuery, answer: TrashReply },
    async (request) => {
      const page = placeOf(request.query);
      const { items, total } = await operationsOf(request).listTrash({
        ...ownerOf(request.query, null),
        ...page,
      });
      const entries = items.map(({ memory, ...entry }) => ({ ...seen(memory), ...entry }));
      return toWire(TrashReply, pageAt(page, entries, total));
    },
  );

  route(
    {
      id: "restoreFromTrash",
      at: "POST /trash/:id/restore",
      scope: "write",
      summary: "Bring a memory back from the trash",
      description: "The first memory of a document brings all of it back. Embedded again.",
    },
    { params: MemoryParams, querystring: OwnerQuery, body: OwnerBody, answer: MemoryRecord },
    async (request) =>
      memoryRecord(
        await operationsOf(request).restoreFromTrash({
          id: memoryIdOf(request.params.id),
          ...ownerOf(request.query, request.body),
          ...present({ restoredBy: clientOf(request) }),
        }),
      ),
  );

  route(
    {
      id: "eraseFromTrash",
      at: "DELETE /trash/:id",
      scope: "write",
      summary: "Remove a memory from the trash for good",
      description: "With its earlier versions, and, of a document, all of it.",
    },
    { params: MemoryParams, querystring: OwnerQuery, body: OwnerBody, answer: ErasedReply },
    async (request) => {
      const target = { id: memoryIdOf(request.params.id), ...ownerOf(request.query, request.body) };
      return { ok: true as const, deleted: (await operationsOf(request).eraseFromTrash(target)).deleted };
    },
  );

  route(
    {
      id: "emptyTrash",
      at: "DELETE /trash",
      scope: "write",
      summary: "Remove all that is in the trash for good",
      description: "Of one user, or of everybody.",
    },
    { querystring: OwnerQuery, body: OwnerBody, answer: ErasedReply },
    async (request) => ({
      ok: true as const,
      ...(await operationsOf(request).emptyTrash(ownerOf(request.query, request.body))),
    }),
  );

  route(
    {
      id: "undo",
      at: "POST /undo",
      scope: "write",
      summary: "Take back what was done to memories",
      description:
        "What was added goes to the trash, what was changed becomes as it was, what was deleted comes back from the trash. " +
        "What others changed since is left, with the reason. Doing it twice changes nothing more.",
    },
    { querystring: OwnerQuery, body: UndoBody, answer: UndoReply },
    async (request) => {
      const { dryRun = false, client, since, kinds } = fromWire(UndoFields, request.body ?? {});
      const items = await operationsOf(request).undoChanges({
        dryRun,
        ...whose(request, client),
        ...present({
          since,
          kinds,
          userId: oneUser([request.query.user_id, request.body?.user_id], "/user_id"),
          undoneBy: clientOf(request),
        }),
      });
      return { items };
    },
  );
});

function clientOf(request: FastifyRequest): string | undefined {
  return writer(request).createdBy;
}

/** By the name of the key: a header may name anybody. @throws {ServiceError} FORBIDDEN. */
function whose(request: FastifyRequest, client: string | undefined): { client?: string | null } {
  const own = request.caller?.name ?? null;
  if (request.caller?.scope === "admin") return client === undefined ? {} : { client };
  if (client === undefined || client === own) return { client: own };
  throw new ServiceError(
    "FORBIDDEN",
    "Taking back changes that were not made under the name of the key needs one with the scope admin.",
  );
}

function pageAt<T>({ limit, offset }: Pick<Page, "limit" | "offset">, items: readonly T[], total: number) {
  const end = offset + items.length;
  return { items, total, limit, offset, nextCursor: end < total && items.length > 0 ? nextPlace(end) : null };
}
