import * as wire from "../../schemas/fact.ts";
import { OwnerQuery } from "../../schemas/memory.ts";
import { batchReply, judge, sendBatch } from "../batch.ts";
import { closeFactInput, recordFactInput } from "../fact-input.ts";
import { factRecord, recordedFactRecord } from "../records.ts";
import { targetOf, uuidOf } from "../memory-input.ts";
import { idempotency, writer, WriteHeaders } from "../request-headers.ts";
import { route, routes } from "../route.ts";
import { present } from "../../schemas/wire.ts";

/** Items of a batch, each checked alone. */
const judgeItems = judge(wire.RecordFactBody, recordFactInput);

export const factWriteRoutes = routes([], ({ operationsOf }) => ({
  recordFact: route("write POST /api/temporal/fact", "Record that something is true for a time", {
    headers: WriteHeaders,
    body: wire.RecordFactBody,
    answer: wire.RecordFactReply,
    handle: async (request) => {
      const input = { ...recordFactInput(request.body), ...writer(request) };
      return recordedFactRecord(
        await operationsOf(request).recordFact({ ...input, ...idempotency(request, input.userId) }),
      );
    },
  }),
  recordFacts: route("write POST /api/temporal/fact/batch", "Record up to 1 000 facts", {
    bodyKind: "batch",
    description:
      "In order: a later one sees what earlier ones did. What is accepted is stored as one: all of it or none after a crash.",
    headers: WriteHeaders,
    body: wire.RecordFactsBody,
    answer: wire.RecordFactsReply,
    handle: async (request, reply) => {
      const items = await judgeItems(request.body.facts, "/facts", writer(request));
      const { results } = await operationsOf(request).recordFacts({ items, ...idempotency(request) });
      return sendBatch(reply, await batchReply(results, items, "/facts", request.id, recordedFactRecord));
    },
  }),
  updateFact: route("write PATCH /api/temporal/fact/:id", "Change a fact's confidence or metadata", {
    description: "As its next version: what stood before is still answered with `known_at`.",
    params: wire.FactParams,
    querystring: OwnerQuery,
    body: wire.UpdateFactBody,
    answer: wire.FactRecord,
    handle: async (request) => {
      const { confidence, metadata } = request.body;
      const fact = await operationsOf(request).updateFact({
        ...targetOf(request, "fact"),
        ...present({ confidence, metadata }),
      });
      return factRecord(fact);
    },
  }),
  closeFact: route("write DELETE /api/temporal/fact/:id", "End a fact, or erase it", {
    description:
      "Ends it at `valid_to`, now where left out (a fact that has not begun: at its `valid_from`). One that ended earlier " +
      "stays as it is. With `erase` it is removed with all its versions, and answered as it was.",
    params: wire.FactParams,
    querystring: wire.CloseFactQuery,
    body: wire.CloseFactBody,
    answer: wire.FactRecord,
    handle: async (request) => {
      const { erase, ...end } = closeFactInput(request.query, request.body);
      const input = { id: uuidOf(request.params.id, "fact"), ...end };
      const { eraseFact, invalidateFact } = operationsOf(request);
      return factRecord(await (erase ? eraseFact : invalidateFact)(input));
    },
  }),
}));
