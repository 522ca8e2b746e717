import { Type } from "typebox";
import { nullable, Time } from "./fields.ts";
import { BACKUP_NAME_PATTERN } from "./text-rules.ts";

const Count = Type.Integer({ minimum: 0 });

export const BackupName = Type.String({ pattern: BACKUP_NAME_PATTERN });

export const CreateBackupBody = nullable(
  Type.Object({
    name: Type.Optional(
      Type.String({
        ...BackupName,
        description: "Letters, digits, `.`, `_` and `-`; the time in UTC if absent.",
      }),
    ),
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          "Absolute path, instead of the configured folder; with the token in the data directory only.",
      }),
    ),
  }),
);

export const BackupRecord = Type.Object(
  {
    name: Type.String(),
    created_at: Time,
    store_id: Type.String({ description: "The store that it was made of." }),
    position: Type.String({ description: "Of the last record in it, `epoch.sequence`." }),
    memories: Count,
    bytes: Type.Integer({ minimum: 0, description: "Lengths of all its files." }),
    added_bytes: Type.Integer({
      minimum: 0,
      description: "Of these, what it shares neither with an earlier backup nor with the store.",
    }),
    shares_disk: Type.Boolean({
      description: "True where it is on the store's own disk, and does not protect from the loss of that.",
    }),
    verified_at: Type.String({ ...Time, description: "When it was last found whole." }),
  },
  { $id: "Backup" },
);

export const BackupCopiesRecord = Type.Object(
  {
    made: nullable(Type.String({ description: "The backup that took the place of the older ones." })),
    removed: Count,
    remaining: nullable(
      Type.Integer({
        minimum: 0,
        description:
          "Backups in the configured folder, of the store and of those that it was restored from, that may hold what was " +
          "deleted; damaged ones count. Null: not known.",
      }),
    ),
    problem: Type.Optional(Type.String({ description: "Why it is not known." })),
  },
  { $id: "BackupCopies" },
);

/** Whether backups are replaced by one without what was deleted. */
export const RenewsBackups = Type.Boolean({
  description: "Purge it, make and verify a new backup, then remove the older ones; for admins.",
});

const RunningBackup = {
  name: Type.String(),
  started_at: Time,
  done: Type.Integer({ minimum: 0, description: "Bytes in place, of `total`; both 0 before that is known." }),
  total: Count,
};

export const StartBackupReply = Type.Object(
  { ...RunningBackup, status: Type.Literal("running") },
  { $id: "StartedBackup" },
);

export const ListBackupsReply = Type.Object(
  {
    folder: Type.String(),
    items: Type.Array(BackupRecord, { description: "Newest first." }),
    damaged: Type.Array(Type.String(), { description: "What is wrong with those that cannot be listed." }),
    running: nullable(Type.Object(RunningBackup)),
    last: nullable(
      Type.Object(
        {
          name: Type.String(),
          started_at: Time,
          took_ms: Count,
          problem: nullable(Type.String({ description: "Why there is none." })),
        },
        { description: "The last one that ended since the daemon was started." },
      ),
    ),
  },
  { $id: "Backups" },
);

export const BackupParams = Type.Object({ name: BackupName });

export const RemoveBackupReply = Type.Object({ ok: Type.Literal(true), deleted: Type.Literal(1) });
