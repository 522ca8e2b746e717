import { addMemories } from "./memories/add-memories.ts";
import type { AddedMemory, AddMemoryInput } from "./memories/added-memory.ts";
import { bindFactOperations, type FactOperations } from "./facts/fact-operations.ts";
import { listMemories } from "./memories/list-memories.ts";
import { listSectors } from "./sectors/list-sectors.ts";
import type { MemoryPorts } from "./memories/memory-ports.ts";
import { deleteUserMemories, type UserDeletionPorts } from "./users/delete-user-memories.ts";
import { listUsers } from "./users/list-users.ts";
import type { UserSummaries } from "./users/user-summaries.ts";
import type { UserSummary } from "./users/user-summary.ts";
import { bindAll, type Bound } from "./bind-operations.ts";
import type { SeenMemory } from "./memory.ts";
import { queryMemory } from "./recall/query-memory.ts";
import { reinforceMemory } from "./memories/reinforce-memory.ts";
import { relatedMemories } from "./memories/related-memories.ts";
import { exportRecords } from "./transfer/export-records.ts";
import { restoreRecords } from "./transfer/restore-records.ts";
import { updateMemory } from "./memories/update-memory.ts";
import { composeMemory, storeMemories } from "./memories/store-memories.ts";
import { goneError } from "./idempotency.ts";
import { documentRemoval, memoryRemoval } from "./documents/store-document.ts";
import { checkVersion, notFound, owned, visible } from "./owned.ts";

interface GetMemoryInput {
  readonly id: string;
  /** Another owner's memory is NOT_FOUND. */
  readonly userId?: string;
}

/** The memory with that id. @throws {ServiceError} NOT_FOUND. */
export async function getMemory(
  { store }: Pick<MemoryPorts, "store">,
  input: GetMemoryInput,
): Promise<SeenMemory> {
  const { id } = visible("memory", store.catalogue.find(input.id), input.userId);
  const memory = (await store.readMemories([id])).get(id);
  if (memory === undefined) throw notFound("memory");
  return memory;
}

interface DeleteMemoryInput {
  readonly id: string;
  /** For the ownership check. */
  readonly userId?: string;
  readonly ifVersion?: number;
}

interface DeletedMemory {
  readonly id: string;
  /** How many memories went: more than one where a document's root took its chunks along. */
  readonly deleted: number;
}

/**
 * Deletes a memory with its vectors, tokens, words, signals and waypoints; it is in no answer from then on. Facts
 * that name it as their source stay, and name none. With a document's root the document goes, and all of its memories.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, VERSION_MISMATCH, NOT_READY.
 */
export async function deleteMemory(
  { store, facts }: Pick<MemoryPorts, "store" | "facts">,
  input: DeleteMemoryInput,
): Promise<DeletedMemory> {
  return store.commit(() => {
    const entry = owned("memory", store.catalogue.find(input.id), input.userId);
    checkVersion(entry, input.ifVersion);
    const { documents } = store.catalogue;
    const document = entry.documentId === null ? undefined : documents.findDocument(entry.documentId);
    const { changes, deleted } =
      document?.rootMemoryId === entry.id
        ? documentRemoval({ store, facts }, document)
        : { changes: memoryRemoval({ store, facts }, entry.id), deleted: 1 };
    return { changes, result: { id: entry.id, deleted } };
  });
}

/**
 * Adds a memory; when it resolves, the memory is on the disk and every later query can find it.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED, STORE_FULL, NOT_READY; CONFLICT, GONE, UNPROCESSABLE with an
 *   Idempotency-Key (see `RequestLedger`).
 */
export async function addMemory(ports: MemoryPorts, input: AddMemoryInput): Promise<AddedMemory> {
  const { store, requests } = ports;
  return requests.once(
    input.idempotency,
    store.catalogue,
    async () => {
      const composed = await composeMemory(ports, input);
      const [added] = await storeMemories(ports, [composed], input.idempotency);
      if (added === undefined) throw new TypeError("one memory in, one memory out");
      return added;
    },
    async ([id]) => {
      const memory = typeof id !== "string" ? undefined : (await store.readMemories([id])).get(id);
      if (memory === undefined) throw goneError();
      return { memory, deduplicated: false };
    },
  );
}

const OPERATIONS = {
  addMemory,
  addMemories,
  queryMemory,
  updateMemory,
  deleteMemory,
  listMemories,
  getMemory,
  reinforceMemory,
  relatedMemories,
  listSectors,
  exportRecords,
  restoreRecords,
  listUsers,
  deleteUserMemories,
};

/** What the service can do, with its ports bound: the one thing that http, mcp and cli know of the core. */
export interface Operations extends Bound<typeof OPERATIONS>, FactOperations {
  userSummary(input: { readonly userId: string }): Promise<UserSummary>;
  /** The same, made now. */
  regenerateSummary(input: { readonly userId: string }): Promise<UserSummary>;
}

/** What operations need of the world. */
export interface OperationPorts extends MemoryPorts, UserDeletionPorts {
  readonly summaries: Pick<UserSummaries, "get" | "regenerate">;
}

/** The operations over the given ports. */
export function bindOperations(ports: OperationPorts): Operations {
  const { summaries, store } = ports;
  const { catalogue } = store;
  return {
    ...bindAll(OPERATIONS, ports),
    ...bindFactOperations({ ...ports, catalogue, ownerOfMemory: (id) => catalogue.find(id)?.userId }),
    userSummary: ({ userId }) => summaries.get(userId),
    regenerateSummary: ({ userId }) => summaries.regenerate(userId),
  };
}
