import { isAbsolute } from "node:path";
import type { BackupOperations } from "../../core/backups.ts";
import { ServiceError } from "../../core/errors.ts";
import {
  BackupParams,
  BackupRecord,
  CreateBackupBody,
  ListBackupsReply,
  RemoveBackupReply,
  StartBackupReply,
} from "../../schemas/backups.ts";
import { toWire } from "../../schemas/wire.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import { routes } from "../route.ts";

export const backupRoutes = routes<{ readonly backups: BackupOperations }>((route, { backups }) => {
  route(
    {
      id: "createBackup",
      at: "POST /backups",
      scope: "admin",
      summary: "Copy the whole store to a backup, while it is used",
      description:
        "Goes on by itself after the answer; `GET /backups` says how far it is and whether it failed.",
    },
    { body: CreateBackupBody, accepted: StartBackupReply },
    async ({ body, caller }, reply) => {
      const { name, folder } = body ?? {};
      // A key must not let its holder write anywhere on the disk.
      if (folder !== undefined && caller?.id !== LOCAL_TOKEN_ID)
        throw new ServiceError(
          "FORBIDDEN",
          "Only a program of this machine that can read the data directory may name a folder.",
        );
      if (folder !== undefined && !isAbsolute(folder))
        throw new ServiceError("INVALID_REQUEST", `The folder must be an absolute path; got ${folder}.`);
      const started = await backups.start({ name, folder });
      return reply.code(202).send(toWire(StartBackupReply, { ...started, status: "running" }));
    },
  );

  route(
    { id: "listBackups", at: "GET /backups", scope: "admin", summary: "List backups, newest first" },
    { answer: ListBackupsReply },
    async () => {
      const { running = null, last, ...list } = await backups.list();
      return toWire(ListBackupsReply, {
        ...list,
        running,
        last: last === undefined ? null : { problem: null, ...last },
      });
    },
  );

  route(
    {
      id: "verifyBackup",
      at: "POST /backups/:name/verify",
      scope: "admin",
      summary: "Read every file of a backup and open its tables",
      description:
        "Answers when that is done: about a second for 500 MB. 500 with what is wrong where it is damaged.",
    },
    { params: BackupParams, answer: BackupRecord },
    async ({ params }) => toWire(BackupRecord, await backups.verify(params.name)),
  );

  route(
    { id: "deleteBackup", at: "DELETE /backups/:name", scope: "admin", summary: "Remove a backup" },
    { params: BackupParams, answer: RemoveBackupReply },
    async ({ params }) => {
      await backups.remove(params.name);
      return { ok: true as const, deleted: 1 as const };
    },
  );
});
