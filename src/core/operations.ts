import { addMemories, type AddMemoriesInput, type AddMemoriesResult } from "./memories/add-memories.ts";
import { addMemory } from "./memories/add-memory.ts";
import type { AddedMemory, AddMemoryInput } from "./memories/added-memory.ts";
import { type DeletedMemory, deleteMemory, type DeleteMemoryInput } from "./memories/delete-memory.ts";
import { bindFactOperations, type FactOperations } from "./facts/fact-operations.ts";
import { getMemory, type GetMemoryInput } from "./memories/get-memory.ts";
import { type ListedMemories, listMemories, type ListMemoriesInput } from "./memories/list-memories.ts";
import { listSectors, type SectorCount } from "./sectors/list-sectors.ts";
import type { MemoryPorts } from "./memories/memory-ports.ts";
import { bindUserOperations, type UserOperations, type UserPorts } from "./users/user-operations.ts";
import type { SeenMemory } from "./memory.ts";
import { queryMemory, type QueryMemoryInput, type QueryMemoryResult } from "./recall/query-memory.ts";
import {
  type ReinforcedMemory,
  reinforceMemory,
  type ReinforceMemoryInput,
} from "./memories/reinforce-memory.ts";
import {
  type RelatedMemories,
  relatedMemories,
  type RelatedMemoriesInput,
} from "./memories/related-memories.ts";
import { exportRecords, type ExportRecordsInput } from "./transfer/export-records.ts";
import {
  restoreRecords,
  type RestoreRecordsInput,
  type RestoreRecordsResult,
} from "./transfer/restore-records.ts";
import type { TransferRecord } from "./transfer/transfer-record.ts";
import { updateMemory, type UpdateMemoryInput } from "./memories/update-memory.ts";

/** What the service can do, with its ports bound: the one thing that http, mcp and cli know of the core. */
export interface Operations extends FactOperations, UserOperations {
  addMemory(input: AddMemoryInput): Promise<AddedMemory>;
  addMemories(input: AddMemoriesInput): Promise<AddMemoriesResult>;
  queryMemory(input: QueryMemoryInput): Promise<QueryMemoryResult>;
  updateMemory(input: UpdateMemoryInput): Promise<SeenMemory>;
  deleteMemory(input: DeleteMemoryInput): Promise<DeletedMemory>;
  listMemories(input: ListMemoriesInput): Promise<ListedMemories>;
  getMemory(input: GetMemoryInput): Promise<SeenMemory>;
  reinforceMemory(input: ReinforceMemoryInput): Promise<ReinforcedMemory>;
  relatedMemories(input: RelatedMemoriesInput): Promise<RelatedMemories>;
  listSectors(input: { readonly userId?: string }): SectorCount[];
  exportRecords(input: ExportRecordsInput): AsyncGenerator<TransferRecord>;
  restoreRecords(input: RestoreRecordsInput): Promise<RestoreRecordsResult>;
}

/** The operations over the given ports. */
export function bindOperations(ports: MemoryPorts & UserPorts): Operations {
  const { catalogue } = ports.store;
  return {
    addMemory: (input) => addMemory(ports, input),
    addMemories: (input) => addMemories(ports, input),
    queryMemory: (input) => queryMemory(ports, input),
    updateMemory: (input) => updateMemory(ports, input),
    deleteMemory: (input) => deleteMemory(ports, input),
    listMemories: (input) => listMemories(ports, input),
    getMemory: (input) => getMemory(ports, input),
    reinforceMemory: (input) => reinforceMemory(ports, input),
    relatedMemories: (input) => relatedMemories(ports, input),
    listSectors: (input) => listSectors(ports, input),
    exportRecords: (input) => exportRecords(ports, input),
    restoreRecords: (input) => restoreRecords(ports, input),
    ...bindUserOperations(ports),
    ...bindFactOperations({ ...ports, catalogue, ownerOfMemory: (id) => catalogue.find(id)?.userId }),
  };
}
