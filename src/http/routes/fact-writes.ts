import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "typebox";
import { ServiceError } from "../../core/errors.ts";
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
import type { OperationsOf } from "../caller-operations.ts";
import { closeFactInput, factIdOf, itemError, recordFactInput } from "../fact-input.ts";
import { factRecord, recordedFactRecord } from "../fact-record.ts";
import { ownerOf, present } from "../memory-input.ts";
import { problemOf } from "../problem.ts";
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
      config: { scope: "write" },
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
      const items = request.body.facts.map((fact, index) => {
        const checked = checkItem(fact, `/facts/${index}`);
        return "error" in checked
          ? checked.error
          : { ...recordFactInput(checked.value as Static<typeof RecordFactBody>), ...writer };
      });
      const { results } = await operationsOf(request).recordFacts({
        items,
        ...idempotency(request, undefined),
      });
      const failed = results.filter((result) => result instanceof ServiceError).length;
      return {
        results: results.map((result, index) => {
          if (!(result instanceof ServiceError))
            return { status: 200 as const, ...recordedFactRecord(result) };
          // What was refused here has its whole path already.
          return problemOf(
            result === items[index] ? result : itemError(result, `/facts/${index}`),
            request.id,
          );
        }),
        added: results.length - failed,
        failed,
      };
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
