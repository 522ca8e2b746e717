import * as wire from "../../schemas/memory.ts";
import type { Static } from "typebox";
import { batchReply, judge, sendBatch } from "../batch.ts";
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
import { route, routes } from "../route.ts";
import { present } from "../../schemas/wire.ts";

/** Items of a batch, each checked alone. */
const judgeItems = judge(wire.AddMemoryBody, addMemoryInput);

export const memoryWriteRoutes = routes([], ({ operationsOf }) => ({
  addMemory: route("write POST /memory/add", "Add a memory", {
    headers: WriteHeaders,
    body: wire.AddMemoryBody,
    answer: wire.AddMemoryReply,
    handle: async (request) => {
      const input = { ...addMemoryInput(request.body), ...writer(request) };
      return addedRecord(
        await operationsOf(request).addMemory({ ...input, ...idempotency(request, input.userId) }),
      );
    },
  }),
  addMemories: route("write POST /memory/add/batch", "Add up to 1 000 memories", {
    bodyKind: "batch",
    description: "What is accepted is stored as one: all of it or none after a crash.",
    headers: WriteHeaders,
    body: wire.AddMemoriesBody,
    answer: wire.AddMemoriesReply,
    handle: async (request, reply) => {
      const items = await judgeItems(request.body.memories, "/memories", writer(request));
      const { results } = await operationsOf(request).addMemories({ items, ...idempotency(request) });
      return sendBatch(reply, await batchReply(results, items, "/memories", request.id, addedRecord));
    },
  }),
  updateMemory: route("write PATCH /memory/:id", "Change a memory", {
    params: wire.MemoryParams,
    querystring: wire.OwnerQuery,
    headers: IfMatchHeaders,
    body: wire.UpdateMemoryBody,
    answer: wire.UpdateMemoryReply,
    handle: async (request, reply) => {
      const memory = await operationsOf(request).updateMemory({
        ...updateMemoryInput(memoryIdOf(request.params.id), request.body),
        ...ownerOf(request),
        ...ifVersion(request),
        ...present({ changedBy: writer(request).createdBy }),
      });
      reply.header("etag", `"${memory.version}"`);
      return { ...memoryRecord(memory), updated: true as const };
    },
  }),
  tagMemories: route("write POST /memory/tags", "Add tags to up to 1 000 memories, and remove others", {
    description:
      "Each memory is tagged whole or refused, and keeps its earlier version. Doing it twice changes nothing more.",
    body: wire.TagMemoriesBody,
    answer: wire.TagMemoriesReply,
    handle: async (request) => {
      const { results } = await operationsOf(request).tagMemories({
        ...tagMemoriesInput(request.body),
        ...ownerOf(request),
        ...present({ changedBy: writer(request).createdBy }),
      });
      const { added, ...reply } = await batchReply(results, [], "/memories", request.id, (each) => each);
      return { ...reply, tagged: added } as Static<typeof wire.TagMemoriesReply>;
    },
  }),
  deleteMemory: route("write DELETE /memory/:id", "Delete a memory", {
    params: wire.MemoryParams,
    querystring: wire.DeletionQuery,
    headers: IfMatchHeaders,
    body: wire.DeletionBody,
    answer: wire.DeleteMemoryReply,
    handle: async (request) => {
      const id = memoryIdOf(request.params.id);
      const input = { id, ...deletion(request), ...ifVersion(request) };
      const { deleted } = await operationsOf(request).deleteMemory(input);
      return { ok: true as const, id, deleted };
    },
  }),
  reinforceMemory: route("write POST /memory/reinforce", "Raise a memory's salience", {
    description: "From s to s + boost·(1 − s), so it never passes 1.",
    querystring: wire.OwnerQuery,
    headers: RepeatHeaders,
    body: wire.ReinforceMemoryBody,
    answer: wire.ReinforceMemoryReply,
    handle: async (request) => {
      const { boost } = request.body;
      const owner = ownerOf(request);
      const { id, salience } = await operationsOf(request).reinforceMemory({
        id: memoryIdOf(request.body.id),
        boost: Math.min(boost ?? wire.DEFAULT_BOOST, 1),
        ...owner,
        ...idempotency(request, owner.userId),
      });
      return { ok: true as const, id, salience };
    },
  }),
}));
