import type { PurgeOperations } from "../../core/purge.ts";
import { CompactionRecord, StartCompactionReply } from "../../schemas/compaction.ts";
import { compactionRecord } from "../records.ts";
import { routes } from "../route.ts";

export const compactionRoutes = routes<{ readonly compaction: PurgeOperations }>((route, { compaction }) => {
  route(
    {
      id: "getCompaction",
      at: "GET /compact",
      scope: "admin",
      summary: "What waits to be erased from the disk, and how far erasing is",
    },
    { answer: CompactionRecord },
    async () => compactionRecord(compaction.status()),
  );

  route(
    {
      id: "compact",
      at: "POST /compact",
      scope: "admin",
      summary: "Erase what was deleted from the disk now",
      description: "Goes on by itself after the answer; `GET /compact` says how far it is.",
    },
    { accepted: StartCompactionReply },
    async (_request, reply) => {
      const started = compaction.start();
      return reply.code(202).send({ started, compaction: compactionRecord(compaction.status()) });
    },
  );
});
