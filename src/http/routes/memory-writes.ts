import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "typebox";
import { IfMatchHeaders, RepeatHeaders, WriteHeaders } from "../../schemas/headers.ts";
import {
  AddMemoriesBody,
  AddMemoriesEnvelope,
  AddMemoriesReply,
  AddMemoryBody,
  AddMemoryReply,
  DEFAULT_BOOST,
  DeleteMemoryReply,
  MemoryParams,
  OwnerBody,
  OwnerQuery,
  ReinforceMemoryBody,
  ReinforceMemoryReply,
  UpdateMemoryBody,
  UpdateMemoryReply,
} from "../../schemas/memory.ts";
import { batchReply, mapInTurns } from "../batch.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { addMemoryInput, ownerOf, updateMemoryInput } from "../memory-input.ts";
import { memoryIdOf } from "../memory-id.ts";
import { addedRecord, memoryRecord } from "../records.ts";
import { createdBy, idempotency, ifVersion } from "../request-headers.ts";
import { compileValidator, validator } from "../validation.ts";

/** Items of a batch, each checked alone. */
const checkItem = validator(AddMemoryBody, "The item");

export const memoryWriteRoutes: FastifyPluginAsyncTypebox<{ readonly operationsOf: OperationsOf }> = async (
  app,
  { operationsOf },
) => {
  app.post(
    "/memory/add",
    {
      config: { scope: "write" },
      schema: {
        operationId: "addMemory",
        summary: "Keep a memory",
        headers: WriteHeaders,
        body: AddMemoryBody,
        response: { 200: AddMemoryReply },
      },
    },
    async (request) => {
      const input = addMemoryInput(request.body);
      return addedRecord(
        await operationsOf(request).addMemory({
          ...input,
          ...createdBy(request),
          ...idempotency(request, input.userId),
        }),
      );
    },
  );

  app.post(
    "/memory/add/batch",
    {
      config: { scope: "write", body: "batch" },
      schema: {
        operationId: "addMemories",
        summary: "Keep up to 1 000 memories",
        description: "What is accepted is stored as one: all of it or none after a crash.",
        headers: WriteHeaders,
        body: AddMemoriesBody,
        response: { 200: AddMemoriesReply },
      },
      // The items are checked below, so that a bad one gets a problem of its own.
      validatorCompiler: (part) =>
        compileValidator({ ...part, schema: part.httpPart === "body" ? AddMemoriesEnvelope : part.schema }),
    },
    async (request) => {
      const writer = createdBy(request);
      const items = await mapInTurns(request.body.memories, (memory, index) => {
        const checked = checkItem(memory, `/memories/${index}`);
        if ("error" in checked) return checked.error;
        return { ...addMemoryInput(checked.value as Static<typeof AddMemoryBody>), ...writer };
      });
      const { results } = await operationsOf(request).addMemories({
        items,
        ...idempotency(request, undefined),
      });
      return batchReply(results, items, "/memories", request.id, addedRecord);
    },
  );

  app.patch(
    "/memory/:id",
    {
      config: { scope: "write" },
      schema: {
        operationId: "updateMemory",
        summary: "Change a memory",
        params: MemoryParams,
        querystring: OwnerQuery,
        headers: IfMatchHeaders,
        body: UpdateMemoryBody,
        response: { 200: UpdateMemoryReply },
      },
    },
    async (request, reply) => {
      const input = updateMemoryInput(memoryIdOf(request.params.id), request.body);
      const owner = ownerOf(request.query, request.body);
      const memory = await operationsOf(request).updateMemory({ ...input, ...owner, ...ifVersion(request) });
      reply.header("etag", `"${memory.version}"`);
      return { ...memoryRecord(memory), updated: true as const };
    },
  );

  app.delete(
    "/memory/:id",
    {
      config: { scope: "write", optionalBody: true },
      schema: {
        operationId: "deleteMemory",
        summary: "Delete a memory",
        params: MemoryParams,
        querystring: OwnerQuery,
        headers: IfMatchHeaders,
        body: OwnerBody,
        response: { 200: DeleteMemoryReply },
      },
    },
    async (request) => {
      const id = memoryIdOf(request.params.id);
      const owner = ownerOf(request.query, request.body);
      const { deleted } = await operationsOf(request).deleteMemory({ id, ...owner, ...ifVersion(request) });
      return { ok: true as const, id, deleted };
    },
  );

  app.post(
    "/memory/reinforce",
    {
      config: { scope: "write" },
      schema: {
        operationId: "reinforceMemory",
        summary: "Raise a memory's salience",
        description: "From s to s + boost·(1 − s), so it never passes 1.",
        querystring: OwnerQuery,
        headers: RepeatHeaders,
        body: ReinforceMemoryBody,
        response: { 200: ReinforceMemoryReply },
      },
    },
    async (request) => {
      const { boost } = request.body;
      const owner = ownerOf(request.query, request.body);
      const { id, salience } = await operationsOf(request).reinforceMemory({
        id: memoryIdOf(request.body.id),
        boost: Math.min(boost ?? DEFAULT_BOOST, 1),
        ...owner,
        ...idempotency(request, owner.userId),
      });
      return { ok: true as const, id, salience };
    },
  );
};
