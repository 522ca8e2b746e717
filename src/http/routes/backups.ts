import { isAbsolute } from "node:path";
import { forbidden, invalidRequest } from "../../core/errors.ts";
import * as wire from "../../schemas/backups.ts";
import { toWire } from "../../schemas/wire.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import { route, routes } from "../route.ts";

export const backupRoutes = routes(["backups"], ({ backups }) => ({
  createBackup: route("admin POST /backups", "Copy the whole store to a backup, while it is used", {
    description:
      "Goes on by itself after the answer; `GET /backups` says how far it is and whether it failed.",
    body: wire.CreateBackupBody,
    accepted: wire.StartBackupReply,
    handle: async ({ body, caller }, reply) => {
      const { name, folder } = body ?? {};
      // A key must not let its holder write anywhere on the disk.
      if (folder !== undefined && caller?.id !== LOCAL_TOKEN_ID)
        throw forbidden("Only a program of this machine that can read the data directory may name a folder.");
      if (folder !== undefined && !isAbsolute(folder))
        throw invalidRequest(`The folder must be an absolute path; got ${folder}.`);
      const started = await backups.start({ name, folder });
      return reply.code(202).send(toWire(wire.StartBackupReply, { ...started, status: "running" }));
    },
  }),
  listBackups: route("admin GET /backups", "List backups, newest first", {
    answer: wire.ListBackupsReply,
    handle: async () => {
      const { running = null, last, ...list } = await backups.list();
      return toWire(wire.ListBackupsReply, {
        ...list,
        running,
        last: last === undefined ? null : { problem: null, ...last },
      });
    },
  }),
  verifyBackup: route("admin POST /backups/:name/verify", "Read every file of a backup and open its tables", {
    description:
      "Answers when that is done: about a second for 500 MB. 500 with what is wrong where it is damaged.",
    params: wire.BackupParams,
    answer: wire.BackupRecord,
    handle: async ({ params }) => toWire(wire.BackupRecord, await backups.verify(params.name)),
  }),
  deleteBackup: route("admin DELETE /backups/:name", "Remove a backup", {
    params: wire.BackupParams,
    answer: wire.RemoveBackupReply,
    handle: async ({ params }) => {
      await backups.remove(params.name);
      return { ok: true as const, deleted: 1 as const };
    },
  }),
}));
