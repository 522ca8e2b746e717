import type { FastifyRequest } from "fastify";
import { forbidden } from "../../core/errors.ts";
import { occurredAtOf } from "../../core/memory.ts";
import * as wire from "../../schemas/history.ts";
import { MemoryParams, MemoryRecord, OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { fromWire, present, toWire } from "../../schemas/wire.ts";
import { ownerOf, targetOf } from "../memory-input.ts";
import { nextPlace, type Page, placeOf } from "../page.ts";
import { memoryRecord, seen } from "../records.ts";
import { ifVersion, IfMatchHeaders, writer } from "../request-headers.ts";
import { route, routes } from "../route.ts";

/** Of requests about one memory. */
const target = { params: MemoryParams, querystring: OwnerQuery, body: OwnerBody };

export const historyRoutes = routes([], ({ operationsOf }) => ({
  memoryHistory: route("read GET /memory/:id/history", "List the versions of a memory, newest first", {
    description: "Earlier ones are kept for `--history-days`.",
    params: MemoryParams,
    querystring: wire.MemoryHistoryQuery,
    answer: wire.MemoryHistoryReply,
    handle: async (request) => {
      const page = placeOf(request.query);
      const { items, total } = await operationsOf(request).memoryHistory({
        ...targetOf(request, "memory"),
        ...page,
      });
      const versions = items.map(({ memory, ...change }) => ({
        ...memory,
        occurredAt: occurredAtOf(memory),
        ...change,
      }));
      return toWire(wire.MemoryHistoryReply, pageAt(page, versions, total));
    },
  }),
  restoreVersion: route(
    "write POST /memory/:id/restore",
    "Make an earlier version of a memory the present one",
    {
      description: "As a new version; the one before is kept.",
      params: MemoryParams,
      querystring: OwnerQuery,
      headers: IfMatchHeaders,
      body: wire.RestoreVersionBody,
      answer: MemoryRecord,
      handle: async (request, reply) => {
        const memory = await operationsOf(request).restoreVersion({
          ...targetOf(request, "memory"),
          version: request.body.version,
          ...ifVersion(request),
          ...present({ changedBy: clientOf(request) }),
        });
        reply.header("etag", `"${memory.version}"`);
        return memoryRecord(memory);
      },
    },
  ),
  eraseHistory: route(
    "write DELETE /memory/:id/history",
    "Remove the earlier versions of a memory for good",
    {
      description: "The present one stays. For a secret that was changed out of a text.",
      ...target,
      answer: wire.ErasedReply,
      handle: async (request) => {
        const { deleted } = await operationsOf(request).eraseHistory(targetOf(request, "memory"));
        return { ok: true as const, deleted };
      },
    },
  ),
  listTrash: route("read GET /trash", "List what is in the trash", {
    querystring: wire.TrashQuery,
    answer: wire.TrashReply,
    handle: async (request) => {
      const page = placeOf(request.query);
      const { items, total } = await operationsOf(request).listTrash({
        ...ownerOf(request),
        ...page,
      });
      const entries = items.map(({ memory, ...entry }) => ({ ...seen(memory), ...entry }));
      return toWire(wire.TrashReply, pageAt(page, entries, total));
    },
  }),
  restoreFromTrash: route("write POST /trash/:id/restore", "Bring a memory back from the trash", {
    description: "The first memory of a document brings all of it back. Embedded again.",
    ...target,
    answer: MemoryRecord,
    handle: async (request) =>
      memoryRecord(
        await operationsOf(request).restoreFromTrash({
          ...targetOf(request, "memory"),
          ...present({ restoredBy: clientOf(request) }),
        }),
      ),
  }),
  eraseFromTrash: route("write DELETE /trash/:id", "Remove a memory from the trash for good", {
    description: "With its earlier versions, and, of a document, all of it.",
    ...target,
    answer: wire.ErasedReply,
    handle: async (request) => {
      const { deleted } = await operationsOf(request).eraseFromTrash(targetOf(request, "memory"));
      return { ok: true as const, deleted };
    },
  }),
  emptyTrash: route("write DELETE /trash", "Remove all that is in the trash for good", {
    description: "Of one user, or of everybody.",
    querystring: OwnerQuery,
    body: OwnerBody,
    answer: wire.ErasedReply,
    handle: async (request) => ({
      ok: true as const,
      ...(await operationsOf(request).emptyTrash(ownerOf(request))),
    }),
  }),
  undo: route("write POST /undo", "Take back what was done to memories", {
    description:
      "What was added goes to the trash, what was changed becomes as it was, what was deleted comes back from the trash. " +
      "What others changed since is left, with the reason. Doing it twice changes nothing more.",
    querystring: OwnerQuery,
    body: wire.UndoBody,
    answer: wire.UndoReply,
    handle: async (request) => {
      const { dryRun = false, client, since, kinds } = fromWire(wire.UndoFields, request.body ?? {});
      const items = await operationsOf(request).undoChanges({
        dryRun,
        ...whose(request, client),
        ...present({
          since,
          kinds,
          undoneBy: clientOf(request),
        }),
        ...ownerOf(request),
      });
      return { items };
    },
  }),
}));

function clientOf(request: FastifyRequest): string | undefined {
  return writer(request).createdBy;
}

/** By the name of the key: a header may name anybody. @throws {ServiceError} FORBIDDEN. */
function whose(request: FastifyRequest, client: string | undefined): { client?: string | null } {
  const own = request.caller?.name ?? null;
  if (request.caller?.scope === "admin") return client === undefined ? {} : { client };
  if (client === undefined || client === own) return { client: own };
  throw forbidden(
    "Taking back changes that were not made under the name of the key needs one with the scope admin.",
  );
}

function pageAt<T>({ limit, offset }: Pick<Page, "limit" | "offset">, items: readonly T[], total: number) {
  const end = offset + items.length;
  return { items, total, limit, offset, nextCursor: end < total && items.length > 0 ? nextPlace(end) : null };
}
