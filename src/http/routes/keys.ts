import { forbidden } from "../../core/errors.ts";
import * as wire from "../../schemas/keys.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import { createKeyInput, keyRecord } from "../records.ts";
import { route, routes } from "../route.ts";
import { uuidOf } from "../memory-input.ts";

export const keyRoutes = routes(["keys"], ({ keys, access }) => ({
  listKeys: route("admin GET /keys", "List keys, oldest first", {
    answer: wire.ListKeysReply,
    handle: async () => ({
      keys: keys.keys.map((key) => keyRecord(keys, key)),
      key_needed: access.isKeyNeeded(),
    }),
  }),
  createKey: route("admin POST /keys", "Make a key", {
    description: "Once a key was made every request needs one.",
    body: wire.CreateKeyBody,
    answer: wire.CreateKeyReply,
    handle: async (request) => {
      const first = !access.isKeyNeeded();
      const { kept, key } = await keys.create(createKeyInput(request.body));
      request.log.info({ prefix: kept.prefix, scope: kept.scope }, "key made");
      return { ...keyRecord(keys, kept), key, first };
    },
  }),
  revokeKey: route("admin DELETE /keys/:id", "Revoke a key", {
    description: "It is refused from then on. Keys are needed even when all are revoked.",
    params: wire.KeyParams,
    answer: wire.KeyRecord,
    handle: async (request) => {
      const revoked = await keys.revoke(uuidOf(request.params.id, "key"));
      request.log.info({ prefix: revoked.prefix }, "key revoked");
      return keyRecord(keys, revoked);
    },
  }),
  removeKeys: route("admin DELETE /keys", "Remove all keys, so that none is needed; for `memoryd auth off`", {
    description: "Only with the token in the data directory.",
    answer: wire.RemoveKeysReply,
    handle: async (request) => {
      if (request.caller?.id !== LOCAL_TOKEN_ID)
        throw forbidden("Only `memoryd auth off` may do this, on the daemon's own machine.");
      access.checkUnlocking();
      const deleted = await keys.unlock();
      request.log.warn({ keys: deleted }, "all keys removed");
      return { ok: true as const, deleted, key_needed: access.isKeyNeeded() };
    },
  }),
}));
