import {
  AddMemoriesBody,
  AddMemoriesReply,
  AddMemoryBody,
  AddMemoryReply,
  DEFAULT_BOOST,
  DeleteMemoryReply,
  DeletionBody,
  DeletionQuery,
  MemoryParams,
  OwnerQuery,
  ReinforceMemoryBody,
  ReinforceMemoryReply,
  TagMemoriesBody,
  TagMemoriesReply,
  UpdateMemoryBody,
  UpdateMemoryReply,
} from "../../schemas/memory.ts";
import type { Static } from "typebox";
import { batchReply, judge, sendBatch } from "../batch.ts";
import type { OperationsOf } from "../caller-operations.ts";
import {
  addMemoryInput,
  deletion,
  ownerOf,
  tagMemoriesInput,
  updateMemoryInput,
  memoryIdOf,
} from "../memory-input.ts";
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
import { present } from "../../schemas/wire.ts";

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
      async (request, reply) => {
        const items = await judgeItems(request.body.memories, "/memories", writer(request));
        const { results } = await operationsOf(request).addMemories({
          items,
          ...idempotency(request, undefined),
        });
        return sendBatch(reply, await batchReply(results, items, "/memories", request.id, addedRecord));
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
          ...present({ changedBy: writer(request).createdBy }),
        });
        reply.header("etag", `"${memory.version}"`);
        return { ...memoryRecord(memory), updated: true as const };
      },
    );

    route(
      {
        id: "tagMemories",
        at: "POST /memory/tags",
        scope: "write",
        summary: "Add tags to up to 1 000 memories, and remove others",
        description:
          "Each memory is tagged whole or refused, and keeps its earlier version. Doing it twice changes nothing more.",
      },
      { body: TagMemoriesBody, answer: TagMemoriesReply },
      async (request) => {
        const { results } = await operationsOf(request).tagMemories({
          ...tagMemoriesInput(request.body),
          ...ownerOf({}, request.body),
          ...present({ changedBy: writer(request).createdBy }),
        });
        const { added, ...reply } = await batchReply(results, [], "/memories", request.id, (each) => each);
        return { ...reply, tagged: added } as Static<typeof TagMemoriesReply>;
      },
    );

    route(
      { id: "deleteMemory", at: "DELETE /memory/:id", scope: "write", summary: "Delete a memory" },
      {
        params: MemoryParams,
        querystring: DeletionQuery,
        headers: IfMatchHeaders,
        body: DeletionBody,
        answer: DeleteMemoryReply,
      },
      async (request) => {
        const id = memoryIdOf(request.params.id);
        const { deleted } = await operationsOf(request).deleteMemory({
          id,
          ...deletion(request),
          ...ifVersion(request),
        });
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
