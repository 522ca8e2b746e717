import type { KeyRing } from "../../core/access/key-ring.ts";
import { ServiceError } from "../../core/errors.ts";
import {
  CreateKeyBody,
  CreateKeyReply,
  KeyParams,
  KeyRecord,
  ListKeysReply,
  RemoveKeysReply,
} from "../../schemas/keys.ts";
import { type Access, LOCAL_TOKEN_ID } from "../access.ts";
import { createKeyInput, keyRecord } from "../records.ts";
import { routes } from "../route.ts";
import { uuidOf } from "../memory-input.ts";

export interface KeyRoutesOptions {
  readonly keys: KeyRing;
  readonly access: Pick<Access, "isKeyNeeded" | "checkUnlocking">;
}

export const keyRoutes = routes<KeyRoutesOptions>((route, { keys, access }) => {
  route(
    { id: "listKeys", at: "GET /keys", scope: "admin", summary: "List keys, oldest first" },
    { answer: ListKeysReply },
    async () => ({
      keys: keys.keys.map((key) => keyRecord(keys, key)),
      key_needed: access.isKeyNeeded(),
    }),
  );

  route(
    {
      id: "createKey",
      at: "POST /keys",
      scope: "admin",
      summary: "Make a key",
      description: "Once a key was made every request needs one.",
    },
    { body: CreateKeyBody, answer: CreateKeyReply },
    async (request) => {
      const first = !access.isKeyNeeded();
      const { kept, key } = await keys.create(createKeyInput(request.body));
      request.log.info({ prefix: kept.prefix, scope: kept.scope }, "key made");
      return { ...keyRecord(keys, kept), key, first };
    },
  );

  route(
    {
      id: "revokeKey",
      at: "DELETE /keys/:id",
      scope: "admin",
      summary: "Revoke a key",
      description: "It is refused from then on. Keys are needed even when all are revoked.",
    },
    { params: KeyParams, answer: KeyRecord },
    async (request) => {
      const revoked = await keys.revoke(uuidOf(request.params.id, "key"));
      request.log.info({ prefix: revoked.prefix }, "key revoked");
      return keyRecord(keys, revoked);
    },
  );

  route(
    {
      id: "removeKeys",
      at: "DELETE /keys",
      scope: "admin",
      summary: "Remove all keys, so that none is needed; for `memoryd auth off`",
      description: "Only with the token in the data directory.",
    },
    { answer: RemoveKeysReply },
    async (request) => {
      if (request.caller?.id !== LOCAL_TOKEN_ID)
        throw new ServiceError(
          "FORBIDDEN",
          "Only `memoryd auth off` may do this, on the daemon's own machine.",
        );
      access.checkUnlocking();
      const deleted = await keys.unlock();
      request.log.warn({ keys: deleted }, "all keys removed");
      return { ok: true as const, deleted, key_needed: access.isKeyNeeded() };
    },
  );
});
