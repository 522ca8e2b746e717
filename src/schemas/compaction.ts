/** Erasing what was deleted. */
import { Type } from "typebox";
import { BackupCopiesRecord, RenewsBackups } from "./backups.ts";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";

const Usage = Type.Object({ bytes: t.count(), files: t.count() });

export const CompactionRecord = t.named("Compaction", {
  waiting: Type.Optional(
    t.object("What was deleted and stands in files yet; also what is being erased. Absent: nothing.", {
      items: t.whole("Memories, facts and documents that were deleted, and earlier versions of memories.", {
        minimum: 1,
      }),
      since: field.Time,
    }),
  ),
  running: Type.Optional(
    t.object("How far it is. Absent: none runs.", {
      stage: t.oneOf(["preparing", "copying", "switching", "removing"]),
      done: t.count("Rows copied, of `total`."),
      total: t.count(),
      started_at: field.Time,
    }),
  ),
  last: Type.Optional(
    t.object("The last one since the daemon was started, with what went.", {
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
  ),
});

export const StartCompactionQuery = Type.Object({ backups: Type.Optional(RenewsBackups) });

export const StartCompactionReply = t.named("StartedCompaction", {
  started: t.flag("False when one runs already: what was deleted after its beginning waits for the next."),
  compaction: CompactionRecord,
});
