import {
  CloseFactBody,
  CloseFactQuery,
  FactParams,
  FactRecord,
  RecordFactBody,
  RecordFactReply,
  RecordFactsBody,
  RecordFactsReply,
  UpdateFactBody,
} from "../../schemas/fact.ts";
import { OwnerQuery } from "../../schemas/memory.ts";
import { batchReply, judge, sendBatch } from "../batch.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { closeFactInput, factIdOf, recordFactInput } from "../fact-input.ts";
import { factRecord, recordedFactRecord } from "../records.ts";
import { ownerOf } from "../memory-input.ts";
import { idempotency, writer, WriteHeaders } from "../request-headers.ts";
import { routes } from "../route.ts";
import { present } from "../../schemas/wire.ts";

/** Items of a batch, each checked alone. */
const judgeItems = judge(RecordFactBody, recordFactInput);

export const factWriteRoutes = routes<{ readonly operationsOf: OperationsOf }>((route, { operationsOf }) => {
  route(
    {
      id: "recordFact",
      at: "POST /api/temporal/fact",
      scope: "write",
      summary: "Record that something is true for a time",
    },
    { headers: WriteHeaders, body: RecordFactBody, answer: RecordFactReply },
    async (request) => {
      const input = { ...recordFactInput(request.body), ...writer(request) };
      return recordedFactRecord(
        await operationsOf(request).recordFact({ ...input, ...idempotency(request, input.userId) }),
      );
    },
  );

  route(
    {
      id: "recordFacts",
      at: "POST /api/temporal/fact/batch",
      scope: "write",
      bodyKind: "batch",
      summary: "Record up to 1 000 facts",
      description:
        "In order: a later one sees what earlier ones did. What is accepted is stored as one: all of it or none after a crash.",
    },
    { headers: WriteHeaders, body: RecordFactsBody, answer: RecordFactsReply },
    async (request, reply) => {
      const items = await judgeItems(request.body.facts, "/facts", writer(request));
      const { results } = await operationsOf(request).recordFacts({
        items,
        ...idempotency(request, undefined),
      });
      return sendBatch(reply, await batchReply(results, items, "/facts", request.id, recordedFactRecord));
    },
  );

  route(
    {
      id: "updateFact",
      at: "PATCH /api/temporal/fact/:id",
      scope: "write",
      summary: "Change a fact's confidence or metadata",
      description: "As its next version: what stood before is still answered with `known_at`.",
    },
    { params: FactParams, querystring: OwnerQuery, body: UpdateFactBody, answer: FactRecord },
    async (request) => {
      const { confidence, metadata } = request.body;
      const fact = await operationsOf(request).updateFact({
        id: factIdOf(request.params.id),
        ...present({ confidence, metadata }),
        ...ownerOf(request.query, request.body),
      });
      return factRecord(fact);
    },
  );

  route(
    {
      id: "closeFact",
      at: "DELETE /api/temporal/fact/:id",
      scope: "write",
      summary: "End a fact, or erase it",
      description:
        "Ends it at `valid_to`, now where left out (a fact that has not begun: at its `valid_from`). One that ended earlier " +
        "stays as it is. With `erase` it is removed with all its versions, and answered as it was.",
    },
    { params: FactParams, querystring: CloseFactQuery, body: CloseFactBody, answer: FactRecord },
    async (request) => {
      const id = factIdOf(request.params.id);
      const { erase, ...input } = closeFactInput(request.query, request.body);
      return factRecord(
        erase
          ? await operationsOf(request).eraseFact({ id, ...input })
          : await operationsOf(request).invalidateFact({ id, ...input }),
      );
    },
  );
});
