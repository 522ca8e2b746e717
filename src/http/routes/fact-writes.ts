import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "typebox";
import {
  CloseFactBody,
  CloseFactQuery,
  FactParams,
  FactRecord,
  RecordFactBody,
  RecordFactReply,
  RecordFactsBody,
  RecordFactsEnvelope,
  RecordFactsReply,
  UpdateFactBody,
} from "../../schemas/fact.ts";
import { WriteHeaders } from "../../schemas/headers.ts";
import { OwnerQuery } from "../../schemas/memory.ts";
import { batchReply, mapInTurns } from "../batch.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { closeFactInput, factIdOf, recordFactInput } from "../fact-input.ts";
import { factRecord, recordedFactRecord } from "../records.ts";
import { ownerOf, present } from "../memory-input.ts";
import { createdBy, idempotency } from "../request-headers.ts";
import { compileValidator, validator } from "../validation.ts";

/** Items of a batch, each checked alone. */
const checkItem = validator(RecordFactBody, "The item");

export const factWriteRoutes: FastifyPluginAsyncTypebox<{ readonly operationsOf: OperationsOf }> = async (
  app,
  { operationsOf },
) => {
  app.post(
    "/api/temporal/fact",
    {
      config: { scope: "write" },
      schema: {
        operationId: "recordFact",
        summary: "Record that something is true for a time",
        headers: WriteHeaders,
        body: RecordFactBody,
        response: { 200: RecordFactReply },
      },
    },
    async (request) => {
      const input = { ...recordFactInput(request.body), ...createdBy(request) };
      return recordedFactRecord(
        await operationsOf(request).recordFact({ ...input, ...idempotency(request, input.userId) }),
      );
    },
  );

  app.post(
    "/api/temporal/fact/batch",
    {
      config: { scope: "write", body: "batch" },
      schema: {
        operationId: "recordFacts",
        summary: "Record up to 1 000 facts",
        description:
          "In order: a later one sees what earlier ones did. What is accepted is stored as one: all of it or none after a crash.",
        headers: WriteHeaders,
        body: RecordFactsBody,
        response: { 200: RecordFactsReply },
      },
      // The items are checked below, so that a bad one gets a problem of its own.
      validatorCompiler: (part) =>
        compileValidator({ ...part, schema: part.httpPart === "body" ? RecordFactsEnvelope : part.schema }),
    },
    async (request) => {
      const writer = createdBy(request);
      const items = await mapInTurns(request.body.facts, (fact, index) => {
        const checked = checkItem(fact, `/facts/${index}`);
        return "error" in checked
          ? checked.error
          : { ...recordFactInput(checked.value as Static<typeof RecordFactBody>), ...writer };
      });
      const { results } = await operationsOf(request).recordFacts({
        items,
        ...idempotency(request, undefined),
      });
      return batchReply(results, items, "/facts", request.id, recordedFactRecord);
    },
  );

  app.patch(
    "/api/temporal/fact/:id",
    {
      config: { scope: "write" },
      schema: {
        operationId: "updateFact",
        summary: "Change a fact's confidence or metadata",
        description: "As its next version: what stood before is still answered with `known_at`.",
        params: FactParams,
        querystring: OwnerQuery,
        body: UpdateFactBody,
        response: { 200: FactRecord },
      },
    },
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

  app.delete(
    "/api/temporal/fact/:id",
    {
      config: { scope: "write", optionalBody: true },
      schema: {
        operationId: "closeFact",
        summary: "End a fact, or erase it",
        description:
          "Ends it at `valid_to`, now where left out (a fact that has not begun: at its `valid_from`). One that ended earlier " +
          "stays as it is. With `erase` it is removed with all its versions, and answered as it was.",
        params: FactParams,
        querystring: CloseFactQuery,
        body: CloseFactBody,
        response: { 200: FactRecord },
      },
    },
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
};
