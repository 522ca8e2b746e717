import { addMemories, addMemory } from "./memories/add-memories.ts";
import { FACT_OPERATIONS } from "./facts/fact-operations.ts";
import { listMemories, countMemories } from "./memories/list-memories.ts";
import { SECTOR_DESCRIPTIONS } from "./sectors/sectors.ts";
import { listSuperseded } from "./memories/list-superseded.ts";
import type { MemoryPorts } from "./memories/memory-ports.ts";
import { deleteUserMemories, type UserDeletionPorts } from "./users/delete-user-memories.ts";
import { listUsers } from "./users/list-users.ts";
import { userSummary } from "./users/user-summary.ts";
import { eraseHistory, memoryHistory, restoreVersion } from "./history/memory-history.ts";
import {
  documentRootedAt,
  emptyTrash,
  eraseFromTrash,
  listTrash,
  trashMemory,
  type TrashMemoryInput,
} from "./history/trash.ts";
import { removalOf } from "./history/keep-version.ts";
import { restoreFromTrash } from "./history/restore-from-trash.ts";
import { undoChanges, type UndoPorts } from "./history/undo.ts";
import { SECTORS, type SeenMemory } from "./memory.ts";
import { composeContext } from "./context/compose-context.ts";
import { listComing } from "./recall/list-coming.ts";
import { queryMemory } from "./recall/query-memory.ts";
import { type Feed, followChanges, listChanges } from "./feed.ts";
import { reinforceMemory } from "./memories/reinforce-memory.ts";
import { relatedMemories } from "./memories/related-memories.ts";
import { exportRecords } from "./transfer/export-records.ts";
import { restoreRecords } from "./transfer/restore-records.ts";
import { tagMemories, updateMemory } from "./memories/update-memory.ts";
import { documentDeletion, presentRemoval } from "./documents/store-document.ts";
import { checkVersion, missing, type OneRow, owned, visible } from "./owned.ts";

/** The memory with that id. @throws {ServiceError} NOT_FOUND, also for a memory of another owner. */
export async function getMemory(
  { store }: Pick<MemoryPorts, "store">,
  { id, userId }: OneRow,
): Promise<SeenMemory> {
  visible("memory", store.catalogue.find(id), userId);
  const memory = (await store.readMemories([id])).get(id);
  if (memory === undefined) throw missing("memory");
  return memory;
}

interface DeleteMemoryInput extends TrashMemoryInput {
  /** Into the trash, where one is kept; else for good. */
  readonly trash?: boolean;
}

/**
 * Deletes a memory with its vectors, tokens, words, signals and waypoints. Facts that name it as their source stay,
 * without a source. Deleting a document's root deletes the document and all its memories. Earlier versions go too, and
 * what the trash has of the document; with `trash` see `trashMemory`.
 * @returns the number of deleted memories: several for a document's root, with its chunks.
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, VERSION_MISMATCH, NOT_READY.
 */
export async function deleteMemory(
  ports: Pick<MemoryPorts, "store" | "historyMs">,
  { trash = false, ...input }: DeleteMemoryInput,
): ReturnType<typeof trashMemory> {
  const { store, historyMs } = ports;
  if (trash && historyMs > 0) return trashMemory(ports, input);
  return store.commit<Awaited<ReturnType<typeof trashMemory>>>(() => {
    const entry = owned("memory", store.catalogue.find(input.id), input.userId);
    checkVersion(entry, input.ifVersion);
    const document = documentRootedAt(store.catalogue, entry);
    if (document !== undefined) return documentDeletion(ports, document, entry.id);
    const earlier = removalOf(store.catalogue.versions.of(entry.id));
    return {
      changes: [...presentRemoval(ports, entry.id), ...earlier],
      result: { id: entry.id, deleted: 1 },
    };
  });
}

/** The sectors in their fixed order, with counts over one user's memories or all by their primary sectors. */
export function listSectors({ store }: Pick<MemoryPorts, "store">, filter: { readonly userId?: string }) {
  const counts = store.catalogue.sectorCounts(filter);
  return SECTORS.map((name) => ({ name, description: SECTOR_DESCRIPTIONS[name], count: counts[name] }));
}

const OPERATIONS = {
  addMemory,
  addMemories,
  queryMemory,
  composeContext,
  updateMemory,
  tagMemories,
  deleteMemory,
  listMemories,
  listSuperseded,
  listComing,
  getMemory,
  reinforceMemory,
  relatedMemories,
  listSectors,
  countMemories,
  exportRecords,
  restoreRecords,
  listUsers,
  deleteUserMemories,
  listChanges,
  followChanges,
  memoryHistory,
  restoreVersion,
  eraseHistory,
  listTrash,
  restoreFromTrash,
  eraseFromTrash,
  emptyTrash,
  undoChanges,
  userSummary,
  ...FACT_OPERATIONS,
};

/** Operations that take their ports first, as functions of their input alone. Each answers a promise: a store may be elsewhere. */
type Bound<All> = {
  readonly [Name in keyof All]: All[Name] extends (ports: never, input: infer Input) => infer Answer
    ? (input: Input) => Promise<Awaited<Answer>>
    : never;
};

/** The operations of the service, with bound ports: all that http and mcp call of the core. */
export type Operations = Bound<typeof OPERATIONS>;

/** The ports of all operations. */
export interface OperationPorts extends UndoPorts, UserDeletionPorts {
  readonly feed: Feed;
}

export const bindOperations = (ports: OperationPorts): Operations => bindAll(OPERATIONS, ports);

/** The operations over the given ports. */
export function bindAll<Ports, All extends Readonly<Record<string, (ports: Ports, input: never) => unknown>>>(
  operations: All,
  ports: Ports,
): Bound<All> {
  const bound = Object.entries(operations).map(([name, operate]) => [
    name,
    async (input: never) => operate(ports, input),
  ]);
  return Object.fromEntries(bound) as Bound<All>;
}
