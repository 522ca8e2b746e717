import { forbidden } from "../../core/errors.ts";
import type { UserSummary } from "../../core/users/user-summary.ts";
import { ListMemoriesQuery, ListMemoriesReply, OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import * as wire from "../../schemas/user.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import { memoriesPage, oneUser, uuidOf } from "../request-fields.ts";
import { idPageOf, nextIdPage } from "../page.ts";
import { createKeyInput, keyOf } from "../records.ts";
import { route, routes } from "../route.ts";

export const userRoutes = routes(({ operationsOf, compaction, backups, places }) => ({
  listUsers: route("admin GET /users", "List users and how much each has stored", {
    querystring: wire.ListUsersQuery,
    answer: wire.ListUsersReply,
    handle: async (request) => {
      const page = idPageOf(request.query);
      const { items, total, isMore } = await operationsOf(request).listUsers(page);
      const skipped = page.skipped + items.length;
      const last = items.at(-1);
      return {
        items,
        total,
        limit: page.limit,
        offset: page.skipped,
        nextCursor: isMore && last !== undefined ? nextIdPage(last.userId, skipped) : null,
      };
    },
  }),
  listUserMemories: route("read GET /users/:user_id/memories", "List a user's memories, newest first", {
    params: wire.UserParams,
    querystring: ListMemoriesQuery,
    answer: ListMemoriesReply,
    handle: async (request) => {
      const userId = userOf(request.params, request.query);
      return memoriesPage({ ...request.query, user_id: userId }, operationsOf(request), places);
    },
  }),
  userSummary: route("read GET /users/:user_id/summary", "What a user has stored, in short", {
    params: wire.UserParams,
    querystring: OwnerQuery,
    answer: wire.UserSummaryReply,
    handle: async (request) => {
      const userId = userOf(request.params, request.query);
      return shown(await operationsOf(request).userSummary({ userId }));
    },
  }),
  regenerateSummary: route("write POST /users/:user_id/summary/regenerate", "The same", {
    params: wire.UserParams,
    querystring: OwnerQuery,
    body: OwnerBody,
    answer: wire.UserSummaryReply,
    handle: async (request) => {
      const userId = userOf(request.params, request.query, request.body);
      return shown(await operationsOf(request).userSummary({ userId }));
    },
  }),
  deleteUserMemories: route(
    "write DELETE /users/:user_id/memories",
    "Delete all memories of a user, with documents and originals",
    {
      description:
        "In one write: all of it or none after a crash. Facts stay, and name none of what went as their source. Backups from " +
        "before hold it yet, as `backups.remaining` says; with `backups` they are replaced before the answer.",
      params: wire.UserParams,
      querystring: wire.DeleteUserMemoriesQuery,
      body: wire.DeleteUserMemoriesBody,
      answer: wire.DeleteUserMemoriesReply,
      handle: async (request) => {
        const { query, body, caller } = request;
        if (query.backups === true && caller?.scope !== "admin")
          throw forbidden("Replacing backups needs a key with the scope admin.");
        const deleted = await operationsOf(request).deleteUserMemories({
          userId: userOf(request.params, query, body),
          keepsDocuments: (query.keep ?? body?.keep ?? undefined) !== undefined,
          includesFacts: (query.include ?? body?.include ?? undefined) !== undefined,
        });
        const copies = query.backups === true ? await compaction.purgeWithBackups() : await backups.copies();
        return { ok: true as const, ...deleted, backups: copies };
      },
    },
  ),
}));

const shown = ({ text: summary, memories: memoryCount, ...rest }: UserSummary) => ({
  ...rest,
  summary,
  memoryCount,
  stale: false,
});

/** @throws {ServiceError} INVALID_REQUEST where the request names another user than its address does. */
function userOf(
  params: { readonly user_id: string },
  ...others: readonly ({ readonly user_id?: string | null } | null)[]
): string {
  return oneUser([params.user_id, ...others.map((other) => other?.user_id)], "/user_id") ?? params.user_id;
}

export const keyRoutes = routes(({ keys, access }) => ({
  listKeys: route("admin GET /keys", "List keys, oldest first", {
    answer: wire.ListKeysReply,
    handle: async () => ({
      keys: keys.keys.map((key) => keyOf(keys, key)),
      keyNeeded: access.isKeyNeeded(),
    }),
  }),
  createKey: route("admin POST /keys", "Make a key", {
    errors: ["CONFLICT"],
    description: "Once a key was made every request needs one.",
    body: wire.CreateKeyBody,
    answer: wire.CreateKeyReply,
    handle: async (request) => {
      const first = !access.isKeyNeeded();
      const { kept, key } = await keys.create(createKeyInput(request.body));
      request.log.info({ prefix: kept.prefix, scope: kept.scope }, "key made");
      return { ...keyOf(keys, kept), key, first };
    },
  }),
  revokeKey: route("admin DELETE /keys/:id", "Revoke a key", {
    description: "It is refused from then on. Keys are needed even when all are revoked.",
    params: wire.KeyParams,
    answer: wire.KeyRecord,
    handle: async (request) => {
      const revoked = await keys.revoke(uuidOf(request.params.id, "key"));
      request.log.info({ prefix: revoked.prefix }, "key revoked");
      return keyOf(keys, revoked);
    },
  }),
  removeKeys: route("admin DELETE /keys", "Remove all keys, so that none is needed; for `memoryd auth off`", {
    errors: ["CONFLICT"],
    description: "Only with the token in the data directory.",
    answer: wire.RemoveKeysReply,
    handle: async (request) => {
      if (request.caller?.id !== LOCAL_TOKEN_ID)
        throw forbidden("Only `memoryd auth off` may do this, on the daemon's own machine.");
      access.checkUnlocking();
      const deleted = await keys.unlock();
      request.log.warn({ keys: deleted }, "all keys removed");
      return { ok: true as const, deleted, keyNeeded: access.isKeyNeeded() };
    },
  }),
}));
