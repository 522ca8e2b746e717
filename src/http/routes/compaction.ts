import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { CompactionOperations } from "../../core/compaction.ts";
import { CompactionRecord, StartCompactionReply } from "../../schemas/compaction.ts";
import { compactionRecord } from "../records.ts";

export const compactionRoutes: FastifyPluginAsyncTypebox<{
  readonly compaction: CompactionOperations;
}> = async (app, { compaction }) => {
  app.get(
    "/compact",
    {
      config: { scope: "admin" },
      schema: {
        operationId: "getCompaction",
        summary: "What waits to be erased from the disk, and how far erasing is",
        response: { 200: CompactionRecord },
      },
    },
    async () => compactionRecord(compaction.status()),
  );

  app.post(
    "/compact",
    {
      config: { scope: "admin", optionalBody: true },
      schema: {
        operationId: "compact",
        summary: "Erase what was deleted from the disk now",
        description: "Goes on by itself after the answer; `GET /compact` says how far it is.",
        response: { 202: StartCompactionReply },
      },
    },
    async (_request, reply) => {
      const started = compaction.start();
      return reply.code(202).send({ started, compaction: compactionRecord(compaction.status()) });
    },
  );
};
