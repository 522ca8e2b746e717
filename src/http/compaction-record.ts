import type { Static } from "typebox";
import type { CompactionStatus } from "../core/compaction.ts";
import type { CompactionRecord } from "../schemas/compaction.ts";
import { formatTime } from "../schemas/time.ts";

export function compactionRecord({
  waiting,
  running,
  last,
}: CompactionStatus): Static<typeof CompactionRecord> {
  return {
    ...(waiting && { waiting: { items: waiting.items, since: formatTime(waiting.since) } }),
    ...(running && {
      running: {
        stage: running.stage,
        done: running.done,
        total: running.total,
        started_at: formatTime(running.startedAt),
      },
    }),
    ...(last && {
      last: {
        started_at: formatTime(last.startedAt),
        took_ms: Math.round(last.tookMs),
        ...(last.problem !== undefined && { problem: last.problem }),
        ...(last.report && {
          tables: [...last.report.tables],
          journal: last.report.journal,
          originals: last.report.originals,
        }),
      },
    }),
  };
}
