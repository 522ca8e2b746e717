import {
  AddMemoriesBody,
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
import { batchReply, judge } from "../batch.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { addMemoryInput, ownerOf, updateMemoryInput, memoryIdOf } from "../memory-input.ts";
import { addedRecord, memoryRecord } from "../records.ts";
import {
  idempotency,
  ifVersion,
  writer,
  IfMatchHeaders,
  RepeatHeaders,
  WriteHeaders,
} from "../request-headers.ts";
import { routes } from "../route.ts";

/** Items of a batch, each checked alone. */
const judgeItems = judge(AddMemoryBody, addMemoryInput);

export const memoryWriteRoutes = routes<{ readonly operationsOf: OperationsOf }>(
  (route, { operationsOf }) => {
    route(
      { id: "addMemory", at: "POST /memory/add", scope: "write", summary: "Add a memory" },
      { headers: WriteHeaders, body: AddMemoryBody, answer: AddMemoryReply },
      async (request) => {
        const input = addMemoryInput(request.body);
        return addedRecord(
          await operationsOf(request).addMemory({
            ...input,
            ...writer(request),
            ...idempotency(request, input.userId),
          }),
        );
      },
    );

    route(
      {
        id: "addMemories",
        at: "POST /memory/add/batch",
        scope: "write",
        bodyKind: "batch",
        summary: "Add up to 1 000 memories",
        description: "What is accepted is stored as one: all of it or none after a crash.",
      },
      {
        headers: WriteHeaders,
        body: AddMemoriesBody,
        answer: AddMemoriesReply,
      },
      async (request) => {
        const items = await judgeItems(request.body.memories, "/memories", writer(request));
        const { results } = await operationsOf(request).addMemories({
          items,
          ...idempotency(request, undefined),
        });
        return batchReply(results, items, "/memories", request.id, addedRecord);
      },
    );

    route(
      { id: "updateMemory", at: "PATCH /memory/:id", scope: "write", summary: "Change a memory" },
      {
        params: MemoryParams,
        querystring: OwnerQuery,
        headers: IfMatchHeaders,
        body: UpdateMemoryBody,
        answer: UpdateMemoryReply,
      },
      async (request, reply) => {
        const input = updateMemoryInput(memoryIdOf(request.params.id), request.body);
        const owner = ownerOf(request.query, request.body);
        const memory = await operationsOf(request).updateMemory({
          ...input,
          ...owner,
          ...ifVersion(request),
        });
        reply.header("etag", `"${memory.version}"`);
        return { ...memoryRecord(memory), updated: true as const };
      },
    );

    route(
      { id: "deleteMemory", at: "DELETE /memory/:id", scope: "write", summary: "Delete a memory" },
      {
        params: MemoryParams,
        querystring: OwnerQuery,
        headers: IfMatchHeaders,
        body: OwnerBody,
        answer: DeleteMemoryReply,
      },
      async (request) => {
        const id = memoryIdOf(request.params.id);
        const owner = ownerOf(request.query, request.body);
        const { deleted } = await operationsOf(request).deleteMemory({ id, ...owner, ...ifVersion(request) });
        return { ok: true as const, id, deleted };
      },
    );

    route(
      {
        id: "reinforceMemory",
        at: "POST /memory/reinforce",
        scope: "write",
        summary: "Raise a memory's salience",
        description: "From s to s + boost·(1 − s), so it never passes 1.",
      },
      {
        querystring: OwnerQuery,
        headers: RepeatHeaders,
        body: ReinforceMemoryBody,
        answer: ReinforceMemoryReply,
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
  },
);
