/** Erasing what was deleted. */
import { Type } from "typebox";
import { BackupCopiesRecord, RenewsBackups } from "./backups.ts";
import { Time } from "./fields.ts";

const Count = Type.Integer({ minimum: 0 });

const Usage = Type.Object({ bytes: Count, files: Count });

export const CompactionRecord = Type.Object(
  {
    waiting: Type.Optional(
      Type.Object(
        {
          items: Type.Integer({
            minimum: 1,
            description: "Memories, facts and documents that were deleted, and earlier versions of memories.",
          }),
          since: Time,
        },
        {
          description:
            "What was deleted and stands in files yet; also what is being erased. Absent: nothing.",
        },
      ),
    ),
    running: Type.Optional(
      Type.Object(
        {
          stage: Type.Enum(["preparing", "copying", "switching", "removing"], { type: "string" }),
          done: Type.Integer({ minimum: 0, description: "Rows copied, of `total`." }),
          total: Count,
          started_at: Time,
        },
        { description: "How far it is. Absent: none runs." },
      ),
    ),
    last: Type.Optional(
      Type.Object(
        {
          started_at: Time,
          took_ms: Type.Number({ minimum: 0 }),
          problem: Type.Optional(
            Type.String({ description: "Why it failed. The store is whole all the same." }),
          ),
          tables: Type.Optional(
            Type.Array(
              Type.Object({
                table: Type.String(),
                rows: Type.Integer({ minimum: 0, description: "Deleted and replaced ones that went." }),
                before: Usage,
                after: Usage,
              }),
            ),
          ),
          journal: Type.Optional(Type.Object({ before: Usage, after: Usage })),
          originals: Type.Optional(Usage),
          backups: Type.Optional(BackupCopiesRecord),
        },
        { description: "The last one since the daemon was started, with what went." },
      ),
    ),
  },
  { $id: "Compaction" },
);

export const StartCompactionQuery = Type.Object({ backups: Type.Optional(RenewsBackups) });

export const StartCompactionReply = Type.Object(
  {
    started: Type.Boolean({
      description: "False when one runs already: what was deleted after its beginning waits for the next.",
    }),
    compaction: CompactionRecord,
  },
  { $id: "StartedCompaction" },
);
