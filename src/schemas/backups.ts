import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { BACKUP_NAME_PATTERN } from "./text-rules.ts";
import { Type } from "./typebox.ts";

export const BackupName = Type.String({ pattern: BACKUP_NAME_PATTERN });

export const CreateBackupBody = t.objectOrNull(
  t.partial({
    name: t.text("Letters, digits, `.`, `_` and `-`; the time in UTC if absent.", BackupName),
    folder: t.text(
      "Absolute path, instead of the configured folder; with the token in the data directory only.",
      {
        minLength: 1,
        maxLength: 4096,
      },
    ),
  }),
);

export const BackupRecord = t.named("Backup", {
  name: t.text(),
  created_at: field.Time,
  store_id: t.text("The store that it was made of."),
  position: t.text("Of the last record in it, `epoch.sequence`."),
  memories: t.count(),
  bytes: t.count("Lengths of all its files."),
  added_bytes: t.count("Of these, what it shares neither with an earlier backup nor with the store."),
  shares_disk: t.flag(
    "True where it is on the store's own disk, and does not protect from the loss of that.",
  ),
  verified_at: t.time("When it was last found whole."),
});

export const BackupCopiesRecord = t.named("BackupCopies", {
  made: t.nullable(t.text("The backup that took the place of the older ones.")),
  removed: t.count(),
  remaining: t.nullable(
    t.count(
      "Backups in the configured folder, of the store and of those that it was restored from, that may hold what was " +
        "deleted; damaged ones count. Null: not known.",
    ),
  ),
  problem: Type.Optional(t.text("Why it is not known.")),
});

/** Whether backups are replaced by one without what was deleted. */
export const RenewsBackups = t.flag(
  "Purge it, make and verify a new backup, then remove the older ones; for admins.",
);

const RunningBackup = {
  name: t.text(),
  started_at: field.Time,
  done: t.count("Bytes in place, of `total`; both 0 before that is known."),
  total: t.count(),
};

export const StartBackupReply = t.named("StartedBackup", {
  ...RunningBackup,
  status: Type.Literal("running"),
});

export const ListBackupsReply = t.named("Backups", {
  folder: t.text(),
  items: t.list(BackupRecord, "Newest first."),
  damaged: t.list(t.text(), "What is wrong with those that cannot be listed."),
  running: t.nullable(Type.Object(RunningBackup)),
  last: t.nullable(
    t.object("The last one that ended since the daemon was started.", {
      name: t.text(),
      started_at: field.Time,
      took_ms: t.count(),
      problem: t.nullable(t.text("Why there is none.")),
    }),
  ),
});

export const BackupParams = Type.Object({ name: BackupName });

export const RemoveBackupReply = Type.Object({ ok: Type.Literal(true), deleted: Type.Literal(1) });

// Erasing what was deleted.
const Usage = Type.Object({ bytes: t.count(), files: t.count() });

export const CompactionRecord = t.named(
  "Compaction",
  t.partial({
    waiting: t.object(
      "What was deleted and stands in files yet; also what is being erased. Absent: nothing.",
      {
        items: t.whole("Memories, facts and documents that were deleted, and earlier versions of memories.", {
          minimum: 1,
        }),
        since: field.Time,
      },
    ),
    running: t.object("How far it is. Absent: none runs.", {
      stage: t.oneOf(["preparing", "copying", "switching", "removing"]),
      done: t.count("Rows copied, of `total`."),
      total: t.count(),
      started_at: field.Time,
    }),
    last: t.object("The last one since the daemon was started, with what went.", {
      started_at: field.Time,
      took_ms: Type.Number({ minimum: 0 }),
      problem: Type.Optional(t.text("Why it failed. The store is whole all the same.")),
      tables: Type.Optional(
        t.records({
          table: t.text(),
          rows: t.count("Deleted and replaced ones that went."),
          before: Usage,
          after: Usage,
        }),
      ),
      journal: Type.Optional(Type.Object({ before: Usage, after: Usage })),
      originals: Type.Optional(Usage),
      backups: Type.Optional(BackupCopiesRecord),
    }),
  }),
);

export const StartCompactionQuery = Type.Object({ backups: Type.Optional(RenewsBackups) });

export const StartCompactionReply = t.named("StartedCompaction", {
  started: t.flag("False when one runs already: what was deleted after its beginning waits for the next."),
  compaction: CompactionRecord,
});
